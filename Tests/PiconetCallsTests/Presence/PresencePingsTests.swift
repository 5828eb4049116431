import PiconetCalls
import Testing

private typealias Pings = PresencePings<Int, String>

/// Effects in words.
private func words(_ effects: [Pings.Effect]) -> [String] {
  effects.map { effect in
    switch effect {
    case .ping(let target, let number): "ping \(target) \(number)"
    case .changed(let target, .present): "\(target) present"
    case .changed(let target, .absent(let reason)): "\(target) absent: \(reason ?? "silent")"
    case .changed(let target, .unknown): "\(target) unknown"
    }
  }
}

@Suite("Pings of a group")
struct PresencePingsTests {
  @Test("each is pinged at once and then at its interval, and told of when its presence changes")
  func intervals() {
    var pings = Pings(every: .seconds(10), within: .seconds(5))
    #expect(words(pings.add(1, at: .seconds(1)) ?? []) == ["ping 1 1"])
    #expect(pings.presence(of: 1)?.isPresent == nil && pings.presence(of: 2) == nil)
    #expect(words(pings.ended(1, .answered, at: .seconds(2))) == ["1 present"])
    #expect(pings.nextDeadline == .seconds(11))
    #expect(words(pings.expired(at: .seconds(10))) == [])
    #expect(words(pings.expired(at: .seconds(11))) == ["ping 1 2"])
    #expect(words(pings.ended(2, .answered, at: .seconds(12))) == [], "it was there before")
    #expect(words(pings.expired(at: .seconds(21))) == ["ping 1 3"])
    #expect(words(pings.ended(3, .failed("no such object"), at: .seconds(21))) == ["1 absent: no such object"])
    #expect(words(pings.isGone(1, "left")) == [], "it is known")
    guard case .absent("left")? = pings.presence(of: 1) else {
      Issue.record("the latest reason is not known")
      return
    }
  }

  @Test("an answer that is late makes it absent, and present when it comes; no second ping is under way meanwhile")
  func late() {
    var pings = Pings(every: .seconds(2), within: .seconds(5))
    _ = pings.add(1, at: .zero)
    #expect(pings.nextDeadline == .seconds(5))
    #expect(words(pings.expired(at: .seconds(5))) == ["1 absent: silent"])
    #expect(pings.nextDeadline == nil, "the ping has not ended")
    #expect(words(pings.ask(1, at: .seconds(6))) == [])
    #expect(words(pings.ended(1, .answered, at: .seconds(7))) == ["1 present", "ping 1 2"])
    #expect(words(pings.ended(1, .answered, at: .seconds(7))) == [], "it has ended before")
  }

  @Test("what is asked for is asked at once, what was not tried shows nothing, what is removed is told of no more")
  func asking() {
    var pings = Pings(every: .seconds(10), within: .seconds(5))
    _ = pings.add(1, at: .zero)
    #expect(words(pings.ended(1, .untried, at: .zero)) == [])
    #expect(pings.presence(of: 1)?.isPresent == nil)
    #expect(words(pings.ask(1, at: .seconds(1))) == ["ping 1 2"])
    #expect(words(pings.ask(1, at: .seconds(2))) == [])
    #expect(words(pings.ended(2, .answered, at: .seconds(3))) == ["1 present", "ping 1 3"], "it was asked for again")
    #expect(words(pings.isGone(1, "left")) == ["1 absent: left"])
    pings.remove(1)
    #expect(words(pings.ended(3, .answered, at: .seconds(4))) == [])
    #expect(words(pings.isGone(1, "left") + pings.ask(1, at: .seconds(5))) == [])
    #expect(pings.nextDeadline == nil && pings.targets.isEmpty)
  }

  @Test("a group has a limit")
  func limit() {
    var pings = Pings(every: .seconds(10), within: .seconds(5))
    for number in 0..<Pings.countLimit { #expect(pings.add(number, at: .zero)?.count == 1) }
    #expect(pings.add(-1, at: .zero) == nil)
    #expect(pings.add(0, at: .zero)?.isEmpty == true, "it is there already")
    pings.remove(0)
    #expect(pings.add(-1, at: .zero)?.count == 1)
  }

  /// A group whose targets come and go, in virtual time.
  private struct World {
    var dice: Dice
    var now = Duration.zero
    var pings: Pings
    var isThere = [true, false, true, true]
    /// Pings under way: their targets, their ends, and whether they get an answer.
    var underWay: [UInt64: (target: Int, end: Duration, isAnswered: Bool)] = [:]
    var told: [Int: Bool] = [:]
    var faults: [String] = []

    init(seed: UInt64) {
      dice = Dice(state: seed)
      pings = Pings(
        every: .milliseconds(Int.random(in: 10...3_000, using: &dice)),
        within: .milliseconds(Int.random(in: 10...3_000, using: &dice)))
    }

    mutating func perform(_ effects: [Pings.Effect]) {
      for effect in effects {
        switch effect {
        case .ping(let target, let number):
          if underWay.values.contains(where: { $0.target == target && pings.targets.contains(target) && !isLeft($0) }) {
            faults.append("two pings of \(target)")
          }
          let isAnswered = isThere[target]
          let time = isAnswered ? Duration.milliseconds(Int.random(in: 0...8, using: &dice)) : pings.limit
          underWay[number] = (target, now + time, isAnswered)
        case .changed(let target, let presence):
          if !pings.targets.contains(target) { faults.append("\(target) is told of and not watched") }
          if told[target] == presence.isPresent { faults.append("\(target) is told of twice") }
          told[target] = presence.isPresent
        }
      }
    }

    /// Of a target that was removed while it was under way, and added again.
    var left: Set<UInt64> = []
    func isLeft(_ ping: (target: Int, end: Duration, isAnswered: Bool)) -> Bool {
      underWay.contains { left.contains($0.key) && $0.value.target == ping.target && $0.value.end == ping.end }
    }

    mutating func pass(_ time: Duration) {
      let end = now + time
      var steps = 0
      while true {
        let ping = underWay.min { ($0.value.end, $0.key) < ($1.value.end, $1.key) }
        guard let next = [ping?.value.end, pings.nextDeadline].compactMap({ $0 }).min(), next <= end else { break }
        now = max(now, next)
        steps += 1
        guard steps < 100_000 else { return faults.append("it never rests") }
        if let ping, ping.value.end <= now {
          underWay[ping.key] = nil
          perform(pings.ended(ping.key, ping.value.isAnswered ? .answered : .failed("silent"), at: now))
        } else {
          perform(pings.expired(at: now))
        }
      }
      now = end
    }
  }

  @Test("no seed tells of one twice, pings one twice at once, or is wrong about one for longer than it may be")
  func seeds() {
    for seed in 0..<1_000 as Range<UInt64> {
      var world = World(seed: seed)
      for _ in 0..<40 {
        let target = Int.random(in: 0...3, using: &world.dice)
        switch Int.random(in: 0...5, using: &world.dice) {
        case 0: world.perform(world.pings.add(target, at: world.now) ?? [])
        case 1:
          world.pings.remove(target)
          world.told[target] = nil
          world.left.formUnion(world.underWay.filter { $0.value.target == target }.keys)
        case 2: world.isThere[target].toggle()
        case 3: world.perform(world.pings.ask(target, at: world.now))
        default: world.pass(.milliseconds(Int.random(in: 0...2_000, using: &world.dice)))
        }
      }
      // Long enough for the end of a ping that was begun before the last change, and for one more.
      world.pass(world.pings.interval + world.pings.limit * 2 + .seconds(1))
      for target in world.pings.targets {
        #expect(world.told[target] == world.isThere[target], "seed \(seed): \(target)")
      }
      #expect(world.faults.isEmpty, "seed \(seed): \(world.faults)")
    }
  }
}
