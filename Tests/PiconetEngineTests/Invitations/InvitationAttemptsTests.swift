import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Our own invitations before there is an association")
struct InvitationAttemptsTests {
  private let turn = Turn(node(9), seed: 1, InvitationBudgets(openQuestions: 8), DeadlineWatch())
  private let first = CommandID(rawValue: 1)

  /// A table with attempts by the commands 1 to `count`, each of which dials.
  private func attempts(
    _ addresses: [TransportAddress] = [tcp("1")], to node: NodeID? = nil, expected: PeerID? = nil, count: UInt64 = 1
  ) -> InvitationAttempts {
    var attempts = InvitationAttempts(configuration { $0.transports = [.tcp] })
    for command in 1...count {
      let destination = InvitationDestination(
        node: node, expectedPeer: expected, addresses: addresses, transports: TransportKind.allCases, unreachable: nil)
      let arrival = attempts.begin(
        Caller(CommandID(rawValue: command)), destination, [], .seconds(30), nil, surroundings(), turn)
      #expect(arrival == nil)
    }
    return attempts
  }

  private func surroundings(
    _ links: [Link] = [], _ associations: [Association] = [], seen: [TransportAddress] = []
  ) -> Surroundings {
    var (linkTable, associationTable) = (LinkTable(), AssociationTable(limit: 8))
    for link in links { linkTable.append(link) }
    for association in associations { associationTable.append(association) }
    var discovery = DiscoveryTable(ownNode: turn.node, limit: 8, preference: [.tcp])
    let sighting = Sighting(
      peer: peer(2), incarnation: node(2).incarnation, name: "", info: [:], addresses: seen)
    if !seen.isEmpty { _ = discovery.report(.seen(sighting), source: "test") }
    return Surroundings(
      links: linkTable, associations: associationTable, discovery: discovery,
      admission: Admission(turn.node, configuration(), DeadlineWatch()), budgets: turn.budgets)
  }

  private func link(_ id: UInt64 = 1, to peer: PeerID) -> Link {
    let opening = LinkOpening(dial: nil, peer: peer, traits: LinkTraits(kind: .tcp, remoteAddress: "1"))
    return Link(id: LinkID(rawValue: id), opening: opening, at: seconds(0), configuration(), DeadlineWatch())
  }

  private func dial(_ addresses: [TransportAddress] = [tcp("1")]) -> DialTable.Dial {
    DialTable.Dial(purpose: .invitation(first), kind: .tcp, addresses: addresses)
  }

  private func ending(_ command: UInt64 = 1) -> Ending? {
    for case .reply(CommandID(rawValue: command), .failed(let ending)) in turn.effects { return ending }
    return nil
  }

  @Test("a lost race ends with every failure, unless the peer has dialled us meanwhile", arguments: [false, true])
  func raceLost(hasLink: Bool) {
    var attempts = attempts(to: node(2))
    #expect(turn.dials.count == 1)
    let link = PiconetEngineTests.link(
      reached: .ready, Hello(incarnation: Incarnation(rawValue: 2), name: "", sessionID: ""), from: 2, at: seconds(0),
      configuration())
    let arrival = attempts.dialFailed(
      first, dial(), LinkFailure(.refused), at: nil, surroundings(hasLink ? [link] : []), turn)
    #expect(arrival == nil)
    #expect(attempts.contains(node: node(2)) == hasLink && (ending() == nil) == hasLink)
    if hasLink {
      attempts.lastEnded(link, Ending(.timedOut, .peer), surroundings([link]), turn)
      #expect(ending() == nil)
      attempts.lastEnded(link, Ending(.timedOut, .peer), surroundings(), turn)
      #expect(ending()?.reason == .timedOut)
    } else {
      #expect(ending()?.reason == .unreachable)
    }
    #expect(ending()?.failures.map(\.failure.code) == [.refused] && attempts.count == 0)
  }

  @Test("another key at the only address closes the link, and ends the attempt for that reason")
  func wrongKey() {
    var attempts = attempts(expected: peer(2))
    let isWanted = attempts.linkOpened(link(to: peer(3)), for: first, dial(), surroundings(), turn)
    #expect(!isWanted)
    #expect(turn.effects.contains(.closeLink(LinkID(rawValue: 1), flush: false)))
    #expect(ending()?.reason == .identity)
  }

  @Test(
    "an address that a node is seen at is dialled after another key has answered, but not for an invitation by address"
  )
  func learned() {
    for destination in [node(2), nil] {
      var attempts = attempts(to: destination, expected: peer(2))
      attempts.learned(of: node(2), surroundings(seen: [tcp("1"), tcp("2")]), turn)
      _ = attempts.linkOpened(link(to: peer(3)), for: first, dial(), surroundings(), turn)
      let dialled = turn.effects.compactMap { effect -> [TransportAddress]? in
        if case .dial(_, _, let addresses) = effect { addresses } else { nil }
      }
      #expect(dialled.last == [tcp(destination == nil ? "1" : "2")])
      #expect(attempts.contains(node: node(2)) == (destination != nil))
    }
  }

  @Test("a link that no attempt waits for is closed")
  func nobodyWaits() {
    var attempts = InvitationAttempts(configuration())
    let isWanted = attempts.linkOpened(link(to: peer(3)), for: first, dial(), surroundings(), turn)
    #expect(!isWanted)
    #expect(turn.effects == [.closeLink(LinkID(rawValue: 1), flush: false)])
  }

  @Test("of two attempts that meet at one node the first goes on with the association, and so may the other")
  func met() throws {
    var attempts = attempts(count: 2)
    let links = [link(1, to: peer(2)), link(2, to: peer(2))]
    for (command, link) in zip(attempts.commands, links) {
      let isWanted = attempts.linkOpened(link, for: command, dial(), surroundings(), turn)
      #expect(isWanted)
    }
    let hello = Hello(incarnation: Incarnation(rawValue: 2), name: "", sessionID: "")
    for link in links { #expect(link.received(hello, at: node(9), "") == nil) }
    let association = Association(
      id: AssociationID(high: 1, low: 2), node: node(2), of: node(9), on: links[0], hello, configuration(),
      DeadlineWatch(),
      at: seconds(0))
    let arrival = attempts.associationBegan(association, turn)
    #expect(arrival?.invitation.command == first && attempts.commands == [CommandID(rawValue: 2)])
    // The other's link ends beside the association.
    let other = attempts.linkEnded(
      links[1], Ending(.duplicateLink, .nobody), surroundings([links[0]], [association]), turn)
    #expect(other?.invitation.command == CommandID(rawValue: 2) && other?.association === association)
    #expect(ending(1) == nil && ending(2) == nil && attempts.count == 0)
  }

  @Test("time that is up names the transports that have not answered")
  func timeIsUp() {
    var attempts = attempts()
    #expect(attempts.nextDeadline == seconds(30))
    var link = attempts.timePassed(first, surroundings(), turn)?.link
    #expect(link == nil && attempts.count == 1)
    var effects: [Effect] = []
    turn.begin(at: seconds(30), &effects)
    link = attempts.timePassed(first, surroundings(), turn)?.link
    #expect(link == nil && attempts.count == 0 && turn.dials.count == 0)
    #expect(ending()?.reason == .timedOut && ending()?.failures.map(\.failure.code) == [.timedOut])
  }

  @Test("giving an attempt up returns the link in its handshake")
  func withdrawn() {
    var attempts = attempts()
    let link = link(7, to: peer(2))
    _ = attempts.linkOpened(link, for: first, dial(), surroundings(), turn)
    let useless = attempts.withdraw(first, Ending(.cancelled, .us), surroundings([link]), turn)
    #expect(useless === link && attempts.count == 0 && attempts.nextDeadline == nil && turn.dials.count == 0)
    #expect(ending()?.reason == .cancelled)
  }
}
