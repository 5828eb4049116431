import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The heartbeat")
struct HeartbeatTests {
  @Test("a quiet link is pinged, an answer keeps it, silence ends it")
  func silence() {
    let one = OneSided(configuration { $0.disconnectTimeout = .seconds(8) }).connected()
    let ping = one.side.wait(.seconds(2))
    guard case .ping(let token)? = ping.frames.first else {
      Issue.record("no ping")
      return
    }
    #expect(one.receive(.pong(token)).effects == [])
    // The peer was heard at 2 s: patience ends at 10 s.
    #expect(one.side.wait(.seconds(8) - .nanoseconds(1)).closeReason == nil)
    let end = one.side.wait(.nanoseconds(1))
    #expect(end.closeReason == .timedOut)
    guard case .disconnected(_, let ending)? = end.events.first else {
      Issue.record("still connected")
      return
    }
    #expect(ending.reason == .timedOut && ending.blame == .link)
    #expect(one.side.nextDeadline == nil)
  }

  @Test("a ping is answered with its token", arguments: [0, 63, 1 << 61] as [UInt64])
  func pong(token: UInt64) {
    #expect(OneSided().associated().receive(.ping(token)).frames == [.pong(token)])
  }

  @Test("over a long silence pings come a quarter of the patience apart, and end with it")
  func pingCount() {
    let one = OneSided(configuration { $0.disconnectTimeout = .seconds(8) }).connected()
    let pings = one.side.wait(.seconds(100)).frames.filter { if case .ping = $0 { true } else { false } }
    #expect(pings.count == 3)
  }

  @Test("links that want a ping at almost the same time get it together, and others do not")
  func together() throws {
    let one = try AssociatedEngine()
    for (number, later) in [(2, 50), (3, 50), (4, 900)] as [(UInt8, Int)] {
      one.now = one.now + .milliseconds(later)
      let peer = try #require(PeerID(bytes: [UInt8](repeating: number, count: PeerID.byteCount)))
      let far = NodeID(peer: peer, incarnation: Incarnation(rawValue: 1))
      try one.associate(LinkID(rawValue: UInt64(number)), far)
    }
    for count in [3, 1] {
      one.now = try #require(one.nextDeadline)
      one.take(.deadlineReached)
      let pings = try one.transmittedFrames().filter { if case .ping = $0 { true } else { false } }
      #expect(pings.count == count)
      #expect(one.nextDeadline.map { $0 > one.now } == true)
    }
  }

  @Test("two quiet engines keep each other for hours")
  func bothQuiet() {
    let two = TwoSided().connected()
    for _ in 0..<100 {
      for side in two.sides { side.wait(.seconds(4)) }
      two.settle()
    }
    #expect(two.sides.map(\.census.members) == [1, 1])
  }

  @Test("the deadline is never behind the clock once it was met", arguments: 0..<20 as Range<UInt64>)
  func deadlinesMove(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let two = TwoSided().associated()
    let far = [two.sides[1].node, two.sides[0].node]
    for step in 0..<60 {
      let index = Int.random(in: 0...1, using: &random)
      let side = two.sides[index]
      switch Int.random(in: 0..<8, using: &random) {
      case 0: side.command(.invite(.node(far[index]), context: [], timeout: .seconds(3)))
      case 1: side.command(.answerInvitation(far[index], accept: step % 3 == 0, .declined))
      case 2: side.command(.leave(far[index], .left))
      case 3: side.command(.cancelInvitation(CommandID(rawValue: UInt64.random(in: 1_000...1_100, using: &random))))
      case 4: two.settle()
      default: side.wait(.milliseconds(Int.random(in: 0...4_000, using: &random)))
      }
      side.take(.deadlineReached)
      if let next = side.nextDeadline, next <= side.now {
        Issue.record("the deadline \(next.nanoseconds) of step \(step) is behind")
        return
      }
    }
  }
}
