import PiconetCalls
import Testing

@Suite("Claims to names")
struct NameClaimsTests {
  static func claim(_ time: UInt64, _ options: NameClaim.Options = []) -> NameClaim {
    NameClaim("lamp", time: time, options)
  }

  @Test("the first has the name; who queues gets it in turn; who does not has no effect")
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

  @Test("one node has a limit of names, and a time of the far future is nobody else's last")
  func limits() {
    var claims = NameClaims<Int>()
    for number in 0..<100 { _ = claims.claim(NameClaim("n\(number)", time: .max, []), by: 1) }
    #expect(claims.count(of: 1) == NameClaims<Int>.limit)
    for _ in 0..<10 { _ = claims.claim(Self.claim(.max), by: 2) }
    let next = claims.nextTime()
    #expect(next < .max && claims.nextTime() > next)
  }

  /// Nodes that tell each other of their claims over slow links, in parts that come and go.
  struct World {
    var dice: Dice
    var tables = Array(repeating: NameClaims<Int>(), count: 5)
    /// Which part each node is in.
    var parts = [0, 0, 0, 0, 0]
    /// What is under way from one to another, in order.
    var ways: [[Int]: [@Sendable (inout NameClaims<Int>) -> Void]] = [:]

    mutating func tell(_ from: Int, _ change: @escaping @Sendable (inout NameClaims<Int>) -> Void) {
      for to in 0..<5 where to != from && parts[to] == parts[from] { ways[[from, to], default: []].append(change) }
    }

    mutating func deliver(_ way: [Int]) {
      guard let first = ways[way]?.first else { return }
      ways[way]?.removeFirst()
      first(&tables[way[1]])
      settle(way[1])
    }

    /// A claim that has no effect is released.
    mutating func settle(_ node: Int) {
      for claim in tables[node].claims(of: node) where tables[node].standing(of: node, for: claim.name) == .none {
        release(claim.name, by: node)
      }
    }

    mutating func claim(_ name: String, by node: Int) {
      let options = NameClaim.Options(rawValue: UInt64.random(in: 0...7, using: &dice))
      let claim = NameClaim(name, time: tables[node].nextTime(), options)
      _ = tables[node].claim(claim, by: node)
      tell(node) { _ = $0.claim(claim, by: node) }
      settle(node)
    }

    mutating func release(_ name: String, by node: Int) {
      _ = tables[node].release(name, by: node)
      tell(node) { _ = $0.release(name, by: node) }
    }

    /// Nodes that lose one another forget each other's claims; those that find one another tell theirs.
    mutating func divide(_ new: [Int]) {
      for one in 0..<5 {
        for other in 0..<5 where one != other {
          let were = parts[one] == parts[other]
          let are = new[one] == new[other]
          if were && !are {
            ways[[one, other]] = []
            _ = tables[other].left(one)
          } else if !were && are {
            let claims = tables[one].claims(of: one)
            ways[[one, other], default: []].append { table in for claim in claims { _ = table.claim(claim, by: one) } }
          }
        }
      }
      parts = new
      for node in 0..<5 { settle(node) }
    }

    mutating func deliverAll() {
      while let way = ways.filter({ !$0.value.isEmpty }).keys.sorted(by: { $0.lexicographicallyPrecedes($1) })
        .randomElement(using: &dice)
      { deliver(way) }
    }
  }

  @Test("whatever is claimed at once, apart or late, all name the same owners once all is told")
  func seeds() {
    for seed in 0..<2_000 as Range<UInt64> {
      var world = World(dice: Dice(state: seed))
      for _ in 0..<80 {
        let node = Int.random(in: 0..<5, using: &world.dice)
        let name = ["a", "b"].randomElement(using: &world.dice) ?? "a"
        switch Int.random(in: 0...9, using: &world.dice) {
        case 0...2: world.claim(name, by: node)
        case 3:
          if world.tables[node].claims(of: node).contains(where: { $0.name == name }) { world.release(name, by: node) }
        case 4: world.divide((0..<5).map { _ in Int.random(in: 0...1, using: &world.dice) })
        default: world.deliver([node, Int.random(in: 0..<5, using: &world.dice)])
        }
      }
      world.divide([0, 0, 0, 0, 0])
      world.deliverAll()
      for table in world.tables { #expect(table.all == world.tables[0].all, "seed \(seed)") }
      for name in ["a", "b"] {
        let owners = (0..<5).filter { world.tables[$0].standing(of: $0, for: name) == .owner }
        #expect(owners.count <= 1, "seed \(seed): \(owners) have \(name)")
      }
    }
  }
}
