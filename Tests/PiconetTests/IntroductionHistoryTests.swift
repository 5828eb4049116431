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
