import Testing

@testable import Piconet
@testable import PiconetEngine
@testable import PiconetWire

@Suite("What has come of introductions")
struct IntroductionHistoryTests {
  private func node(_ number: UInt64) throws -> NodeID {
    let peer = try #require(PeerID(bytes: Array(repeating: 1, count: 32)))
    return NodeID(peer: peer, incarnation: Incarnation(rawValue: number))
  }

  @Test("a refusal is told at once, and again when it is another one")
  func refusal() throws {
    var history = IntroductionHistory()
    let one = try node(1)
    let (declined, removed) = (Ending(.declined, .peer), Ending(.removed, .peer))
    #expect(history.failed(one, declined) == .apart(declined))
    #expect(history.failed(one, declined) == nil)
    #expect(history.failed(one, removed) == .apart(removed))
    #expect(history.joined(one) == .together(removed))
    #expect(history.joined(one) == nil)
  }

  @Test("that there is no way is told the second time, once, and what says nothing of the two is not")
  func noWay() throws {
    var history = IntroductionHistory()
    let one = try node(1)
    let unreachable = Ending(.unreachable, .link)
    for reason in [Reason.full, .left, .shuttingDown, .restarted, .cancelled] {
      #expect(history.failed(one, Ending(reason, .peer)) == nil)
    }
    #expect((0..<4).map { _ in history.failed(one, unreachable) } == [nil, .apart(unreachable), nil, nil])
    #expect(history.joined(one) == .together(unreachable))
    #expect(history.failed(one, unreachable) == nil)
    #expect(history.joined(one) == nil)
  }

  @Test("a member that introduces node after node pushes out the outcomes of its own introductions only")
  func limitOfIntroducer() throws {
    var history = IntroductionHistory()
    let (honest, hostile) = try (node(0).peer, #require(PeerID(bytes: Array(repeating: 2, count: 32))))
    let unreachable = Ending(.unreachable, .link)
    for number in 1...100 as ClosedRange<UInt64> { try history.declined(node(number), by: honest) }
    for number in 1_000...4_000 as ClosedRange<UInt64> {
      let nobody = try node(number)
      history.wanted(nobody, by: hostile)
      _ = history.failed(nobody, unreachable)
    }
    #expect(try (1...100 as ClosedRange<UInt64>).allSatisfy { try history.isDeclined(node($0)) })
    // The last ones of the hostile member are remembered, its first ones not.
    #expect(try history.introducer(of: node(4_000)) == hostile && history.introducer(of: node(1_000)) == nil)
    #expect(try history.failed(node(4_000), unreachable) == .apart(unreachable))
    #expect(try history.failed(node(1_000), unreachable) == nil)
  }

  @Test("separations that wait for a reader are bounded for each introducer: the oldest of the same one goes")
  func waiting() {
    let queue = EventQueue<(by: Int, number: Int)>(limit: 256)
    queue.push((by: 1, number: 0))
    for number in 0..<1_000 { queue.push((by: 2, number: number), atMost: 32) { $0.by == 2 } }
    #expect(queue.count == 33)
    var left: [(by: Int, number: Int)] = []
    queue.remove {
      left.append($0)
      return true
    }
    #expect(left.filter { $0.by == 1 }.count == 1)
    #expect(left.filter { $0.by == 2 }.map(\.number).sorted() == Array(968..<1_000))
  }

  @Test("of 1,024 nodes something is remembered, and then the first one is forgotten")
  func limit() throws {
    var history = IntroductionHistory()
    for number in 1...1_024 as ClosedRange<UInt64> { try history.declined(node(number)) }
    #expect(try history.isDeclined(node(1)))
    try history.declined(node(1))
    try history.declined(node(2_000))
    #expect(try !history.isDeclined(node(1)) && history.isDeclined(node(2)) && history.isDeclined(node(2_000)))
  }
}
