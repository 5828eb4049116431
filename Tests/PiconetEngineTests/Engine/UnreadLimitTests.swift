import PiconetWire
import Testing

@testable import PiconetEngine

extension SessionEngine {
  /// How many sequenced frames were sent to a peer.
  fileprivate func sentFrames(to far: NodeID) -> UInt64 { associations[far]?.sequenced.sent ?? 0 }
}

@Suite("A link that loses what is not read in time")
struct UnreadLimitTests {
  private func one(unreadLimit: Int?, _ change: (inout EngineConfiguration) -> Void = { _ in }) -> OneSided {
    let one = OneSided(configuration(change))
    one.traits.unreadLimit = unreadLimit
    return one
  }

  private func statedWindow(_ one: OneSided) -> UInt64? {
    for case .hello(let hello) in one.open().frames { return hello.limits.messageWindow }
    return nil
  }

  @Test("the message window that our hello states is three eighths of what the link holds")
  func messageWindow() {
    #expect(statedWindow(one(unreadLimit: nil)) == 1 << 20)
    #expect(statedWindow(one(unreadLimit: 400_000)) == 150_000)
    #expect(statedWindow(one(unreadLimit: 4 << 20)) == 1 << 20)
  }

  @Test("a message of the limit fits into the window however little the link holds")
  func messageOfTheLimit() {
    #expect(statedWindow(one(unreadLimit: 1_000)) == UInt64(95 * 1024 + WireLimits.messageCost))
  }

  /// An engine with a member over one link, which it loses, and which it has over another one now.
  private func moved(from first: Int?, to second: Int?) -> OneSided {
    let one = one(unreadLimit: first) { $0.messageLimit = 1_000 }.connected { $0.capabilities = [.resume, .streams] }
    one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    one.traits.unreadLimit = second
    var opening = one.opening()
    opening.traits.unreadLimit = second
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, opening))
    var hello = Hello(
      incarnation: one.far.incarnation, name: "far", sessionID: "test", capabilities: [.resume, .streams])
    hello.held = HeldAssociation(id: AssociationID(high: 1, low: 2), received: one.side.engine.sentFrames(to: one.far))
    for frame in [
      .hello(hello),
      .associate(AssociationID(high: 1, low: 2), received: one.side.engine.sentFrames(to: one.far)),
    ] as [Frame] {
      one.side.take(.received(link, FrameEncoder.encode(frame)[...]))
    }
    return one
  }

  private func messageCredits(_ outcome: Outcome) -> [UInt64] {
    outcome.frames.compactMap { if case .messageCredit(let limit) = $0 { limit } else { nil } }
  }

  @Test("an association that comes to such a link gives credit for what that holds, once the former credit is used up")
  func smallerWindow() {
    let one = moved(from: nil, to: 40_000)
    let link = LinkID(rawValue: 2)
    // Credit that was given stays: a mebibyte.
    let message = bytes(1_000 - WireLimits.messageCost)
    let before = (1 << 20) / 1_000
    for _ in 0..<before { one.side.take(.received(link, FrameEncoder.encode(.message(message))[...])) }
    #expect(one.side.members == [one.far])
    #expect(messageCredits(one.side.take(.messagesConsumed(one.far, byteCount: 500_000))).isEmpty)
    let limits = messageCredits(one.side.take(.messagesConsumed(one.far, byteCount: 1_000 * before - 500_000)))
    #expect(limits == [UInt64(1_000 * before + 15_000)])
    // From here on never more than three eighths of what the link holds waits unread.
    var sent = UInt64(1_000 * before)
    for _ in 0..<20 {
      let credit = one.side.engine.statistics(of: one.far, at: one.side.now)?.receiveCredit ?? 0
      #expect(credit <= 15_000 && credit >= 1_000)
      for _ in 0..<(credit / 1_000) {
        one.side.take(.received(link, FrameEncoder.encode(.message(message))[...]))
        sent += 1_000
      }
      one.side.take(.messagesConsumed(one.far, byteCount: Int(credit / 1_000) * 1_000))
    }
    #expect(one.side.members == [one.far])
  }

  @Test("an association that the remote side has begun upon its second link alone takes the windows of either")
  func begunOnTheSecond() {
    // We decide. We began on a link that holds little, and the remote side never heard of it.
    let one = OneSided(isSmaller: true, configuration { $0.messageLimit = 1_000 })
    one.traits.unreadLimit = 40_000
    let capabilities: Capabilities = [.resume, .streams]
    one.open { $0.capabilities = capabilities }
    one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    one.traits.unreadLimit = nil
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    let hello = one.hello {
      $0.capabilities = capabilities
      $0.limits.streamWindow = 300
    }
    for frame in [
      hello, .associated(received: 0, begun: 1), .invite(Invite(timeout: 9_000, commitment: someCommitment)),
    ] {
      one.side.take(.received(link, FrameEncoder.encode(frame)[...]))
    }
    one.side.command(.answerInvitation(one.far, accept: true, .declined))
    one.side.take(.received(link, FrameEncoder.encode(.admit)[...]))
    #expect(one.side.members == [one.far])
    // Our hello on that link allowed 64 KiB of each stream, the remote side's 300 bytes.
    for frame in [.openStream(stream: 0, name: ""), .streamData(stream: 0, bytes(16_000))] as [Frame] {
      one.side.take(.received(link, FrameEncoder.encode(frame)[...]))
    }
    #expect(one.side.members == [one.far])
    one.side.command(.openStream(StreamID(rawValue: 1), to: one.far, name: ""))
    let outcome = one.side.take(.streamWritten(StreamID(rawValue: 1), bytes(1_000)))
    let sent = outcome.frames.reduce(0) { sum, frame in
      if case .streamData(_, let bytes) = frame { sum + bytes.count } else { sum }
    }
    #expect(sent == 300)
  }

  @Test("one that comes from such a link has the whole window at once")
  func largerWindow() {
    let one = moved(from: 40_000, to: nil)
    #expect(messageCredits(one.side.log) == [1 << 20])
    #expect(one.side.engine.statistics(of: one.far, at: one.side.now)?.receiveCredit == 1 << 20)
  }

  @Test("a stream that is read over such a link gets its share of what that holds, whatever the first link's was")
  func streamWindow() {
    let one = moved(from: nil, to: 40_000)
    let link = LinkID(rawValue: 2)
    for frame in [.openStream(stream: 0, name: ""), .streamData(stream: 0, bytes(16_000))] as [Frame] {
      for _ in 0..<1 { one.side.take(.received(link, FrameEncoder.encode(frame)[...])) }
    }
    for _ in 0..<3 { one.side.take(.received(link, FrameEncoder.encode(.streamData(stream: 0, bytes(16_000)))[...])) }
    let id = StreamID(rawValue: StreamID.firstIncoming)
    let outcome = one.side.take(.streamConsumed(id, byteCount: 64_000))
    let limits = outcome.frames.compactMap { if case .streamCredit(_, let limit) = $0 { limit } else { nil } }
    #expect(limits == [74_000])
  }

  @Test("transfers of one peer share the other half, each at least a frame")
  func transferWindows() {
    let one = one(unreadLimit: 200_000).connected()
    one.side.answersDisk = false
    var limits: [UInt64] = []
    for number in 0..<10 as Range<UInt64> {
      one.receive(.offer(transfer: number, ResourceOffer(name: [1], size: 1 << 30)))
      let id = TransferID(rawValue: TransferID.firstIncoming + number)
      for case .acceptOffer(_, _, let limit) in one.side.command(.acceptOffer(id, offset: 0)).frames {
        limits.append(limit)
      }
    }
    #expect(limits.prefix(3) == [100_000, 50_000, 33_333])
    #expect(limits.suffix(2) == [16_381, 16_381])
  }
}
