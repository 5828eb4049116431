import Testing

@testable import PiconetCommandLine

@Suite("An attempt is given up after a while without a step of the other side")
struct AttemptTimerTests {
  /// Waits until the timer gives up; false if it is ended first.
  private func givesUp(_ timer: AttemptTimer) async -> Bool {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    timer.begin { continuation.finish() }
    for await _ in stream {}
    return timer.isOver
  }

  @Test("what a person here takes does not count, and the time begins anew behind the answer")
  func pause() async {
    let asked = AttemptTimer(.milliseconds(5))
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    asked.pause()
    asked.begin { continuation.finish() }
    #expect(await givesUp(AttemptTimer(.milliseconds(50))))
    #expect(!asked.isOver, "somebody thinks")
    asked.resume()
    for await _ in stream {}
    #expect(asked.isOver)
  }

  @Test("an attempt that has its outcome is not given up, whatever is answered then")
  func end() async {
    let ended = AttemptTimer(.milliseconds(5))
    ended.begin { Issue.record("it was given up") }
    ended.end()
    ended.resume()
    #expect(await givesUp(AttemptTimer(.milliseconds(50))))
    #expect(!ended.isOver)
  }
}
