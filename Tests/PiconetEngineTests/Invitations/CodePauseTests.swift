import Testing

@testable import PiconetEngine

@Suite("The pause after a wrong code, in words")
struct CodePauseTests {
  @Test("is read as it was written, to the millisecond")
  func roundTrip() {
    for milliseconds in [0, 1, 10, 999, 1_000, 1_001, 1_010, 1_100, 1_234, 60_000, 299_999, 3_600_000] {
      let pause = CodePause(.milliseconds(milliseconds))
      #expect(CodePause(words: pause.words) == pause, "\(pause.words)")
    }
    #expect(CodePause(.milliseconds(1_500)).words == "tries were wrong before: the next one is taken in 1.5 s")
  }

  @Test("any other words give no pause, whatever a peer writes")
  func others() {
    let beginning = "tries were wrong before: the next one is taken in "
    for words in [
      "", "2 s", beginning, beginning + "s", beginning + " s", beginning + "2", beginning + "2s", beginning + "2 s ",
      beginning + "-2 s", beginning + "+2 s", beginning + "2 m", beginning + "2. s", beginning + ".5 s",
      beginning + "1.2345 s", beginning + "1.-5 s", beginning + "1.5.5 s", beginning + "1.5 ms", beginning + "1 ms s",
      beginning + "99999999999999999999 s", beginning + "1000001 s", beginning + "٢ s",
      "the code is over after 3 wrong tries",
    ] { #expect(CodePause(words: words) == nil, "\(words)") }
  }
}
