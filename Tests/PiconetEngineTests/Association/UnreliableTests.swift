import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Unreliable messages")
struct UnreliableTests {
  private func send(_ one: OneSided, _ count: Int) -> Outcome {
    one.side.take(.messageQueued(one.far, bytes(count), .unreliable))
  }

  private func counts(_ one: OneSided) -> UnreliableCounts {
    one.side.engine.unreliableCounts(of: one.far) ?? UnreliableCounts()
  }

  @Test("they are numbered from 1 on, and give their budget back at once")
  func numbered() {
    let one = OneSided().connected()
    #expect(send(one, 3).frames == [.unreliableMessage(number: 1, bytes(3))])
    let second = send(one, 4)
    #expect(second.frames == [.unreliableMessage(number: 2, bytes(4))])
    #expect(second.effects.contains(.messagesTaken(one.far, byteCount: 36)))
    #expect(counts(one).sent == 2 && counts(one).dropped == 0)
  }

  @Test("a late one is dropped and counted; the next newer one is delivered")
  func late() {
    let one = OneSided().connected()
    let outcome = one.receive(
      .unreliableMessage(number: 5, [5]), .unreliableMessage(number: 3, [3]), .unreliableMessage(number: 5, [5]),
      .unreliableMessage(number: 0, [0]), .unreliableMessage(number: 9, [9]))
    #expect(
      outcome.events == [
        .messagesReceived(one.far, [[5]], .unreliable), .messagesReceived(one.far, [[9]], .unreliable),
      ])
    #expect(counts(one).received == 2 && counts(one).late == 3)
  }

  @Test("an application that asks for late messages gets them, counted")
  func lateWanted() {
    let one = OneSided(configuration { $0.deliversLateMessages = true }).connected()
    let outcome = one.receive(.unreliableMessage(number: 5, [5]), .unreliableMessage(number: 3, [3]))
    #expect(
      outcome.events == [
        .messagesReceived(one.far, [[5]], .unreliable), .messagesReceived(one.far, [[3]], .unreliable),
      ])
    #expect(counts(one).received == 2 && counts(one).late == 1)
  }

  @Test("a message that the link does not take at once is dropped and counted, and never sent later")
  func dropped() {
    let one = OneSided(
      configuration {
        $0.frameLimit = 1_024
        $0.transmitWindow = 2_048
      }
    ).connected()
    one.side.takesAll = false
    var sent = 0
    for _ in 0..<20 { sent += send(one, 500).frames.count }
    // As many as a window and an eighth hold.
    #expect(sent == 4)
    #expect(counts(one).sent == 4 && counts(one).dropped == 16)
    one.side.takesAll = true
    let later = one.side.take(.transmitted(one.link, byteCount: 4_000))
    #expect(later.frames == [])
    // The numbers of those that were dropped are not used again.
    #expect(send(one, 1).frames == [.unreliableMessage(number: 21, bytes(1))])
  }

  @Test("bulk that keeps the window full does not shut them out")
  func besideBulk() {
    let one = OneSided(configuration { $0.transmitWindow = 40_000 }).connected()
    one.side.takesAll = false
    one.side.take([Fact](repeating: .messageQueued(one.far, bytes(15_000), .reliable), count: 5))
    #expect(send(one, 1_000).frames == [.unreliableMessage(number: 1, bytes(1_000))])
    #expect(counts(one).dropped == 0)
  }

  @Test("a control frame that waits is not overtaken: the message is dropped instead")
  func behindControl() {
    let one = OneSided(
      configuration {
        $0.frameLimit = 1_024
        $0.transmitWindow = 2_048
      }
    ).connected()
    one.side.takesAll = false
    one.side.take([Fact](repeating: .messageQueued(one.far, bytes(1_000), .reliable), count: 5))
    for _ in 0..<3 { one.side.take(.messageQueued(one.far, bytes(30), .unreliable)) }
    let before = counts(one)
    one.receive(.ping(7))
    let outcome = one.side.take(.messageQueued(one.far, bytes(1), .unreliable))
    #expect(outcome.frames == [])
    #expect(counts(one).sent == before.sent && counts(one).dropped == before.dropped + 1)
  }

  @Test("frames that are sent again over another link are not overtaken: one of them may make us a member there")
  func behindWhatIsSentAgain() {
    let one = OneSided().connected { $0.capabilities = .resume }
    one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    let link = LinkID(rawValue: 2)
    let association = AssociationID(high: 1, low: 2)
    one.side.take(.linkOpened(link, one.opening()))
    let hello = one.hello {
      $0.capabilities = .resume
      $0.held = HeldAssociation(id: association, received: 0)
    }
    one.side.take(.received(link, FrameEncoder.encode(hello)[...]))
    let outcome = one.side.take([
      .received(link, FrameEncoder.encode(.associate(association, received: 0))[...]),
      .messageQueued(one.far, bytes(1), .unreliable),
    ])
    #expect(outcome.frames.contains(.accept))
    #expect(!outcome.frames.contains(.unreliableMessage(number: 1, bytes(1))))
    #expect(counts(one).dropped == 1)
    #expect(send(one, 1).frames == [.unreliableMessage(number: 2, bytes(1))])
  }

  @Test("one as long as the remote side's frame takes goes, one above is dropped; an idle link takes any")
  func longest() {
    let one = OneSided(
      configuration {
        $0.frameLimit = 4_096
        $0.transmitWindow = 8_192
      }
    ).connected { $0.limits.frame = 2_000 }
    one.traits.transmitWindow = 100
    #expect(send(one, 1_992).frames == [.unreliableMessage(number: 1, bytes(1_992))])
    #expect(send(one, 1_993).frames == [])
    #expect(counts(one).dropped == 1)
  }

  @Test("the limit is the smallest of both sides' limits of messages and of frames")
  func limit() {
    func limit(_ own: (inout EngineConfiguration) -> Void, _ far: @escaping (inout PeerLimits) -> Void) -> Int? {
      let one = OneSided(configuration(own)).connected { far(&$0.limits) }
      for case .connected(let peer) in one.side.log.events { return peer.unreliableLimit }
      return nil
    }
    #expect(limit({ _ in }, { _ in }) == 16_373)
    #expect(limit({ $0.frameLimit = 2_000 }, { _ in }) == 1_992)
    #expect(limit({ _ in }, { $0.frame = 1_024 }) == 1_016)
    #expect(limit({ $0.messageLimit = 700 }, { _ in }) == 700)
    #expect(limit({ _ in }, { $0.message = 600 }) == 600)
  }

  @Test("a message above our limit ends the association, and the remote side is to blame")
  func tooLong() {
    let one = OneSided(configuration { $0.messageLimit = 1_000 }).connected()
    one.receive(.unreliableMessage(number: 1, bytes(1_000)))
    let outcome = one.receive(.unreliableMessage(number: 2, bytes(1_001)))
    #expect(outcome.closeReason == .limitExceeded)
    guard case .disconnected(_, let ending)? = outcome.events.last else {
      Issue.record("\(outcome.events)")
      return
    }
    #expect(ending.reason == .limitExceeded && ending.blame == .peer)
    #expect(ending.detail.contains("1001") && ending.detail.contains("1000"))
  }
}
