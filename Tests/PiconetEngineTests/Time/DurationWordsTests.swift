import PiconetEngine
import Testing

@Suite("Durations in words")
struct DurationWordsTests {
  @Test(
    "whole seconds have no decimals, others as many as they need",
    arguments: [
      (30_000, "30 s"), (1_500, "1.5 s"), (1_050, "1.05 s"), (1_001, "1.001 s"), (100, "100 ms"), (999, "999 ms"),
      (0, "0 s"),
      (1_000, "1 s"), (100_000, "100 s"),
    ])
  func words(milliseconds: Int, words: String) { #expect(Duration.milliseconds(milliseconds).inWords == words) }

  @Test(
    "a time that is left is told as people say it, rounded up",
    arguments: [
      (0, "1 second"), (1_000, "1 second"), (1_001, "2 seconds"), (59_000, "59 seconds"), (59_001, "1 minute"),
      (61_000, "2 minutes"), (3_540_000, "59 minutes"), (3_540_001, "1 hour"), (3_600_000, "1 hour"),
      (3_600_001, "1 hour 1 minute"), (7_260_000, "2 hours 1 minute"), (9_000_000, "2 hours 30 minutes"),
    ])
  func spoken(milliseconds: Int, words: String) { #expect(Duration.milliseconds(milliseconds).spoken == words) }
}
