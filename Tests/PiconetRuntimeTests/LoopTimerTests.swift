import PiconetEngine
import PiconetRuntime
import TestSupport
import Testing

@Suite("Timers on a loop", .timeLimit(.minutes(15)))
struct LoopTimerTests {
  @Test("timers fire in the order of their deadlines, equal ones in the order in which they were set")
  func order() async throws {
    let clock = ManualClock()
    try await withLoop(clock: clock) { loop, actor in
      await actor.run { actor in
        for milliseconds in [30, 10, 20, 10, 40] {
          let number = actor.kept.count
          let timer = LoopTimer(loop: loop) { [unowned actor] in
            actor.assumeIsolated { $0.log.append("\(milliseconds) \(number)") }
          }
          timer.set(after: .milliseconds(milliseconds))
          actor.keep(timer)
        }
      }
      #expect(await actor.run { $0.log } == [])
      clock.advance(by: .milliseconds(30))
      #expect(await actor.run { $0.log } == ["10 1", "10 3", "20 2", "30 0"])
      clock.advance(by: .milliseconds(30))
      #expect(await actor.run { $0.log }.last == "40 4")
    }
  }

  @Test("a timer does not fire one nanosecond early, and can be moved and cleared, also by another that is due with it")
  func movedAndCleared() async throws {
    let clock = ManualClock()
    try await withLoop(clock: clock) { loop, actor in
      await actor.run { actor in
        let victim = LoopTimer(loop: loop) { [unowned actor] in actor.assumeIsolated { $0.log.append("victim") } }
        let killer = LoopTimer(loop: loop) { [unowned actor] in
          actor.assumeIsolated { $0.log.append("killer") }
          victim.set(nil)
        }
        let moved = LoopTimer(loop: loop) { [unowned actor] in actor.assumeIsolated { $0.log.append("moved") } }
        killer.set(after: .milliseconds(10))
        victim.set(after: .milliseconds(10))
        moved.set(after: .milliseconds(1))
        moved.set(after: .milliseconds(20))
        actor.kept = [victim, killer, moved]
      }
      clock.advance(by: .nanoseconds(9_999_999))
      #expect(await actor.run { $0.log } == [])
      clock.advance(by: .nanoseconds(1))
      #expect(await actor.run { $0.log } == ["killer"])
      clock.advance(by: .milliseconds(10))
      #expect(await actor.run { $0.log } == ["killer", "moved"])
    }
  }

  @Test("a timer that is set to the past again and again starves no other")
  func noStarvation() async throws {
    let clock = ManualClock()
    try await withLoop(clock: clock) { loop, actor in
      let gate = Gate()
      await actor.run { actor in
        let greedy = LoopTimer(loop: loop) { [unowned actor] in
          actor.assumeIsolated { actor in (actor.kept.first as? LoopTimer)?.set(Instant(nanoseconds: 0)) }
        }
        let other = LoopTimer(loop: loop) { gate.open() }
        actor.kept = [greedy, other]
        greedy.set(Instant(nanoseconds: 0))
        other.set(after: .milliseconds(1))
      }
      clock.advance(by: .milliseconds(2))
      await gate.wait()
      await actor.run { actor in (actor.kept.first as? LoopTimer)?.set(nil) }
    }
  }

  @Test("a thousand timers set, moved and cleared by a seeded dice fire exactly as a sorted list says")
  func againstAModel() async throws {
    for seed in 0..<20 as Range<UInt64> {
      let clock = ManualClock(now: Instant(nanoseconds: 0))
      try await withLoop(clock: clock) { loop, actor in
        let expected = await actor.run { actor -> [String] in
          var dice = SeededRandom(seed: seed)
          var model: [Int: (UInt64, Int)] = [:]
          let timers = (0..<100).map { number in
            LoopTimer(loop: loop) { [unowned actor] in actor.assumeIsolated { $0.log.append("\(number)") } }
          }
          for step in 0..<1000 {
            let number = Int(dice.next() % 100)
            if dice.next() % 4 == 0 {
              timers[number].set(nil)
              model[number] = nil
            } else {
              let deadline = 1 + dice.next() % 50
              if model[number]?.0 != deadline { model[number] = (deadline, step) }
              timers[number].set(Instant(nanoseconds: deadline))
            }
          }
          actor.kept = timers
          return model.sorted { $0.value < $1.value }.map { "\($0.key)" }
        }
        clock.advance(by: .nanoseconds(100))
        #expect(await actor.run { $0.log } == expected)
      }
    }
  }

  @Test("on the system's clock a timer never fires before its deadline")
  func neverEarly() async throws {
    try await withLoop { loop, actor in
      let gate = Gate()
      await actor.run { actor in
        for microseconds in [1, 100, 999, 1001, 2500] {
          let deadline = loop.now + .microseconds(microseconds)
          let timer = LoopTimer(loop: loop) { [unowned actor] in
            #expect(loop.now >= deadline)
            actor.assumeIsolated { actor in
              actor.log.append("")
              if actor.log.count == 5 { gate.open() }
            }
          }
          timer.set(deadline)
          actor.keep(timer)
        }
      }
      await gate.wait()
    }
  }
}
