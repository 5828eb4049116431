import PiconetEngine
import Testing

@testable import PiconetRuntime

@Suite("Which nodes of a host may scan while another one sends")
struct RadioShareTests {
  private typealias Share = RadioShare<Int>
  private let start = Instant(nanoseconds: 1_000_000_000)

  /// The share of nodes 0 and 1, of which 0 sends.
  private func sending() -> Share {
    var share = Share()
    share.add(0)
    share.add(1)
    _ = share.waited(0, at: start)
    return share
  }

  @Test("a search that begins while a sibling sends has its turn at once, and the next one after the interval")
  func turns() {
    var share = sending()
    #expect(share.access(of: 1, at: start) == .busy, "it does not search")
    share.searches(1, true, at: start)
    #expect(share.access(of: 1, at: start) == .turn)
    #expect(share.nextDeadline(at: start) == start + Share.turn)
    _ = share.waited(0, at: start + .seconds(1))
    share.settle(at: start + Share.turn)
    #expect(share.access(of: 1, at: start + Share.turn) == .busy)
    for second in 2...19 { _ = share.waited(0, at: start + .seconds(second)) }
    #expect(share.nextDeadline(at: start + .seconds(19)) == start + Share.interval)
    share.settle(at: start + Share.interval)
    #expect(share.access(of: 1, at: start + Share.interval) == .turn)
  }

  @Test("a node that sends has no turn itself, however long it searches")
  func sender() {
    var share = sending()
    share.searches(0, true, at: start)
    #expect(share.access(of: 0, at: start) == .busy)
    share.searches(1, true, at: start)
    #expect(share.access(of: 0, at: start) == .busy && share.access(of: 1, at: start) == .turn)
  }

  @Test("a dial ends a turn, and what is left of it comes a moment after the dial")
  func dial() {
    var share = sending()
    share.searches(1, true, at: start)
    let dialled = start + .milliseconds(500)
    share.began(0, at: dialled)
    #expect(share.access(of: 1, at: dialled) == .busy)
    let over = dialled + .seconds(3)
    share.ended(0, at: over)
    #expect(share.access(of: 1, at: over) == .busy, "mostly a handshake follows")
    #expect(share.nextDeadline(at: over) == over + Share.settling)
    let settled = over + Share.settling
    share.settle(at: settled)
    #expect(share.access(of: 1, at: settled) == .turn)
    #expect(share.nextDeadline(at: settled) == settled + (Share.turn - .milliseconds(500)))
  }

  @Test("a handshake of an accepted link that stalls ends a turn, and 2 s later turns go on")
  func stalledHandshake() {
    var share = sending()
    share.searches(1, true, at: start)
    let accepted = start + .milliseconds(500)
    share.acceptedBegan(0, at: accepted)
    #expect(share.access(of: 1, at: accepted) == .busy)
    let over = accepted + RadioUse.accepted
    _ = share.waited(0, at: accepted + .seconds(1))
    #expect(share.nextDeadline(at: accepted) == over)
    share.settle(at: over)
    _ = share.waited(0, at: over)
    #expect(share.access(of: 1, at: over) == .turn)
    #expect(share.nextDeadline(at: over) == over + (Share.turn - .milliseconds(500)))
  }

  @Test("a node that stops in its transfer, or in its dial, frees the radio for the others after the hold")
  func removal() {
    var share = sending()
    share.began(0, at: start)
    share.acceptedBegan(0, at: start)
    share.remove(0, at: start)
    #expect(share.access(of: 1, at: start) == .busy)
    #expect(share.nextDeadline(at: start + Share.settling) == start + RadioUse.hold)
    #expect(share.access(of: 1, at: start + RadioUse.hold) == .free)
  }

  /// Node 0 dials for a second and pauses for one, again and again, from `start`.
  /// - Returns: when it had a turn, in seconds from `start`, in steps of a tenth.
  private func turnsBetweenDials(of share: inout Share, for seconds: Int) -> [Double] {
    var turns: [Double] = []
    for tenth in 0..<seconds * 10 {
      let now = start + .milliseconds(tenth * 100)
      share.settle(at: now)
      if tenth % 20 == 0 { share.began(0, at: now) }
      if tenth % 20 == 10 { share.ended(0, at: now) }
      if share.access(of: 0, at: now) == .turn { turns.append(Double(tenth) / 10) }
    }
    return turns
  }

  @Test("a node that dials a lost member over and over scans between its dials, once no node has for the interval")
  func dialling() {
    var share = Share()
    share.add(0)
    share.searches(0, true, at: start)
    let turns = turnsBetweenDials(of: &share, for: 60)
    #expect(turns.first == 21.3, "the pause that follows the interval, and settling")
    #expect(turns.filter { $0 < 40 }.count == 20, "the whole turn, in pieces: \(turns)")
    #expect(turns.first { $0 > 30 } == 41.3, "the next one follows the interval: \(turns)")
  }

  @Test("a node that dials and sends has no turn, nor has one that dials and does not search")
  func diallingAndSending() {
    var share = Share()
    share.add(0)
    #expect(turnsBetweenDials(of: &share, for: 60).isEmpty)
    share = Share()
    share.add(0)
    share.searches(0, true, at: start)
    share.began(0, at: start)
    for second in 0..<60 {
      let now = start + .seconds(second)
      share.ended(0, at: now)
      _ = share.waited(0, at: now)
      share.settle(at: now + .milliseconds(500))
      #expect(share.access(of: 0, at: now + .milliseconds(500)) == .busy)
      share.began(0, at: now + .milliseconds(600))
    }
  }

  @Test("a moment in which the radio was free counts as one in which a node that dials could have scanned")
  func freeMoment() {
    var share = Share()
    share.add(0)
    share.searches(0, true, at: start)
    share.began(0, at: start)
    share.ended(0, at: start + .seconds(15))
    // No call looks at the clock during the hold.
    let again = start + .seconds(15) + RadioUse.hold
    share.began(0, at: again)
    share.ended(0, at: again + .seconds(10))
    let settled = again + .seconds(10) + Share.settling
    share.settle(at: settled)
    #expect(share.access(of: 0, at: settled) == .busy)
  }

  /// Random uses by four nodes, of which only the first two dial and send, and a clock that stops at each deadline.
  private struct World {
    var dice: SeededRandom
    var share = Share()
    var now = Instant(nanoseconds: 1_000_000_000)
    var open = [0, 0, 0, 0]
    /// Handshakes of accepted links, for each node: most of them stall. Some count, for at most 2 s in every 10 s.
    var accepted = [0, 0, 0, 0]
    var acceptedSince: Instant?
    /// Which nodes have a link that waits for room, and on which something moves each second.
    var sends = [false, false, false, false]
    /// The time of the last use: nothing has happened since.
    var lastUse = Instant(nanoseconds: 0)
    var searches = [false, false, false, false]
    /// When the last dial has been over for long enough for a turn.
    var settledAt = Instant(nanoseconds: 0)
    /// For how much of the time that has passed a node had a turn.
    var turned = Duration.zero
    var passed = Duration.zero
    /// How long each has waited without a break for a turn that it could have had.
    var waited = [Duration](repeating: .zero, count: 4)

    init(seed: UInt64) {
      dice = SeededRandom(seed: seed)
      for node in 0..<4 { share.add(node) }
    }

    mutating func act() {
      let node = Int.random(in: 0..<4, using: &dice)
      lastUse = now
      switch Int.random(in: 0..<11, using: &dice) {
      case 0 where open.reduce(0, +) == 0:
        share.began(node % 2, at: now)
        open[node % 2] += 1
      case 1, 2, 3:
        guard let dialling = open.firstIndex(where: { $0 > 0 }) else { break }
        share.ended(dialling, at: now)
        open[dialling] -= 1
        settledAt = now + Share.settling
      case 4 where node < 2:
        sends[node] = true
      // There is no reader any more.
      case 5: sends[node] = false
      case 6: _ = share.moved([200, 3000, 20_000].randomElement(using: &dice) ?? 0, by: node % 2, at: now)
      case 7, 8:
        searches[node].toggle()
        share.searches(node, searches[node], at: now)
      case 9:
        share.acceptedBegan(node % 2, at: now)
        accepted[node % 2] += 1
        if acceptedSince.map({ now >= $0 + .seconds(10) }) ?? true { acceptedSince = now }
      case 10 where accepted[node] > 0:
        if isAccepting { settledAt = max(settledAt, now + Share.settling) }
        share.acceptedEnded(node, at: now)
        accepted[node] -= 1
      default: break
      }
    }

    /// Whether a handshake of an accepted link counts.
    var isAccepting: Bool {
      accepted != [0, 0, 0, 0] && acceptedSince.map { now < $0 + .seconds(2) } ?? false
    }

    /// - Returns: what is wrong.
    mutating func pass(_ duration: Duration) -> String? {
      let end = now + duration
      while now < end {
        for node in 0..<4 where sends[node] {
          _ = share.waited(node, at: now)
          lastUse = now
        }
        let access = (0..<4).map { share.access(of: $0, at: now) }
        let isOpen = isAccepting || open.contains { $0 > 0 }
        if isOpen, access != [.busy, .busy, .busy, .busy] { return "a scan beside a dial" }
        for node in 0..<4 where sends[node] && access[node] != .busy { return "\(node) scans while it sends" }
        for node in 0..<4 where access[node] == .turn && !searches[node] { return "a turn for nobody" }
        let next = share.nextDeadline(at: now)
        if let next, next <= now { return "a deadline that has passed" }
        if !isOpen, now >= lastUse + .seconds(2), access.contains(where: { $0 != .free }) {
          return "busy though nothing moves"
        }
        let until = min(end, next ?? end, sends.contains(true) ? now + .seconds(1) : end)
        // Nothing changes in between: looks again just before the end.
        let last = Instant(nanoseconds: until.nanoseconds - 1)
        if (0..<4).map({ share.access(of: $0, at: last) }) != access { return "a change without a deadline" }
        let step = until - now
        passed += step
        if access.contains(.turn) { turned += step }
        let isDialled = isOpen || now < settledAt
        for node in 0..<4 {
          let waits = searches[node] && access[node] == .busy && node >= 2 && !isDialled
          waited[node] = waits ? waited[node] + step : access[node] == .busy && isDialled ? waited[node] : .zero
          if waited[node] > Share.interval { return "\(node) waits for \(waited[node])" }
        }
        now = until
        share.settle(at: now)
      }
      if turned > Share.turn + passed / 10 { return "\(turned) of \(passed) are turns" }
      return nil
    }
  }

  @Test("thousands of seeds: turns are a tenth of the time, come within the interval, and never beside a dial")
  func seeds() {
    for seed in UInt64(0)..<4000 {
      var world = World(seed: seed)
      for _ in 0..<60 {
        world.act()
        let passing = Duration.milliseconds(Int.random(in: 1..<4000, using: &world.dice))
        if let wrong = world.pass(passing) {
          Issue.record("seed \(seed): \(wrong)")
          return
        }
      }
    }
  }
}
