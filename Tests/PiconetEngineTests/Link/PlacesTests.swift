import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Who gives way")
struct PlacesTests {
  private func member(_ change: (inout EngineConfiguration) -> Void) -> OneSided {
    OneSided(PiconetEngineTests.configuration(change)).connected()
  }

  /// Another node has an association with us, and is no member. Its link has the number of the node.
  private func associate(
    _ one: OneSided, _ node: NodeID, _ number: UInt64, from address: String, invites: Bool = false
  ) {
    var opening = one.opening()
    opening.peer = node.peer
    opening.traits = LinkTraits(kind: .tcp, remoteAddress: address)
    let link = LinkID(rawValue: number)
    one.side.take(.linkOpened(link, opening))
    let hello = Hello(incarnation: node.incarnation, name: "x", sessionID: "test")
    for frame in [
      .hello(hello), .associate(AssociationID(high: 5, low: number), received: 0),
    ] as [Frame] {
      one.side.take(.received(link, FrameEncoder.encode(frame)[...]))
    }
    if invites { invite(one, number) }
  }

  /// We accept its invitation, and it admits us, if it can.
  private func accept(_ one: OneSided, _ node: NodeID, _ number: UInt64, id: UInt64) {
    let outcome = one.side.command(.answerInvitation(node, accept: true, .declined), id: id)
    guard outcome.frames.contains(.accept) else { return }
    one.side.take(.received(LinkID(rawValue: number), FrameEncoder.encode(.admit)[...]))
  }

  @discardableResult
  private func invite(_ one: OneSided, _ number: UInt64) -> Outcome {
    one.side.take(
      .received(
        LinkID(rawValue: number), FrameEncoder.encode(.invite(Invite(timeout: 60_000, commitment: someCommitment)))[...]
      ))
  }

  @Test("with the fifth association of one key its first one ends")
  func ofOneKey() {
    let one = OneSided()
    for number in 1...5 as ClosedRange<UInt64> {
      associate(
        one, NodeID(peer: peer(2), incarnation: Incarnation(rawValue: number)), 10 + number, from: "a:1", invites: true)
    }
    #expect(one.side.census.associations == 4)
    #expect(one.side.log.closedLinks == [LinkID(rawValue: 11)])
  }

  @Test("invitations that wait do not keep others out: of the address with most of them the oldest goes")
  func invitationsGiveWay() {
    let one = member { $0.associationLimit = 5 }
    for number in 2...5 as ClosedRange<UInt8> {
      associate(
        one, node(number), 10 + UInt64(number), from: number == 2 ? "10.0.0.2:5" : "10.0.0.3:\(number)", invites: true)
    }
    associate(one, node(6), 16, from: "10.0.0.4:1")
    #expect(one.side.log.closedLinks == [LinkID(rawValue: 13)])
    #expect(one.side.census.associations == 5)
    // An unused association gives way before an invitation does.
    associate(one, node(7), 17, from: "10.0.0.5:1")
    #expect(one.side.log.closedLinks == [LinkID(rawValue: 13), LinkID(rawValue: 16)])
    #expect(one.side.members == [one.far])
  }

  @Test("of links in their handshake the oldest of the address with most of them goes")
  func handshakes() {
    let one = OneSided(PiconetEngineTests.configuration { $0.handshakeLimit = 3 })
    for (number, address) in ["a:1", "b:1", "b:2", "c:1"].enumerated() {
      var opening = one.opening()
      opening.traits = LinkTraits(kind: .tcp, remoteAddress: address)
      one.side.take(.linkOpened(LinkID(rawValue: UInt64(number)), opening))
    }
    #expect(one.side.log.closedLinks == [LinkID(rawValue: 1)])
  }

  // MARK: Members

  private func disconnections(_ one: OneSided) -> [Ending] {
    one.side.log.events.compactMap { if case .disconnected(_, let ending) = $0 { ending } else { nil } }
  }

  /// A full session of two, some time after something moved last; another peer invites us, and we accept.
  private func full(
    after time: Duration, timeout: Duration = .seconds(10), before: (OneSided) -> Void = { _ in }
  ) -> OneSided {
    let one = member {
      $0.capacity = 2
      $0.idleMemberTimeout = timeout
      $0.disconnectTimeout = .seconds(3_600)
    }
    before(one)
    one.side.wait(time)
    associate(one, node(2), 12, from: "b:1", invites: true)
    accept(one, node(2), 12, id: 7)
    return one
  }

  @Test("an idle member of a full session gives way to who is accepted, and both are told why")
  func idleMember() {
    let one = full(after: .seconds(10))
    #expect(one.side.members == [node(2)])
    #expect(disconnections(one).map(\.reason) == [.idle])
    #expect(one.side.log.closeReason == .idle)
    #expect(one.side.log.replies(to: 7) == [.done])
  }

  @Test("an idle member gives way to who has proven the code that was typed, and not before")
  func idleMemberAndCode() {
    let one = member {
      $0.capacity = 2
      $0.idleMemberTimeout = .seconds(10)
      $0.disconnectTimeout = .seconds(3_600)
    }
    one.side.judgement = .new
    one.side.command(.setCode(TypedCodeID(rawValue: 1)))
    one.side.wait(.seconds(10))
    associate(one, node(2), 12, from: "b:1")
    let link = LinkID(rawValue: 12)
    let share = [UInt8](repeating: 4, count: InviteByCode.shareCount)
    let proof = [UInt8](repeating: 5, count: InviteByCode.confirmationCount)
    let invited = one.side.take(
      .received(link, FrameEncoder.encode(.inviteByCode(InviteByCode(timeout: 30_000, share: share)))[...]))
    guard let id = invited.steps.first?.0 else {
      Issue.record("it was not asked for: \(invited.frames)")
      return
    }
    one.side.take(.codeProven(id, .answer(share: share, confirmation: proof)))
    one.side.take(.received(link, FrameEncoder.encode(.codeConfirm(proof))[...]))
    #expect(one.side.members == [one.far])
    one.side.take(.codeProven(id, .right))
    one.side.take(.received(link, FrameEncoder.encode(.admit)[...]))
    #expect(one.side.members == [node(2)])
    #expect(disconnections(one).map(\.reason) == [.idle])
  }

  @Test("a member that is not idle for long enough stays, and by default every member does")
  func staysWhereItMoved() {
    for one in [full(after: .milliseconds(9_999)), full(after: .seconds(1_000), timeout: .zero)] {
      #expect(one.side.members == [one.far])
      guard case .failed(let ending)? = one.side.log.replies(to: 7).first else {
        Issue.record("no failure")
        continue
      }
      #expect(ending.reason == .noSuchAssociation, "it was declined at once: \(ending)")
    }
  }

  @Test(
    "a member with an open transfer or stream is not idle",
    arguments: [
      .offer(transfer: 1, ResourceOffer(name: [1], size: 9)), .openStream(stream: 1, name: ""),
    ] as [Frame])
  func openOnes(frame: Frame) {
    let one = full(after: .seconds(100)) { $0.receive(frame) }
    #expect(one.side.members == [one.far])
  }

  private let transfer = TransferID(rawValue: TransferID.firstIncoming)

  /// The member sends a part of a resource, after `time`.
  private func send(_ one: OneSided, after time: Duration = .zero) {
    one.receive(.offer(transfer: 1, ResourceOffer(name: [1], size: 9)))
    one.side.command(.acceptOffer(transfer, offset: 0))
    one.side.wait(time)
    one.receive(.chunk(transfer: 1, bytes(4)))
  }

  @Test("a member that owes the bytes of its transfer for long enough gives way, and what is stored of it is kept")
  func stalledTransfer() {
    let one = full(after: .seconds(10)) { send($0) }
    #expect(one.side.members == [node(2)])
    #expect(one.side.log.effects.contains(.keepStore(transfer)))
  }

  @Test("so does one with another offer, which waits behind that transfer; one of which only offers wait stays")
  func stalledBeforeAnOffer() {
    let offer = Frame.offer(transfer: 2, ResourceOffer(name: [2], size: 9))
    let stalled = full(after: .seconds(10)) { one in
      one.receive(offer)
      send(one)
    }
    #expect(stalled.side.members == [node(2)])
    let waiting = full(after: .seconds(100)) { $0.receive(offer) }
    #expect(waiting.side.members == [waiting.far])
  }

  @Test("one whose bytes come stays, and so does one that waits for our disk")
  func movingTransfer() {
    let moving = full(after: .seconds(5)) { send($0, after: .seconds(5)) }
    let waiting = full(after: .seconds(100)) { one in
      one.side.answersDisk = false
      send(one)
    }
    for one in [moving, waiting] { #expect(one.side.members == [one.far]) }
  }

  /// A full session of six: we, four members at one address and one at another, none of them idle. Another peer invites
  /// us, and we accept.
  private func crowded(from address: String, isKnown: Bool = false) -> OneSided {
    let one = OneSided(
      PiconetEngineTests.configuration {
        $0.capacity = 6
        $0.idleMemberTimeout = .seconds(10)
      })
    one.side.judgement = isKnown ? .known : .new
    for number in 2...6 as ClosedRange<UInt8> {
      associate(one, node(number), 10 + UInt64(number), from: number == 6 ? "b:1" : "a:\(number)", invites: true)
      accept(one, node(number), 10 + UInt64(number), id: UInt64(number))
      one.side.now = one.side.now + .milliseconds(1)
    }
    one.side.judgement = .new
    associate(one, node(7), 17, from: address, invites: true)
    accept(one, node(7), 17, id: 7)
    return one
  }

  @Test("a busy stranger gives way if its address has many of the places, but only to other addresses")
  func manyOfOneAddress() {
    #expect(crowded(from: "c:1").side.members == [3, 4, 5, 6, 7].map(node))
    #expect(crowded(from: "a:9").side.members == [2, 3, 4, 5, 6].map(node))
    #expect(crowded(from: "c:1", isKnown: true).side.members == [2, 3, 4, 5, 6].map(node))
  }

  /// A full session of six strangers, each from an address of its own; then another node comes.
  private func scattered(_ nodes: [NodeID], newcomer: TrustJudgement = .new) -> OneSided {
    let one = OneSided(
      PiconetEngineTests.configuration {
        $0.capacity = 6
        $0.idleMemberTimeout = .seconds(10)
      })
    one.side.judgement = .new
    for (number, node) in nodes.enumerated() {
      let link = 10 + UInt64(number)
      associate(one, node, link, from: "h\(number):1", invites: true)
      accept(one, node, link, id: link)
      one.side.now = one.side.now + .milliseconds(1)
    }
    one.side.judgement = newcomer
    associate(one, node(8), 80, from: "c:1", invites: true)
    accept(one, node(8), 80, id: 80)
    return one
  }

  @Test("a key that has many of the places gives one up, whatever its addresses")
  func manyOfOneKey() {
    let ofKey = (1...5 as ClosedRange<UInt64>).map { NodeID(peer: peer(2), incarnation: Incarnation(rawValue: $0)) }
    #expect(Set(scattered(ofKey).side.members) == Set(ofKey.dropFirst() + [node(8)]))
  }

  @Test("a stranger gives way to a known device, of however many addresses and keys they are; to strangers none does")
  func knownNewcomer() {
    let strangers = (2...6 as ClosedRange<UInt8>).map(node)
    #expect(scattered(strangers, newcomer: .known).side.members == [3, 4, 5, 6, 8].map(node))
    #expect(scattered(strangers).side.members == strangers)
  }

  /// Strangers from one address that we have accepted, and that never admit us.
  private func pending(_ one: OneSided, _ numbers: ClosedRange<UInt8>, from address: String, id: UInt64 = 100) {
    for number in numbers {
      associate(one, node(number), 10 + UInt64(number), from: "\(address):\(number)", invites: true)
      one.side.command(.answerInvitation(node(number), accept: true, .declined), id: id + UInt64(number))
    }
  }

  @Test("places that are kept for who never comes count like members: another address gets in, before a member goes")
  func pendingOnes() {
    let one = OneSided(
      PiconetEngineTests.configuration {
        $0.capacity = 6
        $0.idleMemberTimeout = .seconds(10)
      })
    one.side.judgement = .new
    pending(one, 2...6, from: "a")
    let isFull = one.side.engine.admission.isFull(one.side.engine.associations)
    #expect(one.side.members.isEmpty && isFull)
    associate(one, node(7), 17, from: "c:1", invites: true)
    accept(one, node(7), 17, id: 7)
    #expect(one.side.members == [node(7)])
  }

  @Test("strangers that never admit us throw no more members of a crowded address out than as many members would")
  func pendingThrowOut() {
    let one = OneSided(
      PiconetEngineTests.configuration {
        $0.capacity = 6
        $0.idleMemberTimeout = .seconds(10)
      })
    one.side.judgement = .new
    for number in 2...6 as ClosedRange<UInt8> {
      associate(one, node(number), 10 + UInt64(number), from: "a:\(number)", invites: true)
      accept(one, node(number), 10 + UInt64(number), id: UInt64(number))
    }
    pending(one, 7...12, from: "b")
    // Five against none, four against one; then three against two, which is no crowd beside them.
    #expect(one.side.members == [4, 5, 6].map(node))
  }

  @Test("a heartbeat does not make a member busy, a message does")
  func heartbeats() {
    for (frame, isIdle) in [(Frame.ping(1), true), (.message(bytes(1)), false)] {
      let one = full(after: .seconds(5)) { one in
        one.side.wait(.seconds(5))
        one.receive(frame)
      }
      #expect(one.side.members == [isIdle ? node(2) : one.far], "\(frame)")
    }
  }
}
