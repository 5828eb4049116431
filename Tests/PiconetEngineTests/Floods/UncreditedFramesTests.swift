import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Sequenced frames that no credit bounds")
struct UncreditedFramesTests {
  private static let kinds: [Frame] = [
    .withdraw(.cancelled), .abandon(transfer: 7, .cancelled, detail: ""),
    .resetStream(stream: 7, .cancelled, detail: ""), .withdrawIntroduction(node(7), .cancelled),
    .senderPaused(transfer: 7, true), .receiverPaused(transfer: 7, true), .unknownOptional(type: 0xFF),
  ]

  /// Eight of them for the invitation by which the remote side has got in.
  private let most = 4_096 + 8

  private func member() -> OneSided { OneSided().connected { $0.capabilities = .introductions } }

  private func receive(_ frame: Frame, times: Int, _ one: OneSided) {
    let bytes = FrameEncoder.encode(frame)
    for _ in 0..<times { one.side.take(.received(one.link, bytes[...])) }
    one.side.forgetLog()
  }

  @Test(
    "4,096 of them, and eight for each thing begun, come to nothing and are skipped, and with the next one the association ends",
    arguments: kinds)
  func endless(frame: Frame) {
    let one = member()
    receive(frame, times: most, one)
    #expect(one.side.members == [one.far])
    #expect(one.receive(frame).closeReason == .limitExceeded)
    #expect(one.side.members.isEmpty)
  }

  @Test("each item that the peer begins, and each offer that we make, allows eight more")
  func begun() throws {
    let offer = ResourceOffer(name: [1], size: 10)
    let pause = Frame.receiverPaused(transfer: 99, true)
    for isOurs in [true, false] {
      let one = member()
      if isOurs {
        one.side.command(.offer(TransferID(rawValue: 5), to: one.far, offer))
      } else {
        one.receive(.offer(transfer: 0, offer))
      }
      receive(pause, times: most + 8, one)
      #expect(one.side.members == [one.far])
      #expect(one.receive(pause).closeReason == .limitExceeded)
    }
    let introduction = Introduce(node(7), timeout: 60_000, name: "", addresses: [])
    for frame in [.openStream(stream: 0, name: ""), Frame.introduce(introduction)] {
      let one = member()
      one.receive(frame)
      receive(pause, times: most + 8, one)
      #expect(one.side.members == [one.far])
      #expect(one.receive(pause).closeReason == .limitExceeded, "\(frame)")
    }
  }

  @Test("sixteen more may come each second")
  func later() {
    let one = member()
    receive(Self.kinds[0], times: most, one)
    one.side.wait(.seconds(1))
    receive(Self.kinds[0], times: 16, one)
    #expect(one.side.members == [one.far])
    #expect(one.receive(Self.kinds[0]).closeReason == .limitExceeded)
  }

  @Test("a peer may begin and end items without limit")
  func ends() {
    let offer = Frame.offer(transfer: 0, ResourceOffer(name: [1], size: 10))
    let invite = Frame.invite(Invite(timeout: 60_000, commitment: someNonce, context: []))
    let introduction = Introduce(node(7), timeout: 60_000, name: "", addresses: [])
    for (begin, end) in [
      (offer, Frame.abandon(transfer: 0, .cancelled, detail: "")), (invite, .withdraw(.cancelled)),
      (.openStream(stream: 0, name: ""), .resetStream(stream: 0, .cancelled, detail: "")),
      (.introduce(introduction), .withdrawIntroduction(introduction.member, .cancelled)),
    ] {
      let one = begin == invite ? OneSided().associated() : member()
      for _ in 0..<6_000 {
        one.receive(begin)
        one.receive(end)
        one.receive(.acknowledge(received: one.side.engine.associations[one.far]?.sequenced.sent ?? 0))
        one.side.forgetLog()
      }
      #expect(one.side.engine.associations[one.far] != nil, "\(begin)")
    }
  }

  @Test("of our own pauses a thousand go at once, then eight a second, and the last one says what is true")
  func ownPauses() throws {
    let one = OneSided().connected()
    let ours = TransferID(rawValue: 5)
    one.side.command(.offer(ours, to: one.far, ResourceOffer(name: [1], size: 100_000)), id: 5)
    var told: [Frame] = []
    // At the end it is paused.
    for round in 0...20_000 { told += one.side.command(.pauseTransfer(ours, round.isMultiple(of: 2))).frames }
    #expect(told.count == 1_028)
    #expect(told.last == .senderPaused(transfer: 0, false))
    let due = try #require(one.side.nextDeadline)
    #expect(due <= one.side.now + .milliseconds(125))
    #expect(one.side.wait(.milliseconds(125)).frames == [.senderPaused(transfer: 0, true)])
    #expect(one.side.wait(.milliseconds(125)).frames == [])
    #expect(one.side.engine.associations[one.far]?.transfers.pausesHeldUntil == nil)
  }

  @Test("pauses that wait go in the order in which they became due")
  func pausesInTurn() {
    let one = OneSided().connected()
    let (first, second) = (TransferID(rawValue: 5), TransferID(rawValue: 6))
    for transfer in [first, second] {
      one.side.command(.offer(transfer, to: one.far, ResourceOffer(name: [1], size: 100_000)), id: 5)
    }
    for round in 0...20_000 { one.side.command(.pauseTransfer(first, round.isMultiple(of: 2))) }
    one.side.command(.pauseTransfer(second, true))
    #expect(one.side.wait(.milliseconds(125)).frames == [.senderPaused(transfer: 0, true)])
    one.side.command(.pauseTransfer(first, false))
    #expect(one.side.wait(.milliseconds(125)).frames == [.senderPaused(transfer: 1, true)])
    #expect(one.side.wait(.milliseconds(125)).frames == [.senderPaused(transfer: 0, false)])
  }
}
