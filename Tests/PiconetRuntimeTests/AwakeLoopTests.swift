import PiconetEngine
import PiconetRuntime
import TestSupport
import Testing

@Suite("A loop whose process did not run for a while", .timeLimit(.minutes(15)))
struct AwakeLoopTests {
  @Test("its awake time goes on where it stood, and a timer of that time is not over", arguments: [30, 300, 432_000])
  func gap(length: Int) async throws {
    let clock = ManualClock()
    try await withLoop(clock: clock) { loop, actor in
      await actor.run { actor in
        let end = loop.awakeTime + .seconds(10)
        var timer: LoopTimer?
        timer = LoopTimer(loop: loop) { [unowned actor] in
          actor.assumeIsolated { $0.log.append(loop.awakeTime < end ? "early" : "over") }
          timer?.set(awake: loop.awakeTime < end ? end : nil)
        }
        timer?.set(awake: end)
        if let timer { actor.keep(timer) }
      }
      clock.advance(by: .seconds(length))
      #expect(await actor.run { $0.log } == ["early"])
      clock.advance(by: .seconds(10) - .nanoseconds(1))
      #expect(await actor.run { $0.log } == ["early"])
      clock.advance(by: .nanoseconds(1))
      #expect(await actor.run { $0.log } == ["early", "over"])
    }
  }
}
