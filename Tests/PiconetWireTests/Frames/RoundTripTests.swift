import PiconetWire
import Testing

@Suite("Frames to bytes and back")
struct RoundTripTests {
  @Test("random frames of every kind come back as they were", arguments: FrameCase.allCases)
  func roundTrip(kind: FrameCase) throws {
    var random = RandomFrames(seed: 1)
    for _ in 0..<60 {
      let frame = random.frame(kind)
      #expect(FrameCase(frame) == kind)
      let bytes = FrameEncoder.encode(frame)
      #expect(try decodeAll(bytes) == [frame])
      // What comes back is written the same way again: a frame has one encoding.
      #expect(try decodeAll(bytes).map(FrameEncoder.encode) == [bytes])
    }
  }

  @Test("a stream gives the same frames whole, byte by byte, glued and cut at random", arguments: UInt64(1)...20)
  func cuts(seed: UInt64) throws {
    var random = RandomFrames(seed: seed)
    let frames = (0..<30).map { _ in random.frame() }
    var stream: [UInt8] = []
    for frame in frames { FrameEncoder.append(frame, to: &stream) }

    #expect(try decodeAll(stream) == frames)
    #expect(try decodeAll(pieces: stream.indices.map { stream[$0...$0] }) == frames)
    for largest in [3, 70, 5000] {
      var pieces: [Bytes] = []
      var start = 0
      while start < stream.count {
        let end = min(stream.count, start + Int.random(in: 0...largest, using: &random.dice))
        pieces.append(stream[start..<end])
        start = end
      }
      #expect(try decodeAll(pieces: pieces) == frames)
    }
  }

  @Test("bytes pushed before the former ones were taken out are kept in order")
  func pushTwice() throws {
    var decoder = FrameDecoder(frameLimit: 16_384)
    let first = FrameEncoder.encode(.ping(1)) + FrameEncoder.encode(.ping(2))
    decoder.push(first[...])
    #expect(try decoder.next() == .ping(1))
    decoder.push(FrameEncoder.encode(.ping(3))[...])
    decoder.push([])
    #expect(try decoder.next() == .ping(2))
    #expect(try decoder.next() == .ping(3))
    #expect(try decoder.next() == nil)
    #expect(decoder.bufferedCount == 0)
  }

  @Test("the payload of a whole frame is a slice of what was pushed, not a copy")
  func zeroCopy() throws {
    let stream = FrameEncoder.encode(.message([1, 2, 3])) + FrameEncoder.encode(.chunk(transfer: 70, [4, 5]))
    var decoder = FrameDecoder(frameLimit: 16_384)
    decoder.push(stream[...])
    let base = stream.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    var places: [Int] = []
    while let frame = try decoder.next() {
      switch frame {
      case .message(let payload), .chunk(_, let payload):
        places.append(payload.withUnsafeBufferPointer { Int(UInt(bitPattern: $0.baseAddress) - base) })
      default: Issue.record("an unexpected frame")
      }
    }
    #expect(places == [2, 9])
  }

  @Test("the context of an invitation, which waits for a person, does not keep the read alive that it came with")
  func ownContext() throws {
    let stream = FrameEncoder.encode(
      .invite(Invite(timeout: 0, commitment: [UInt8](repeating: 1, count: Invite.nonceCount), context: [1, 2])))
    guard case .invite(let invite)? = try decodeAll(stream).first else {
      Issue.record("no invitation")
      return
    }
    #expect(invite.context.startIndex == 0)
  }

  @Test("the largest of every control frame is taken whatever the frame limit is")
  func controlFramesFit() throws {
    let name = [UInt8](repeating: 0xFF, count: WireLimits.resourceName)
    let words = String(repeating: "w", count: WireLimits.detail)
    let top = VariableInteger.max
    let number = WireLimits.transferNumbers - 1
    let largest: [Frame] = [
      .hello(
        Hello(
          incarnation: Incarnation(rawValue: .max), name: String(repeating: "n", count: WireLimits.name),
          sessionID: String(repeating: "s", count: WireLimits.sessionID), capabilities: Capabilities(rawValue: top),
          limits: PeerLimits(
            message: top, frame: UInt64(WireLimits.largestFrame), messageWindow: top, transfers: top,
            silence: WireLimits.silence.upperBound),
          associationsBegun: top, held: HeldAssociation(id: AssociationID(high: .max, low: .max), received: top))),
      .invite(
        Invite(
          timeout: top, terms: InvitationTerms(rawValue: top),
          commitment: [UInt8](repeating: 2, count: Invite.nonceCount),
          context: [UInt8](repeating: 1, count: WireLimits.context)[...])),
      .offer(
        transfer: number,
        ResourceOffer(
          name: name, size: top, mediaType: String(repeating: "m", count: WireLimits.mediaType),
          modified: ResourceTime(nanosecondsSince1970: .min),
          metadata: [UInt8](repeating: 1, count: WireLimits.metadata))),
      .stored(transfer: number, name: name),
      .refuse(transfer: number, Reason(rawValue: .max), detail: words),
    ]
    for frame in largest {
      #expect(try decodeAll(FrameEncoder.encode(frame), frameLimit: WireLimits.smallestFrame) == [frame])
    }
  }
}
