import Testing

@testable import PiconetCommandLine

private let half = ProgressBar(
  name: "sunset.jpg", done: 24_000, total: 48_000, bytesPerSecond: 1_200_000, timeLeft: .seconds(12))

@Suite("The progress bar")
struct ProgressBarTests {
  @Test("shows name, bar, percentage, rate and time left")
  func whole() {
    #expect(
      half.line(columns: 80, unicode: true)
        == "sunset.jpg                    ━━━━━━━━━━╸··········   50%  1.2 MB/s   0:12 left")
    #expect(
      half.line(columns: 80, unicode: false)
        == "sunset.jpg                    [========>          ]   50%  1.2 MB/s   0:12 left")
  }

  @Test("gives up the bar, then rate and time, when the terminal is narrow")
  func narrow() {
    #expect(half.line(columns: 45, unicode: true) == "sunset.jpg         50%  1.2 MB/s   0:12 left")
    #expect(half.line(columns: 24, unicode: true) == "sunset.jpg          50%")
    #expect(half.line(columns: 4, unicode: true) == " …%")
    #expect(half.line(columns: 0, unicode: true) == "")
  }

  @Test(
    "never fills its last column, whatever the width, name and state", arguments: [true, false])
  func fits(unicode: Bool) {
    let names = ["a", "写真の名前がとても長いとき.jpg", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦.png", "e\u{301}\u{1B}]0;x\u{7}", String(repeating: "long", count: 60)]
    for name in names {
      for (done, total) in [(0, 0), (0, 9), (1, 9), (9, 9), (12, 9), (-4, 9), (Int64.max, Int64.max)]
        as [(Int64, Int64)]
      {
        for rate in [nil, 0, 1e12, .infinity, .nan] as [Double?] {
          let bar = ProgressBar(name: name, done: done, total: total, bytesPerSecond: rate, timeLeft: .seconds(400_000))
          for columns in [0, 1, 2, 10, 23, 24, 40, 55, 60, 80, 200] {
            let line = bar.line(columns: columns, unicode: unicode)
            #expect(displayWidth(line) < max(1, columns), "\(columns): \(line)")
            #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
            #expect(unicode || line.unicodeScalars.allSatisfy { $0.isASCII })
          }
        }
      }
    }
  }

  @Test("says 100% only when all is done, and an empty file is done")
  func percentage() {
    func percent(_ done: Int64, _ total: Int64) -> String {
      String(ProgressBar(name: "x", done: done, total: total).line(columns: 20, unicode: false).suffix(4))
    }
    #expect(percent(999_999, 1_000_000) == " 99%")
    #expect(percent(1_000_000, 1_000_000) == "100%")
    #expect(percent(0, 0) == "100%")
    #expect(percent(0, 5) == "  0%")
  }

  @Test("bars below one another line up, wide names or not")
  func alignment() {
    for name in ["a.jpg", "写真.jpg", "Straße.webp"] {
      let bar = ProgressBar(name: name, done: 1, total: 2)
      #expect(
        displayWidth(bar.line(columns: 80, unicode: true))
          == displayWidth(ProgressBar(name: "b", done: 1, total: 2).line(columns: 80, unicode: true)))
    }
  }
}

@Suite("Text that is safe to show")
struct DisplaySafeTests {
  @Test(
    "nothing in it commands a terminal or reorders a line",
    arguments: [
      ("a\u{1B}[31mb", "a\\u{1b}[31mb"), ("a\nb\r\tc", "a\\nb\\r\\tc"), ("\u{9B}2J", "\\u{9b}2J"),
      ("\u{7F}\u{0}", "\\u{7f}\\u{0}"),
      ("photo\u{202E}gpj.exe", "photo\\u{202e}gpj.exe"), ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
      ("a\u{200B}b\u{FEFF}", "a\\u{200b}b\\u{feff}"), ("a\u{2028}b", "a\\u{2028}b"), ("\u{E0041}", "\\u{e0041}"),
      ("\u{E000}\u{10FFFF}", "\\u{e000}\\u{10ffff}"),
    ])
  func escaped(text: String, expected: String) { #expect(displaySafe(text) == expected) }

  @Test(
    "names of people stay as they are",
    arguments: ["Ada's \"Laptop\" \\ 2", "Küche", "写真", "می\u{200C}خواهم", "👨‍👩‍👧‍👦", "שלום"])
  func kept(text: String) { #expect(displaySafe(text) == text) }

  @Test("on an ASCII terminal all else is escaped") func ascii() {
    #expect(displaySafe("Küche", unicode: false) == "K\\u{fc}che")
  }

  @Test(
    "width in columns",
    arguments: [
      ("abc", 3), ("写真", 4), ("e\u{301}", 1), ("👨‍👩‍👧‍👦", 2), ("☀\u{FE0F}", 2), ("☀", 1), ("ｶﾅ", 2), ("한글", 4), ("\u{7}", 0),
    ])
  func width(text: String, columns: Int) { #expect(displayWidth(text) == columns) }

  @Test("what is too long loses its middle and keeps its extension")
  func shortening() {
    #expect(shortened("a-rather-long-name.jpeg", toColumns: 13) == "a-rath…e.jpeg")
    #expect(shortened("a-rather-long-name.jpeg", toColumns: 13, unicode: false) == "a-rat....jpeg")
    #expect(shortened("写真写真写真", toColumns: 6) == "写…真")
    #expect(shortened("short", toColumns: 5) == "short")
    #expect(shortened("short", toColumns: 0) == "")
  }
}

@Suite("What a terminal can do")
struct TerminalTraitsTests {
  @Test("redrawing needs a terminal that is not dumb; Unicode needs a UTF-8 locale")
  func traits() {
    func traits(_ isTerminal: Bool, _ variables: [String: String]) -> [Bool] {
      let traits = TerminalTraits(isTerminal: isTerminal) { variables[$0] }
      return [traits.canRedraw, traits.unicode]
    }
    #expect(traits(true, ["TERM": "xterm", "LANG": "de_DE.UTF-8"]) == [true, true])
    #expect(traits(true, ["TERM": "xterm", "LC_ALL": "C", "LANG": "de_DE.UTF-8"]) == [true, false])
    #expect(traits(true, ["TERM": "xterm", "LC_ALL": "", "LC_CTYPE": "C.utf8"]) == [true, true])
    #expect(traits(true, ["TERM": "dumb"]) == [false, false])
    #expect(traits(true, [:]) == [false, false])
    #expect(traits(false, ["TERM": "xterm"]) == [false, false])
  }
}
