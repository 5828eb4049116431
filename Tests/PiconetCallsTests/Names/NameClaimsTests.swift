import PiconetCalls
import Testing

@Suite("Claims to names")
struct NameClaimsTests {
  static func claim(_ time: UInt64, _ options: NameClaim.Options = []) -> NameClaim {
    NameClaim("lamp", time: time, options)
  }

  @Test("the first node has the name; one that queues gets it in turn; one that does not has no effect")
  func order() {
    var claims = NameClaims<Int>()
    #expect(claims.claim(Self.claim(1), by: 5) == [.owner(of: "lamp", from: nil, to: 5)])
    #expect(claims.claim(Self.claim(2, .queues), by: 1) == [])
    #expect(claims.claim(Self.claim(3), by: 2) == [])
    #expect(claims.claim(Self.claim(4, .queues), by: 3) == [])
    #expect((1...5).map { claims.standing(of: $0, for: "lamp") } == [.queued(1), .none, .queued(2), .none, .owner])
    _ = claims.release("lamp", by: 2)
    #expect(claims.left(5) == [.owner(of: "lamp", from: 5, to: 1)])
    #expect(claims.release("lamp", by: 1) == [.owner(of: "lamp", from: 1, to: 3)])
    #expect(claims.release("lamp", by: 3) == [.owner(of: "lamp", from: 3, to: nil)])
    #expect(claims.all.isEmpty)
  }

  @Test("one that replaces takes the name of an owner that allows it, and of no other")
  func replacement() {
    var claims = NameClaims<Int>()
    _ = claims.claim(Self.claim(1, [.allowsReplacement, .queues]), by: 1)
    #expect(claims.claim(Self.claim(2, .replaces), by: 2) == [.owner(of: "lamp", from: 1, to: 2)])
    #expect(claims.standing(of: 1, for: "lamp") == .queued(1))
    #expect(claims.claim(Self.claim(3, .replaces), by: 3) == [])
    #expect(claims.standing(of: 3, for: "lamp") == .none)
  }

  @Test("with two claims of one time the smaller node has the name")
  func atOnce() {
    var claims = NameClaims<Int>()
    _ = claims.claim(Self.claim(7), by: 2)
    #expect(claims.claim(Self.claim(7), by: 1) == [.owner(of: "lamp", from: 2, to: 1)])
  }

  @Test("one node has a limit of names, and a time in the far future leaves later times for other claims")
  func limits() {
    var claims = NameClaims<Int>()
    for number in 0..<100 { _ = claims.claim(NameClaim("n\(number)", time: .max, []), by: 1) }
    #expect(claims.count(of: 1) == NameClaims<Int>.limit)
    for _ in 0..<10 { _ = claims.claim(Self.claim(.max), by: 2) }
    let next = claims.nextTime()
    #expect(next < .max && claims.nextTime() > next)
  }

  @Test("a holder keeps its name, whatever time another node states; an earlier one that replaces takes nothing back")
  func holder() {
    var claims = NameClaims<Int>()
    _ = claims.claim(Self.claim(5, [.holds, .allowsReplacement, .queues]), by: 3)
    #expect(claims.claim(Self.claim(0), by: 1) == [])
    #expect(claims.standing(of: 1, for: "lamp") == .none)
    #expect(claims.claim(Self.claim(1, [.queues, .replaces]), by: 2) == [])
    #expect(claims.standing(of: 2, for: "lamp") == .queued(1))
    #expect(claims.claim(Self.claim(0, .holds), by: 1) == [], "nor does one that says that it holds it, too")
    #expect(claims.givesWay(3, for: "lamp"))
    #expect(!claims.givesWay(1, for: "lamp"))
    #expect(claims.claim(Self.claim(0, .holds), by: 1, isLate: true) == [])
    #expect(!claims.givesWay(3, for: "lamp"), "it knew better")
    // The later one replaces it.
    #expect(claims.claim(Self.claim(6, .replaces), by: 4) == [.owner(of: "lamp", from: 3, to: 4)])
    #expect(claims.standing(of: 3, for: "lamp") == .queued(1))
  }
}
