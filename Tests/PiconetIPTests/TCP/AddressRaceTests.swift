import PiconetEngine
import Testing

@testable import PiconetIP

@Suite("Address race (RFC 8305)")
struct AddressRaceTests {
  let start = Instant(nanoseconds: 1_000_000_000)
  let refused = LinkFailure(.refused)

  func v4(_ last: UInt32) -> SocketAddress { SocketAddress(.ipv4(0xC000_0200 + last), port: 1) }
  func v6(_ last: UInt64) -> SocketAddress { SocketAddress(.ipv6(0x2001_0DB8 << 32, last, zone: 0), port: 1) }
  func at(_ milliseconds: Int) -> Instant { start + .milliseconds(milliseconds) }
  func loss(_ address: SocketAddress, _ failure: LinkFailure) -> AddressRace.Loss {
    AddressRace.Loss(subject: address.description, failure: failure)
  }

  @Test("families take turns, from the family of the first address, and the order within a family is kept")
  func interleaving() {
    var race = AddressRace()
    var opened: [SocketAddress] = []
    func note(_ effects: [AddressRace.Effect]) {
      for case .open(_, let address) in effects { opened.append(address) }
    }
    note(race.start([v6(1), v6(2), v6(3), v4(1), v4(2)], at: start))
    for step in 1...4 { note(race.deadlineReached(at: at(250 * step))) }
    #expect(opened == [v6(1), v4(1), v6(2), v4(2), v6(3)])
  }

  @Test("the second attempt starts after the delay, not a nanosecond before, and the first goes on")
  func attemptDelay() {
    var race = AddressRace()
    #expect(race.start([v6(1), v4(1)], at: start) == [.open(attempt: 0, v6(1))])
    #expect(race.nextDeadline == at(250))
    #expect(race.deadlineReached(at: Instant(nanoseconds: at(250).nanoseconds - 1)) == [])
    #expect(race.deadlineReached(at: at(250)) == [.open(attempt: 1, v4(1))])
    #expect(race.nextDeadline == at(10_000))
    #expect(
      race.connected(0, at: at(300)) == [.close(attempt: 1), .finished(.connected(attempt: 0))])
    #expect(race.nextDeadline == nil)
  }

  @Test("after a failure the next attempt starts at once")
  func nextAfterFailure() {
    var race = AddressRace()
    _ = race.start([v6(1), v4(1)], at: start)
    #expect(race.failed(0, refused, at: at(1)) == [.open(attempt: 1, v4(1))])
    #expect(
      race.failed(1, LinkFailure(.unreachable), at: at(2)) == [
        .finished(.failed([loss(v6(1), refused), loss(v4(1), LinkFailure(.unreachable))]))
      ])
  }

  @Test("the failure of an older attempt does not cut the head start of the newest")
  func olderFailure() {
    var race = AddressRace()
    _ = race.start([v6(1), v4(1), v6(2)], at: start)
    _ = race.deadlineReached(at: at(250))
    #expect(race.failed(0, refused, at: at(260)) == [])
    #expect(race.nextDeadline == at(500))
    #expect(race.failed(1, refused, at: at(270)) == [.open(attempt: 2, v6(2))])
  }

  @Test("at the time limit everything is closed, and every address has its reason")
  func timeLimit() {
    var configuration = AddressRace.Configuration()
    configuration.timeLimit = .milliseconds(300)
    var race = AddressRace(configuration)
    _ = race.start([v6(1), v4(1), v6(2)], unresolved: 1, at: start)
    _ = race.deadlineReached(at: at(250))
    #expect(race.nextDeadline == at(300))
    #expect(
      race.deadlineReached(at: at(300)) == [
        .close(attempt: 0), .close(attempt: 1),
        .finished(
          .failed([
            loss(v6(1), LinkFailure(.timedOut)), loss(v4(1), LinkFailure(.timedOut)),
            loss(v6(2), LinkFailure(.timedOut, "not tried in time")),
            AddressRace.Loss(subject: "name look-up", failure: LinkFailure(.timedOut)),
          ])),
      ])
  }

  @Test("addresses of a name join the race when they are known; it is not lost before")
  func names() {
    var race = AddressRace()
    #expect(race.start([v4(1)], unresolved: 2, at: start) == [.open(attempt: 0, v4(1))])
    #expect(race.failed(0, refused, at: at(1)) == [])
    #expect(race.resolved([v4(1), v6(1)], at: at(2)) == [.open(attempt: 1, v6(1))])
    let unknown = AddressRace.Loss(subject: "nobody:1", failure: LinkFailure(.unreachable))
    #expect(race.resolutionFailed(unknown, at: at(3)) == [])
    #expect(
      race.failed(1, refused, at: at(4)) == [
        .finished(.failed([loss(v4(1), refused), unknown, loss(v6(1), refused)]))
      ])
  }

  @Test("addresses that can't be dialled are losses at once; no address at all is a failure at once")
  func undialable() {
    var race = AddressRace()
    let bare = SocketAddress(.ipv6(0xFE80 << 48, 1, zone: 0), port: 9)
    let group = SocketAddress(.ipv4(0xE000_00FB), port: 9)
    guard case .finished(.failed(let losses))? = race.start([bare, group, v4(1).with(port: 0)], at: start).first
    else {
      Issue.record("not finished")
      return
    }
    #expect(losses.map(\.failure.code) == [.notAvailable, .notAvailable, .notAvailable])
    var empty = AddressRace()
    #expect(empty.start([], at: start) == [.finished(.failed([]))])
  }

  @Test("equal addresses are tried once, and no more addresses than the limit")
  func limit() {
    var configuration = AddressRace.Configuration()
    configuration.addressLimit = 3
    var race = AddressRace(configuration)
    var effects = race.start([v4(1), v4(1), v4(2), v4(1), v4(3), v4(4), v4(5)], at: start)
    var opened: [SocketAddress] = []
    while case .open(let attempt, let address)? = effects.first {
      opened.append(address)
      effects = race.failed(attempt, refused, at: start)
    }
    #expect(opened == [v4(1), v4(2), v4(3)])
  }

  enum State: CaseIterable { case idle, racing, resolving, finished }
  enum Input: CaseIterable {
    case start, resolved, resolutionFailed, connectedOpen, connectedUnknown, failedOpen, failedUnknown, early, limit
    case cancel
  }

  @Test("every fact in every state", arguments: State.allCases, Input.allCases)
  func table(state: State, input: Input) {
    var race = AddressRace()
    switch state {
    case .idle: break
    case .racing: _ = race.start([v4(1), v6(1)], at: start)
    case .resolving:
      _ = race.start([v4(1)], unresolved: 1, at: start)
    case .finished:
      _ = race.start([v4(1)], at: start)
      _ = race.failed(0, refused, at: start)
    }
    let unknown = AddressRace.Loss(subject: "n", failure: LinkFailure(.unreachable))
    let effects =
      switch input {
      case .start: race.start([v4(7)], at: at(1))
      case .resolved: race.resolved([v6(9)], at: at(1))
      case .resolutionFailed: race.resolutionFailed(unknown, at: at(1))
      case .connectedOpen: race.connected(0, at: at(1))
      case .connectedUnknown: race.connected(5, at: at(1))
      case .failedOpen: race.failed(0, refused, at: at(1))
      case .failedUnknown: race.failed(5, refused, at: at(1))
      case .early: race.deadlineReached(at: at(1))
      case .limit: race.deadlineReached(at: at(10_000))
      case .cancel: race.cancel()
      }
    let expected: [AddressRace.Effect] =
      switch (state, input) {
      case (.idle, .start): [.open(attempt: 0, v4(7))]
      case (.idle, .cancel): [.finished(.cancelled)]
      case (.racing, .connectedOpen), (.resolving, .connectedOpen): [.finished(.connected(attempt: 0))]
      case (.racing, .failedOpen): [.open(attempt: 1, v6(1))]
      case (.racing, .cancel), (.resolving, .cancel): [.close(attempt: 0), .finished(.cancelled)]
      case (.racing, .limit):
        [
          .close(attempt: 0),
          .finished(
            .failed([
              loss(v4(1), LinkFailure(.timedOut)), loss(v6(1), LinkFailure(.timedOut, "not tried in time")),
            ])),
        ]
      case (.resolving, .limit):
        [
          .close(attempt: 0),
          .finished(
            .failed([
              loss(v4(1), LinkFailure(.timedOut)),
              AddressRace.Loss(subject: "name look-up", failure: LinkFailure(.timedOut)),
            ])),
        ]
      default: []
      }
    #expect(effects == expected)
  }

  @Test("in five thousand random races there is exactly one finish, and no attempt is left open")
  func property() {
    for seed in 0..<5000 as Range<UInt64> {
      if let complaint = randomRace(seed) {
        Issue.record("seed \(seed): \(complaint)")
        return
      }
    }
  }

  /// One race in a world in which each address connects, fails or stays silent after a random time, with late and false
  /// reports in between.
  /// - Returns: what is wrong, or nil.
  func randomRace(_ seed: UInt64) -> String? {
    var dice = SeededRandom(seed: seed)
    var race = AddressRace()
    var now = start
    var open: [Int: (when: Instant, connects: Bool)] = [:]
    var everOpened: Set<Int> = []
    var addresses: Set<SocketAddress> = []
    var finishes = 0
    var winner: Int?
    var complaint: String?

    func perform(_ effects: [AddressRace.Effect]) {
      for effect in effects {
        if finishes > 0 { complaint = "an effect after the finish" }
        switch effect {
        case .open(let attempt, let address):
          if !everOpened.insert(attempt).inserted { complaint = "attempt number used twice" }
          if !addresses.insert(address).inserted { complaint = "address tried twice" }
          let delay = Duration.milliseconds(Int(dice.next() % 600))
          open[attempt] = (dice.next() % 5 == 0 ? .init(nanoseconds: .max) : now + delay, dice.next() % 4 == 0)
        case .close(let attempt):
          if open.removeValue(forKey: attempt) == nil { complaint = "closed what was not open" }
        case .finished(let outcome):
          finishes += 1
          if case .connected(let attempt) = outcome { winner = attempt }
          if case .failed(let losses) = outcome, losses.isEmpty, !everOpened.isEmpty { complaint = "no reason" }
        }
      }
    }

    let known = (0..<dice.next() % 6).map { _ in
      dice.next() % 2 == 0 ? v4(UInt32(dice.next() % 8)) : v6(dice.next() % 8)
    }
    var names = Int(dice.next() % 3)
    perform(race.start(known, unresolved: names, at: now))
    var steps = 0
    while finishes == 0 && complaint == nil {
      steps += 1
      if steps > 1000 { return "no end" }
      // The next thing that happens: a timer, an attempt's result, a name, or noise.
      let nextResult = open.min { ($0.value.when, $0.key) < ($1.value.when, $1.key) }
      guard let deadline = race.nextDeadline else { return "nothing to wait for" }
      switch dice.next() % 8 {
      case 0 where names > 0:
        names -= 1
        let fresh = (0..<dice.next() % 4).map { _ in v6(dice.next() % 12) }
        perform(
          dice.next() % 3 == 0
            ? race.resolutionFailed(AddressRace.Loss(subject: "n", failure: refused), at: now)
            : race.resolved(fresh, at: now))
      case 1: perform(race.failed(1000, refused, at: now))
      case 2: perform(race.deadlineReached(at: now))
      case 3 where dice.next() % 40 == 0: perform(race.cancel())
      default:
        if let nextResult, nextResult.value.when <= deadline {
          now = max(now, nextResult.value.when)
          if nextResult.value.connects {
            perform(race.connected(nextResult.key, at: now))
          } else {
            open[nextResult.key] = nil
            perform(race.failed(nextResult.key, refused, at: now))
          }
        } else {
          now = max(now, deadline)
          perform(race.deadlineReached(at: now))
        }
      }
    }
    // Late facts of every kind.
    perform(race.connected(0, at: now) + race.failed(0, refused, at: now) + race.cancel())
    perform(race.resolved([v4(77)], at: now) + race.deadlineReached(at: now + .seconds(60)))
    if let winner {
      if open.removeValue(forKey: winner) == nil { return "the winner was closed" }
    }
    if !open.isEmpty { return "attempts left open: \(open.keys)" }
    if finishes != 1 { return "\(finishes) finishes" }
    if now > start + .seconds(10) { return "ended late" }
    return complaint
  }
}

extension SocketAddress {
  func with(port: UInt16) -> SocketAddress { SocketAddress(host, port: port) }
}
