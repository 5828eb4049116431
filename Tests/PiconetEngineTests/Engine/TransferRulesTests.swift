import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The rules of a transfer")
struct TransferRulesTests {
  private let first = TransferID(rawValue: TransferID.firstIncoming)

  /// The remote side has offered transfer 0 of this size, and we have accepted it.
  private func receiving(size: UInt64, window: Int = 40_000) -> OneSided {
    let one = OneSided(
      configuration {
        $0.transferWindow = window
        $0.smallestTransferWindow = window
      }
    ).connected()
    one.receive(.offer(transfer: 0, ResourceOffer(name: [1], size: size)))
    one.side.answersDisk = false
    one.side.command(.acceptOffer(first, offset: 0))
    return one
  }

  /// We have offered transfer 0 of this size.
  private func offering(size: UInt64 = 100) -> OneSided {
    let one = OneSided().connected()
    one.side.answersDisk = false
    one.side.command(
      .offer(TransferID(rawValue: 5), to: one.far, ResourceOffer(name: [1], size: size)), id: 5)
    return one
  }

  @Test("an accepted offer states the credit that the window gives, and not more than the size")
  func firstCredit() {
    let large = OneSided().connected()
    large.receive(.offer(transfer: 3, ResourceOffer(name: [1], size: 100_000_000)))
    #expect(
      large.side.command(.acceptOffer(first, offset: 10)).frames
        == [.acceptOffer(transfer: 3, offset: 10, limit: 10 + 2 << 20)])
    let small = OneSided().connected()
    small.receive(.offer(transfer: 3, ResourceOffer(name: [1], size: 7)))
    #expect(
      small.side.command(.acceptOffer(first, offset: 10)).frames == [.acceptOffer(transfer: 3, offset: 7, limit: 7)])
  }

  @Test("bytes up to the credit are stored, one beyond ends the link")
  func beyondCredit() {
    let one = receiving(size: 100_000)
    for _ in 0..<4 {
      #expect(one.receive(.chunk(transfer: 0, bytes(10_000))).effects == [.storeChunk(first, bytes(10_000))])
    }
    let outcome = one.receive(.chunk(transfer: 0, bytes(1)))
    #expect(outcome.closeReason == .protocolBroken)
    #expect(outcome.effects.contains(.discardStore(first)))
    #expect(one.side.census.transfersIncoming == 0)
  }

  @Test("more bytes than were offered refuse the transfer, and only that")
  func beyondSize() {
    let one = receiving(size: 100)
    one.receive(.chunk(transfer: 0, bytes(100)))
    let outcome = one.receive(.chunk(transfer: 0, bytes(1)))
    guard case .refuse(0, .sizeMismatch, _)? = outcome.frames.first else {
      Issue.record("\(outcome.frames)")
      return
    }
    #expect(outcome.effects.contains(.discardStore(first)))
    #expect(one.side.census.members == 1)
    // What the sender still sends is dropped until it has seen the refusal.
    #expect(one.receive(.chunk(transfer: 0, bytes(1))).effects == [])
    #expect(one.receive(.end(transfer: 0, size: 100, someDigest)).effects == [])
    one.receive(.abandon(transfer: 0, .cancelled, detail: ""))
    #expect(one.side.census.transfersIncoming == 0)
  }

  @Test("an end with fewer bytes than offered, or another size, refuses the transfer", arguments: [99, 100, 101])
  func earlyEnd(size: UInt64) {
    let one = receiving(size: 100)
    one.receive(.chunk(transfer: 0, bytes(size == 100 ? 99 : 100)))
    let outcome = one.receive(.end(transfer: 0, size: size, someDigest))
    guard case .refuse(0, .sizeMismatch, _)? = outcome.frames.first else {
      Issue.record("\(outcome.frames)")
      return
    }
    #expect(!outcome.effects.contains { if case .commitStore = $0 { true } else { false } })
  }

  @Test(
    "a frame of the sender at the wrong time ends the link",
    arguments: [
      "chunk of nothing", "end of nothing", "chunk before the answer", "end before the answer", "second offer",
      "second end", "chunk after the end", "position",
    ])
  func senderAtTheWrongTime(what: String) {
    let one = receiving(size: 10)
    let chunk = Frame.chunk(transfer: 0, bytes(10))
    let end = Frame.end(transfer: 0, size: 10, someDigest)
    one.receive(.offer(transfer: 1, ResourceOffer(name: [1], size: 10)))
    let outcome: Outcome
    switch what {
    case "chunk of nothing": outcome = one.receive(.chunk(transfer: 7, bytes(1)))
    case "end of nothing": outcome = one.receive(.end(transfer: 7, size: 10, someDigest))
    case "chunk before the answer": outcome = one.receive(.chunk(transfer: 1, bytes(1)))
    case "end before the answer": outcome = one.receive(.end(transfer: 1, size: 10, someDigest))
    case "second offer": outcome = one.receive(.offer(transfer: 0, ResourceOffer(name: [1], size: 10)))
    case "second end": outcome = one.receive(chunk, end, end)
    case "chunk after the end": outcome = one.receive(chunk, end, chunk)
    default: outcome = one.receive(.position(transfer: 0, offset: 0))
    }
    #expect(outcome.closeReason == .protocolBroken)
    #expect(one.side.census.transfersIncoming == 0)
  }

  @Test(
    "a frame of the receiver at the wrong time ends the link",
    arguments: [
      "accept of nothing", "accept twice", "accept behind the end", "decline after the answer", "credit too early",
      "stored too early", "stored before the end", "stored more than sent", "refuse of nothing", "decline of nothing",
    ])
  func receiverAtTheWrongTime(what: String) {
    let one = offering()
    let accept = Frame.acceptOffer(transfer: 0, offset: 0, limit: 100)
    let outcome: Outcome
    switch what {
    case "accept of nothing": outcome = one.receive(.acceptOffer(transfer: 1, offset: 0, limit: 1))
    case "accept twice": outcome = one.receive(accept, accept)
    case "accept behind the end": outcome = one.receive(.acceptOffer(transfer: 0, offset: 101, limit: 200))
    case "decline after the answer": outcome = one.receive(accept, .declineOffer(transfer: 0, .notWanted, detail: ""))
    case "credit too early": outcome = one.receive(.transferCredit(transfer: 0, stored: 0, limit: 9))
    case "stored too early": outcome = one.receive(.stored(transfer: 0, name: [1]))
    case "stored before the end": outcome = one.receive(accept, .stored(transfer: 0, name: [1]))
    case "stored more than sent": outcome = one.receive(accept, .transferCredit(transfer: 0, stored: 1, limit: 100))
    case "refuse of nothing": outcome = one.receive(.refuse(transfer: 1, .cancelled, detail: ""))
    default: outcome = one.receive(.declineOffer(transfer: 1, .notWanted, detail: ""))
    }
    #expect(outcome.closeReason == .protocolBroken)
    #expect(one.side.census.transfersOutgoing == 0)
    #expect(outcome.replies(to: 5).count == 1)
    #expect(outcome.effects.count { $0 == .closeSource(TransferID(rawValue: 5)) } == 1)
  }

  @Test("the number of another peer's transfer has no effect on it")
  func otherPeersNumber() {
    let one = receiving(size: 10)
    let other = LinkID(rawValue: 2)
    var opening = one.opening()
    opening.peer = peer(2)
    one.side.take(.linkOpened(other, opening))
    let far = Hello(incarnation: Incarnation(rawValue: 2), name: "x", sessionID: "test")
    for frame: Frame in [
      .hello(far), .associate(AssociationID(high: 3, low: 4), received: 0),
      .invite(Invite(timeout: 9_999, commitment: someCommitment)),
    ] { one.side.take(.received(other, FrameEncoder.encode(frame)[...])) }
    one.side.command(.answerInvitation(node(2), accept: true, .declined))
    one.side.take(.received(other, FrameEncoder.encode(.admit)[...]))
    #expect(one.side.census.members == 2)
    // An abandon for a number that it never offered has no effect. A chunk for that number ends its own link, and no
    // other.
    #expect(
      one.side.take(.received(other, FrameEncoder.encode(.abandon(transfer: 0, .cancelled, detail: ""))[...])).effects
        == [])
    let outcome = one.side.take(.received(other, FrameEncoder.encode(.chunk(transfer: 0, bytes(5)))[...]))
    #expect(outcome.closedLinks == [other])
    #expect(one.side.census.transfersIncoming == 1)
    #expect(one.receive(.chunk(transfer: 0, bytes(10))).effects == [.storeChunk(first, bytes(10))])
  }

  @Test("as many offers as the limit are taken, one more ends the link")
  func offerLimit() {
    let one = OneSided(configuration { $0.transferLimit = 3 }).connected()
    for number: UInt64 in 0..<3 {
      #expect(one.receive(.offer(transfer: number, ResourceOffer(name: [1], size: 1))).events.count == 1)
    }
    #expect(one.receive(.offer(transfer: 3, ResourceOffer(name: [1], size: 1))).closeReason == .protocolBroken)
  }

  @Test("an empty resource goes as offer, accept, end, stored")
  func emptyResource() {
    let one = offering(size: 0)
    one.side.answersDisk = true
    let outcome = one.receive(.acceptOffer(transfer: 0, offset: 0, limit: 0))
    #expect(outcome.frames == [.end(transfer: 0, size: 0, someDigest)])
    #expect(one.receive(.stored(transfer: 0, name: [9])).replies(to: 5) == [.stored(name: [9])])
    #expect(one.side.census.transfersOutgoing == 0)
  }

  @Test("a number is taken again once the remote side has told of the end, not before")
  func numberReuse() {
    let one = offering()
    one.side.command(.cancelTransfer(TransferID(rawValue: 5), .cancelled))
    let second = ResourceOffer(name: [2], size: 1)
    #expect(
      one.side.command(.offer(TransferID(rawValue: 6), to: one.far, second)).frames == [.offer(transfer: 1, second)])
    one.receive(.refuse(transfer: 0, .cancelled, detail: ""))
    #expect(
      one.side.command(.offer(TransferID(rawValue: 7), to: one.far, second)).frames == [.offer(transfer: 0, second)])
  }
}
