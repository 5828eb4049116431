import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A node that is removed from its group")
struct RemovedNodeTests {
  private static let inGroup: Capabilities = [.removal, .introductions, .group, .resume]

  /// An engine with members of a group.
  private func group(
    of count: UInt8 = 3, _ change: (inout EngineConfiguration) -> Void = { _ in }
  ) -> (IntroducedEngine, [PlayedNode]) {
    let group = IntroducedEngine(members: 0) {
      $0.membership = .group
      $0.capacity = 16
      $0.removals = .members
      change(&$0)
    }
    return (group, (1...count).map { group.played(node($0)).connect(Self.inGroup) })
  }

  /// The member says that the engine's node is removed, and closes the link.
  private func removes(_ member: PlayedNode, _ group: IntroducedEngine) {
    member.receive(.leave(.removed, detail: ""))
    group.side.take(.linkClosed(member.link, .ended))
  }

  /// A member that is reached over a relay.
  private func relayed(_ group: IntroducedEngine, _ byte: UInt8) -> PlayedNode {
    let kind = group.one.traits.kind
    defer { group.one.traits.kind = kind }
    group.one.traits.kind = .relay
    return group.played(node(byte)).connect(Self.inGroup)
  }

  private func ended(_ outcome: Outcome) -> [NodeID] {
    outcome.events.compactMap { if case .disconnected(let node, _) = $0 { node } else { nil } }
  }

  @Test("leaves members whose link over a relay is lost half a second later: their goodbyes can't come")
  func withoutRelay() {
    let (group, members) = group()
    let far = relayed(group, 5)
    removes(members[0], group)
    for member in [far, members[1]] { group.side.take(.linkClosed(member.link, .ended)) }
    #expect(ended(group.side.wait(Removals.grace - .nanoseconds(1))).isEmpty)
    let outcome = group.side.wait(.nanoseconds(1))
    #expect(outcome.events == [.disconnected(far.far, Ending(.left, .us))])
    #expect(group.side.members == [members[1].far, members[2].far], "these may say it themselves, or come back")
  }

  @Test("keeps members that it has met since, and members that it still reaches")
  func reached() {
    let (group, members) = group(of: 1)
    let far = relayed(group, 5)
    removes(members[0], group)
    group.side.wait(Removals.grace / 2)
    let newcomer = relayed(group, 6)
    group.side.take(.linkClosed(newcomer.link, .ended))
    #expect(ended(group.side.wait(.seconds(10))).isEmpty)
    #expect(group.side.members == [far.far, newcomer.far])
  }

  @Test(
    "stays with all where not every member's wish counts, in a session of pairs, and when one has just left it")
  func stays() {
    let changes: [(inout EngineConfiguration) -> Void] = [
      { $0.removals = .introducers }, { $0.removals = .nobody }, { $0.membership = .pairs },
    ]
    for change in changes + [{ _ in }] {
      let (group, members) = group(of: 1, change)
      let far = relayed(group, 5)
      if group.side.engine.configuration.removals == .members, group.side.engine.configuration.membership == .group {
        members[0].receive(.leave(.left, detail: ""))
        group.side.take(.linkClosed(members[0].link, .ended))
      } else {
        removes(members[0], group)
      }
      group.side.take(.linkClosed(far.link, .ended))
      #expect(ended(group.side.wait(.seconds(10))).isEmpty)
    }
  }

  @Test("comes back by an introduction of the member that has removed it, and of no other")
  func comesBack() {
    let (group, members) = group()
    members[0].receive(.removeMember(subject: members[2].far, .removed))
    group.side.take(.linkClosed(members[2].link, .ended))
    #expect(members[1].sent(members[1].introduces(members[2].far)).answers == [.removed])
    #expect(members[0].introduces(members[2].far).introduced.map(\.node) == [members[2].far])
  }
}
