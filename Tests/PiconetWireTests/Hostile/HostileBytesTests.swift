import PiconetWire
import Testing

@Suite("Bytes from a hostile peer")
struct HostileBytesTests {
  /// Reads pieces until the decoder throws; only a `WireError` may come out.
  private func survive(_ pieces: [Bytes], limit: Int = WireLimits.smallestFrame) throws -> (frames: Int, failed: Bool) {
    var decoder = FrameDecoder(frameLimit: limit)
    var frames = 0
    for piece in pieces {
      decoder.push(piece)
      do throws(WireError) {
        while let frame = try decoder.next() {
          frames += 1
          // Whatever was read can be written, too.
          if FrameEncoder.encode(frame).isEmpty { Issue.record("an empty frame") }
        }
      } catch {
        #expect(!error.description.isEmpty)
        #expect(decoder.bufferedCount == 0)
        return (frames, true)
      }
      #expect(decoder.bufferedCount <= max(decoder.frameLimit, WireLimits.controlFrame) + 5)
    }
    return (frames, false)
  }

  @Test("vectors with bytes changed, cut out or put in are read or refused, and never trap", arguments: UInt64(1)...8)
  func mutations(seed: UInt64) throws {
    var dice = SeededDice(seed: seed)
    var refused = 0
    for vector in WireDocument.golden {
      for _ in 0..<60 {
        var bytes = vector.bytes
        for _ in 0..<Int.random(in: 1...4, using: &dice) where !bytes.isEmpty {
          let index = Int.random(in: bytes.indices, using: &dice)
          switch Int.random(in: 0...3, using: &dice) {
          case 0: bytes[index] = UInt8.random(in: 0...255, using: &dice)
          case 1: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &dice)
          case 2: bytes.remove(at: index)
          default: bytes.insert([0, 0x3F, 0x7F, 0xBF, 0xFF].randomElement(using: &dice)!, at: index)
          }
        }
        let cut = bytes.isEmpty ? 0 : Int.random(in: bytes.indices, using: &dice)
        let whole = try survive([bytes[...]])
        let halves = try survive([bytes[..<cut], bytes[cut...]])
        #expect(whole == halves)
        if whole.failed { refused += 1 }
      }
    }
    #expect(refused > 500)
  }

  @Test("a changed body behind a right header is read or refused, and never traps", arguments: UInt64(1)...8)
  func changedBodies(seed: UInt64) throws {
    var dice = SeededDice(seed: seed)
    for vector in WireDocument.golden + WireDocument.refused {
      for _ in 0..<60 {
        guard let type = vector.bytes.first else { continue }
        var body = Array(vector.bytes.dropFirst(vector.bytes.count > 65 ? 3 : 2))
        for index in body.indices where Int.random(in: 0..<8, using: &dice) == 0 {
          body[index] = UInt8.random(in: 0...255, using: &dice)
        }
        body.removeLast(Int.random(in: 0...min(3, body.count), using: &dice))
        var bytes: [UInt8] = []
        FrameEncoder.appendHeader(type: type, bodyCount: body.count, to: &bytes)
        _ = try survive([(bytes + body)[...]])
      }
    }
  }

  @Test("random bytes are read or refused, the same however they are cut", arguments: UInt64(1)...200)
  func randomBytes(seed: UInt64) throws {
    var dice = SeededDice(seed: seed)
    let bytes = (0..<400).map { _ in UInt8.random(in: 0...255, using: &dice) }
    let single = bytes.indices.map { bytes[$0...$0] }
    #expect(try survive([bytes[...]]) == survive(single))
  }

  @Test("a decoder that has thrown takes nothing more and says the same again")
  func stickyFailure() throws {
    var decoder = FrameDecoder(frameLimit: 16_384)
    decoder.push((FrameEncoder.encode(.ping(1)) + [0x3F, 0x00] + FrameEncoder.encode(.ping(2)))[...])
    #expect(try decoder.next() == .ping(1))
    for _ in 0..<3 {
      #expect(throws: WireError.unknownRequiredFrame(type: 0x3F)) { try decoder.next() }
      decoder.push(FrameEncoder.encode(.ping(3))[...])
      #expect(decoder.bufferedCount == 0)
    }
  }

  @Test("a frame is refused for its length as soon as its header is there, in whatever pieces")
  func announcedLength() throws {
    let limit = WireLimits.smallestFrame
    for size in [limit + 1, 1 << 20, 1 << 40] {
      var header: [UInt8] = []
      FrameEncoder.appendHeader(type: FrameType.message, bodyCount: size, to: &header)
      let expected = WireError.frameTooLarge(type: FrameType.message, size: UInt64(size), limit: limit)
      #expect(throws: expected) { try decodeAll(header, frameLimit: limit) }
      #expect(throws: expected) {
        try decodeAll(pieces: header.indices.map { header[$0...$0] }, frameLimit: limit)
      }
    }
    var optional: [UInt8] = []
    FrameEncoder.appendHeader(type: 0xBF, bodyCount: WireLimits.controlFrame + 1, to: &optional)
    #expect(throws: WireError.frameTooLarge(type: 0xBF, size: 8273, limit: 8272)) {
      try decodeAll(optional, frameLimit: limit)
    }
  }

  @Test("a decoder never keeps more than one frame and its header, a byte at a time or in full reads")
  func boundedMemory() throws {
    let limit = WireLimits.smallestFrame
    let frame = FrameEncoder.encode(.message([UInt8](repeating: 7, count: limit)[...]))
    let stream = frame + frame + frame
    for step in [1, 2, 1000, limit, limit + 2, stream.count] {
      var decoder = FrameDecoder(frameLimit: limit)
      var largest = 0
      var count = 0
      for start in stride(from: 0, to: stream.count, by: step) {
        decoder.push(stream[start..<min(stream.count, start + step)])
        while try decoder.next() != nil { count += 1 }
        largest = max(largest, decoder.bufferedCount)
      }
      #expect(count == 3)
      #expect(largest <= limit + 5)
      #expect(decoder.bufferedCount == 0)
    }
  }

  @Test("unknown optional frames are skipped, and counted where the sequenced bit says so")
  func unknownOptional() throws {
    for type in UInt8(0x80)...0xFF
    where ![FrameType.senderPaused, FrameType.receiverPaused, FrameType.comparing, FrameType.listening].contains(type) {
      let frames = try decodeAll([type, 0x03, 0xFF, 0xFF, 0xFF] + FrameEncoder.encode(.accept))
      #expect(frames == [.unknownOptional(type: type), .accept])
      #expect(frames[0].isSequenced == (type & 0x40 != 0))
      #expect(frames[0].type == type)
    }
  }

  @Test("every unknown required type is refused, the reserved ones too")
  func unknownRequired() throws {
    let known = Set(GoldenFrames.exact.values.map(\.type))
    var refused = 0
    for type in UInt8(0)...0x7F where !known.contains(type) {
      #expect(throws: WireError.unknownRequiredFrame(type: type)) { try decodeAll([type, 0]) }
      refused += 1
    }
    #expect(refused == 128 - 63)
    for range in FrameType.reservedForStreams + FrameType.reservedForRelay {
      #expect(known.isDisjoint(with: range))
    }
  }
}
