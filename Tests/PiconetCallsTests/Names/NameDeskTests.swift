import PiconetCalls
import Testing

/// Nodes that tell one another of their claims over slow links, in parts that come and go.
private struct NameWorld {
  typealias Desk = NameDesk<Int>

  enum Word {
    /// A greeting, with the system that greets.
    case hello(UInt64)
    case frame(CallFrame)
  }

  var dice: Dice
  let count: Int
  var desks: [Desk]
  var instances: [UInt64]
  /// Which part each node is in.
  var parts: [Int]
  /// What is under way from one to another, in order.
  var ways: [[Int]: [Word]] = [:]
  var lastNumber: UInt64 = 0
  /// Claims under way, by number: the node of each, until it was told that all have heard.
  var open: [UInt64: Int] = [:]
  var faults: [String] = []
  /// This node has no desk: the test speaks for it.
  var hostile: Int?
  var answers = false

  init(_ seed: UInt64, count: Int, hostile: Int? = nil) {
    dice = Dice(state: seed)
    self.count = count
    self.hostile = hostile
    desks = (0..<count).map { Desk(of: $0) }
    instances = (0..<count).map { UInt64($0) }
    parts = Array(repeating: 0, count: count)
    for one in 0..<count { for other in 0..<count where one != other { meet(one, other) } }
  }

  mutating func greet(_ from: Int, _ to: Int) { ways[[from, to], default: []].append(.hello(instances[from])) }

  mutating func meet(_ from: Int, _ to: Int) {
    desks[to].joined(from)
    greet(from, to)
  }

  mutating func say(_ frame: CallFrame, _ from: Int, _ to: Int) {
    if parts[from] == parts[to] { ways[[from, to], default: []].append(.frame(frame)) }
  }

  mutating func perform(_ effects: [Desk.Effect], at node: Int) {
    for effect in effects {
      switch effect {
      case .tell(let frame, let other): say(frame, node, other)
      case .heard(let number):
        if open.removeValue(forKey: number) == nil { faults.append("claim \(number) was heard of twice") }
      case .changed, .refused: break
      }
    }
  }

  mutating func deliver(_ way: [Int]) {
    guard let first = ways[way]?.first else { return }
    ways[way, default: []].removeFirst()
    let (from, to) = (way[0], way[1])
    if to == hostile { return hostileHears(first, of: from) }
    switch first {
    case .hello(let instance): perform(desks[to].greeted(from, instance: instance), at: to)
    case .frame(let frame): perform(desks[to].received(frame, from: from), at: to)
    }
  }

  /// It may say that it has heard of claims, or not.
  private mutating func hostileHears(_ word: Word, of node: Int) {
    guard let hostile, case .frame(.claim(let claim)) = word, answers || Bool.random(using: &dice) else { return }
    say(.heard(name: claim.name, time: claim.time), hostile, node)
  }

  mutating func claim(_ name: String, by node: Int, _ options: NameClaim.Options) {
    lastNumber += 1
    open[lastNumber] = node
    guard let effects = desks[node].claim(name, options, lastNumber) else {
      open[lastNumber] = nil
      return faults.append("\(node) has too many names")
    }
    perform(effects, at: node)
  }

  /// Nodes that lose one another forget each other's claims; those that find one another greet.
  mutating func divide(_ new: [Int]) {
    for one in 0..<count {
      for other in 0..<count where one != other && parts[one] == parts[other] && new[one] != new[other] {
        ways[[one, other]] = []
      }
    }
    let former = parts
    parts = new
    for one in 0..<count where one != hostile {
      for other in 0..<count where one != other && former[one] == former[other] && new[one] != new[other] {
        perform(desks[one].ended(other, isGone: true), at: one)
      }
    }
    for one in 0..<count {
      for other in 0..<count where one != other && former[one] != former[other] && new[one] == new[other] {
        meet(one, other)
      }
    }
  }

  /// A system is made anew over the same membership.
  mutating func restart(_ node: Int) {
    instances[node] += 100
    desks[node] = Desk(of: node)
    for (number, owner) in open where owner == node { open[number] = nil }
    for other in 0..<count where other != node && parts[other] == parts[node] {
      ways[[other, node]] = []
      greet(node, other)
      meet(other, node)
    }
  }

  mutating func deliverAll() {
    while let way = ways.filter({ !$0.value.isEmpty }).keys.sorted(by: { $0.lexicographicallyPrecedes($1) })
      .randomElement(using: &dice)
    { deliver(way) }
  }

  mutating func losePatience() {
    for node in 0..<count where node != hostile {
      for _ in 0..<2 { perform(desks[node].losePatience(), at: node) }
    }
  }
}

@Suite("The names of a session as one node keeps them")
struct NameDeskTests {
  private static let names = ["a", "b"]

  @Test("claims made at once, apart, late or by a new system: all nodes name the same owners once all is told")
  func seeds() {
    for seed in 0..<2_000 as Range<UInt64> {
      var world = NameWorld(seed, count: 5)
      for _ in 0..<80 {
        let node = Int.random(in: 0..<5, using: &world.dice)
        let name = Self.names.randomElement(using: &world.dice) ?? "a"
        switch Int.random(in: 0...19, using: &world.dice) {
        case 0...5:
          world.claim(name, by: node, .init(rawValue: UInt64.random(in: 0...7, using: &world.dice)))
        case 6...7: world.perform(world.desks[node].release(name), at: node)
        case 8...9: world.divide((0..<5).map { _ in Int.random(in: 0...1, using: &world.dice) })
        case 10 where seed % 3 == 0: world.restart(node)
        case 11:
          // Only after a time in which everything arrives.
          world.deliverAll()
          world.losePatience()
        default: world.deliver([node, Int.random(in: 0..<5, using: &world.dice)])
        }
      }
      world.divide([0, 0, 0, 0, 0])
      world.deliverAll()
      for (number, desk) in world.desks.enumerated() {
        #expect(desk.all == world.desks[0].all, "seed \(seed): node \(number)")
      }
      for name in Self.names {
        let owners = (0..<5).filter { world.desks[$0].standing(for: name) == .owner }
        #expect(owners.count <= 1, "seed \(seed): \(owners) have \(name)")
        #expect(owners.first == world.desks[0].owner(of: name), "seed \(seed)")
        #expect(owners.allSatisfy { world.desks[$0].holds(name) }, "seed \(seed)")
      }
      #expect(world.open.isEmpty && world.faults.isEmpty, "seed \(seed): \(world.open) \(world.faults)")
    }
  }

  @Test("a member that claims with any time, says that it holds, tells each something else or comes back takes no name")
  func hostile() {
    var kept = 0
    for seed in 0..<2_000 as Range<UInt64> {
      var world = NameWorld(seed, count: 4, hostile: 3)
      world.deliverAll()
      // A node that leaves without ever having said so is like one that comes from elsewhere.
      let leaves = seed % 2 == 0
      world.answers = leaves
      // One of them has the name: all honest ones know it, and the hostile one has heard of it, or says nothing.
      let owner = Int.random(in: 0..<3, using: &world.dice)
      let waits = NameClaim.Options([.queues])
      world.claim("a", by: owner, waits)
      world.deliverAll()
      world.losePatience()
      world.deliverAll()
      #expect(world.desks[owner].holds("a"), "seed \(seed)")
      for _ in 0..<40 {
        let node = Int.random(in: 0..<3, using: &world.dice)
        let time = ([0, 1, 2, 100, .max] as [UInt64]).randomElement(using: &world.dice) ?? 0
        let claim = NameClaim("a", time: time, .init(rawValue: UInt64.random(in: 0...31, using: &world.dice)))
        switch Int.random(in: 0...9, using: &world.dice) {
        case 0...2: world.say(.claim(claim), 3, node)
        case 3: world.say(.release(name: "a"), 3, node)
        case 4: world.say(.heard(name: "a", time: time), 3, node)
        case 5 where leaves: world.divide([0, 0, 0, Int.random(in: 0...1, using: &world.dice)])
        case 6:
          if node != owner { world.claim("a", by: node, waits) }
        default: world.deliver([Int.random(in: 0...3, using: &world.dice), node])
        }
        for desk in world.desks[..<3] {
          #expect(desk.owner(of: "a") == owner, "seed \(seed): the name is stolen")
        }
      }
      world.deliverAll()
      kept += world.desks[..<3].allSatisfy { $0.owner(of: "a") == owner } ? 1 : 0
    }
    #expect(kept == 2_000)
  }

  @Test("a claim that all have heard of holds the name, one that is repeated keeps its place, and one in vain ends")
  func settled() {
    var desk = NameDesk<Int>(of: 1)
    desk.joined(2)
    #expect(desk.greeted(2, instance: 7) == [])
    let effects = desk.claim("a", [.queues], 1)
    #expect(effects?.first == .tell(.claim(NameClaim("a", time: 1, .queues)), 2))
    #expect(!desk.holds("a") && desk.isWaiting(1))
    let held = desk.received(.heard(name: "a", time: 1), from: 2)
    #expect(held == [.heard(1), .tell(.claim(NameClaim("a", time: 1, [.queues, .holds])), 2)])
    #expect(desk.holds("a") && !desk.isWaiting(1))
    let again = desk.claim("a", [.allowsReplacement], 2)
    #expect(again == [.tell(.claim(NameClaim("a", time: 1, [.allowsReplacement, .holds])), 2)])
    #expect(desk.holds("a"))
    // Node 2 has heard of our claim, and states an earlier time.
    _ = desk.received(.claim(NameClaim("a", time: 0, [.holds, .queues])), from: 2)
    #expect(desk.owner(of: "a") == 1 && desk.holds("a"))
    _ = desk.received(.claim(NameClaim("b", time: 9, [.holds])), from: 2)
    let vain = desk.claim("b", [], 3) ?? []
    #expect(vain.contains(.heard(3)) && vain.contains(.tell(.release(name: "b"), 2)))
    #expect(desk.standing(for: "b") == .none)
  }

  @Test("of two that hold a name when they meet the later one gives way, and waits if it queues")
  func meeting() {
    for options in [NameClaim.Options.queues, []] {
      var desk = NameDesk<Int>(of: 1)
      _ = desk.greeted(3, instance: 1)
      _ = desk.received(.claim(NameClaim("z", time: 50, [])), from: 3)
      _ = desk.ended(3, isGone: true)
      _ = desk.claim("a", options, 1)
      #expect(desk.holds("a"))
      _ = desk.greeted(2, instance: 1)
      let effects = desk.received(.claim(NameClaim("a", time: 3, .holds)), from: 2)
      #expect(effects.contains(.changed(.owner(of: "a", from: 1, to: 2))))
      #expect(desk.standing(for: "a") == (options.isEmpty ? .none : .queued(1)))
      _ = desk.ended(2, isGone: true)
      #expect(desk.owner(of: "a") == (options.isEmpty ? nil : 1))
      #expect(desk.holds("a") == !options.isEmpty)
    }
  }

  @Test("a member that may not have a name is told so, and gets it in its turn once it may")
  func refusal() {
    var desk = NameDesk<Int>(of: 1)
    _ = desk.greeted(2, instance: 1)
    let claim = NameClaim("a", time: 4, [])
    let effects = desk.received(.claim(claim), from: 2, isAllowed: false)
    #expect(effects == [.tell(.heard(name: "a", time: 4), 2), .tell(.refused(name: "a", time: 4), 2)])
    #expect(desk.owner(of: "a") == nil && desk.names(claimedBy: 2) == ["a"])
    #expect(desk.reconsider(2, [:]) == [])
    #expect(desk.reconsider(2, ["a": true]) == [.changed(.owner(of: "a", from: nil, to: 2))])
    #expect(desk.reconsider(2, ["a": false]).first == .changed(.owner(of: "a", from: 2, to: nil)))
    for number in 0..<1_000 {
      _ = desk.received(.claim(NameClaim("n\(number)", time: 1, [])), from: 2, isAllowed: false)
    }
    #expect(desk.names(claimedBy: 2).count == NameClaims<Int>.limit)
    var other = NameDesk<Int>(of: 2)
    _ = other.greeted(1, instance: 1)
    _ = other.claim("a", [], 1)
    #expect(other.received(.refused(name: "a", time: 1), from: 1) == [.refused(name: "a", by: 1)])
    #expect(other.received(.refused(name: "a", time: 9), from: 1) == [], "of a claim that is no more")
  }
}
