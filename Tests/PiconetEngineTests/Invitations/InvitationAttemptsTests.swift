import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Invitations of ours before there is an association")
struct InvitationAttemptsTests {
  private let turn = Turn(node(9), seed: 1, InvitationBudgets(openQuestions: 8), DeadlineWatch())
  private let first = CommandID(rawValue: 1)

  private func attempts(
    _ addresses: [TransportAddress] = [tcp("1")], to node: NodeID? = nil, expected: PeerID? = nil, count: UInt64 = 1
  ) -> InvitationAttempts {
    var attempts = InvitationAttempts()
    for command in 1...count {
      attempts.begin(
        InvitationAttempt(
          command: CommandID(rawValue: command), node: node, expectedPeer: expected, context: [], code: nil,
          formerMemberships: 0, deadline: seconds(30),
          race: ConnectRace(addresses: addresses, preference: [.tcp], headStart: .seconds(1))),
        turn)
    }
    return attempts
  }

  private func link(_ id: UInt64 = 1, to peer: PeerID) -> Link {
    let opening = LinkOpening(dial: nil, peer: peer, traits: LinkTraits(kind: .tcp, remoteAddress: "1"))
    return Link(id: LinkID(rawValue: id), opening: opening, at: seconds(0), configuration(), DeadlineWatch())
  }

  private func proven(_ node: NodeID) -> ProvenPeer {
    ProvenPeer(
      node: node, name: "", traits: someTraits, association: AssociationID(high: 1, low: 2), isKnown: true,
      messageLimit: 1000)
  }

  private func ending(_ command: UInt64 = 1) -> Ending? {
    for case .reply(CommandID(rawValue: command), .failed(let ending)) in turn.effects { return ending }
    return nil
  }

  @Test("a lost race ends with every failure, unless the peer has dialled us meanwhile", arguments: [false, true])
  func raceLost(hasLink: Bool) {
    var attempts = attempts(to: node(2))
    let dialled = attempts.dial(first, turn)
    #expect(dialled == nil && turn.dials.count == 1)
    let step = attempts.dialFailed(first, .tcp, LinkFailure(.refused), holder: nil, turn)
    #expect(step == .raceLost(first, node(2)))
    attempts.raceLost(first, hasLink: hasLink, turn)
    #expect(attempts.contains(node: node(2)) == hasLink && (ending() == nil) == hasLink)
    if hasLink {
      attempts.lastLinkEnded(to: node(2), Ending(.timedOut, .peer), turn)
      #expect(ending()?.reason == .timedOut)
    } else {
      #expect(ending()?.reason == .unreachable)
    }
    #expect(ending()?.failures.map(\.failure.code) == [.refused] && attempts.count == 0)
  }

  @Test("another key at the only address closes the link, and ends the attempt for that reason")
  func wrongKey() {
    var attempts = attempts(expected: peer(2))
    _ = attempts.dial(first, turn)
    let claim = attempts.linkOpened(link(to: peer(3)), for: first, .tcp, turn)
    #expect(claim == .unwanted(.raceLost(first, nil)))
    #expect(turn.effects.contains(.closeLink(LinkID(rawValue: 1), flush: false)))
    attempts.raceLost(first, hasLink: false, turn)
    #expect(ending()?.reason == .identity)
  }

  @Test("a link that nobody waits for is closed")
  func nobodyWaits() {
    var attempts = InvitationAttempts()
    let claim = attempts.linkOpened(link(to: peer(3)), for: first, .tcp, turn)
    #expect(claim == .unwanted(nil))
    #expect(turn.effects == [.closeLink(LinkID(rawValue: 1), flush: false)])
  }

  @Test("of two attempts that meet at one node the first goes on with the association, and the other is answered")
  func met() {
    var attempts = attempts(count: 2)
    for command in attempts.commands {
      _ = attempts.dial(command, turn)
      let id = command.rawValue
      let claim = attempts.linkOpened(link(id, to: peer(2)), for: command, .tcp, turn)
      #expect(claim == .wanted)
    }
    // The other's link ends beside the association.
    let outgoing = attempts.associationBegan(proven(node(2)), on: LinkID(rawValue: 1), turn)
    #expect(outgoing?.command == first && attempts.commands == [CommandID(rawValue: 2)])
    let step = attempts.linkEnded(
      CommandID(rawValue: 2), to: node(2), .association, Ending(.duplicateLink, .nobody), turn)
    #expect(step == .met(CommandID(rawValue: 2), node(2)))
    #expect(ending(1) == nil && ending(2) == nil)
  }

  @Test("time that is up names the transports that have not answered, and the link in its handshake is given back")
  func timeIsUp() {
    var attempts = attempts()
    _ = attempts.dial(first, turn)
    #expect(attempts.nextDeadline == seconds(30) && attempts.ending(of: first, at: seconds(29)) == nil)
    #expect(attempts.ending(of: first, at: seconds(30))?.failures.map(\.failure.code) == [.timedOut])
    _ = attempts.linkOpened(link(7, to: peer(2)), for: first, .tcp, turn)
    let link = attempts.withdraw(first, Ending(.timedOut, .peer), turn)
    #expect(link == LinkID(rawValue: 7) && attempts.count == 0 && attempts.nextDeadline == nil && turn.dials.count == 0)
  }
}
