import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("No member gives way for a place of the group")
struct GroupGivingWayTests {
  private static let inGroup: Capabilities = [.removal, .introductions, .group, .resume]

  /// A full session of a group, where everybody has been idle for long enough.
  /// - Parameter outside: how many members it has that are not in the group.
  private func full(group: UInt8, outside: UInt8) -> (IntroducedEngine, group: [NodeID], outside: [NodeID]) {
    let engine = IntroducedEngine(members: 0) {
      $0.membership = .group
      $0.capacity = 1 + Int(group + outside)
      $0.idleMemberTimeout = .seconds(10)
    }
    let inside = (1...group).map { engine.played(node($0)).connect(Self.inGroup).far }
    let others = (1..<(1 + outside)).map { engine.played(node(50 + $0)).connect().far }
    engine.side.wait(.seconds(10))
    return (engine, inside, others)
  }

  private func joins(_ engine: IntroducedEngine, _ capabilities: Capabilities) -> Bool {
    let newcomer = engine.played(node(90)).connect(capabilities)
    return engine.side.members.contains(newcomer.far)
  }

  @Test("an idle member outside the group gives way to another one from outside")
  func outside() {
    let (engine, group, outside) = full(group: 1, outside: 1)
    #expect(engine.side.members == group + outside)
    #expect(joins(engine, []))
    #expect(engine.side.members == group + [node(90)])
    let reasons = engine.side.log.events.compactMap { event -> Reason? in
      if case .disconnected(_, let ending) = event { ending.reason } else { nil }
    }
    #expect(reasons == [.idle])
  }

  @Test("a member of the group never gives way, and no member gives way to a node that wants into the group")
  func ofGroup() {
    let (engine, group, _) = full(group: 2, outside: 0)
    #expect(!joins(engine, []) && !joins(engine, Self.inGroup))
    #expect(engine.side.members == group)
    let (mixed, inside, outside) = full(group: 1, outside: 1)
    #expect(!joins(mixed, Self.inGroup))
    #expect(mixed.side.members == inside + outside)
  }
}
