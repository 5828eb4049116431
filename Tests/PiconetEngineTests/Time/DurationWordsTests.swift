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
}
