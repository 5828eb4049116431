import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

private let half = ProgressBar(
  name: "sunset.jpg", done: 24_000, total: 48_000, bytesPerSecond: 1_200_000, timeLeft: .seconds(12))

private let many = ProgressBar(
  files: .init(done: 432, total: 1_000), name: "IMG_0433.jpg", others: 3, done: 1_300_000_000, total: 3_000_000_000,
  bytesPerSecond: 12_000_000, timeLeft: .seconds(142))

@Suite("The progress bar")
struct ProgressBarTests {
  @Test("shows name, bar, percentage, rate and time left")
  func whole() {
    #expect(
      half.lines(columns: 80, unicode: true)
        == ["sunset.jpg                    ━━━━━━······   50% of 48 kB  1.2 MB/s   0:12 left"])
    #expect(
      half.lines(columns: 80, unicode: false)
        == ["sunset.jpg                    [====>     ]   50% of 48 kB  1.2 MB/s   0:12 left"])
  }

  @Test("of many shows how many are done of all, the file that is under way, bytes, rate and time left of the whole")
  func wholeOfMany() {
    #expect(
      many.lines(columns: 100, unicode: true)
        == ["  432 of 1,000  IMG_0433.jpg +3               ━━━━━━╸·········  43% of 3.0 GB   12 MB/s   2:22 left"]
    )
    #expect(
      many.lines(columns: 80, unicode: true)
        == ["  432 of 1,000  IMG_0433.jpg +3   ━━━·····  43% of 3.0 GB   12 MB/s   2:22 left"])
    var counting = many
    counting.files?.isWhole = false
    counting.timeLeft = nil
    #expect(
      counting.lines(columns: 66, unicode: true) == [
        "  432 of 1,000+  IMG_04…jpg +3  ━━━·····  43% of 3.0 GB   12 MB/s"
      ])
  }

  @Test("on a narrow terminal the name of one of many has a line of its own")
  func nameBelow() {
    #expect(
      many.lines(columns: 48, unicode: true) == ["  432 of 1,000  43%   12 MB/s   2:22 left", "  IMG_0433.jpg +3"])
    #expect(many.lines(columns: 40, unicode: true) == ["  432 of 1,000  43%   2:22 left", "  IMG_0433.jpg +3"])
    #expect(many.lines(columns: 20, unicode: true) == ["  432 of 1,000  43%", "  IMG_0433.jpg +3"])
  }

  @Test("several receivers have a line each below the whole, and those that have no room are counted")
  func severalReceivers() {
    let lines = [("total", 3), ("Kitchen", 1), ("Living room", 2)].map { label, done in
      ProgressBar(
        label: label, files: .init(done: done, total: label == "total" ? 20 : 10), done: Int64(done), total: 10,
        bytesPerSecond: label == "Kitchen" ? nil : 1_000)
    }
    #expect(
      ProgressBar.lines(of: lines, size: .usual, unicode: true) == [
        "total         3 of 20  ━━━━━━···············  30% of 10 B  1.0 kB/s",
        "Kitchen       1 of 10  ━━···················  10% of 10 B",
        "Living room   2 of 10  ━━━━·················  20% of 10 B  1.0 kB/s",
      ])
    let few = ProgressBar.lines(of: lines, size: TerminalSize(columns: 30, rows: 3), unicode: true)
    #expect(few == ["total     3 of 20  30%", "and 2 more"])
  }

  @Test("a sender that says nothing of how many come has them counted")
  func unknownCount() {
    var bar = ProgressBar(files: .init(done: 1_432, bytes: 4_300_000_000), name: "a.jpg", done: 5, total: 10)
    #expect(bar.lines(columns: 48, unicode: true) == ["1,432 files, 4.3 GB  a.jpg        ━━━━····  50%"])
    (bar.name, bar.done, bar.total) = (nil, 0, 0)
    #expect(bar.lines(columns: 30, unicode: true) == ["1,432 files, 4.3 GB"])
  }

  @Test("gives up the bar, then rate and time, when the terminal is narrow")
  func narrow() {
    #expect(half.lines(columns: 45, unicode: true) == ["sunset.jpg         50%  1.2 MB/s   0:12 left"])
    #expect(half.lines(columns: 24, unicode: true) == ["sunset.jpg          50%"])
    #expect(half.lines(columns: 4, unicode: true) == [" …%"])
    #expect(half.lines(columns: 0, unicode: true) == [""])
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
          for (label, files) in [
            (nil, nil), (nil, .init(done: 9, total: 123_456)), (name, .init(done: 7)),
            (name, .init(done: 2, total: 3, isWhole: false)),
          ] as [(String?, ProgressBar.Files?)] {
            let bar = ProgressBar(
              label: label, files: files, name: name, done: done, total: total, bytesPerSecond: rate,
              timeLeft: .seconds(300_000))
            for columns in [0, 1, 2, 10, 20, 23, 24, 40, 55, 60, 80, 100, 200] {
              let size = TerminalSize(columns: columns, rows: 24)
              for line in ProgressBar.lines(of: [bar, bar], size: size, unicode: unicode) {
                #expect(displayWidth(line) < max(1, columns), "\(columns): \(line)")
                #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
                #expect(unicode || line.unicodeScalars.allSatisfy { $0.isASCII })
              }
            }
          }
        }
      }
    }
  }

  @Test("says 100% only when all is done, and an empty file is done")
  func percentage() {
    func percent(_ done: Int64, _ total: Int64) -> String {
      let lines = ProgressBar(name: "x", done: done, total: total).lines(columns: 20, unicode: false)
      return String(lines[0].suffix(4))
    }
    #expect(percent(999_999, 1_000_000) == " 99%")
    #expect(percent(1_000_000, 1_000_000) == "100%")
    #expect(percent(0, 0) == "100%")
    #expect(percent(0, 5) == "  0%")
    // The last file may be empty.
    let lacking = ProgressBar(files: .init(done: 1, total: 2), done: 5, total: 5)
    #expect(lacking.lines(columns: 20, unicode: false) == ["1 of 2  99%"])
  }

  @Test("bars below one another line up, wide names or not")
  func alignment() {
    for name in ["a.jpg", "写真.jpg", "Straße.webp"] {
      let bar = ProgressBar(name: name, done: 1, total: 2)
      #expect(
        displayWidth(bar.lines(columns: 80, unicode: true)[0])
          == displayWidth(ProgressBar(name: "b", done: 1, total: 2).lines(columns: 80, unicode: true)[0]))
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
      ("\u{301}a", "\\u{301}a"),
      ("a\u{301}\u{301}\u{301}\u{301}\u{301}\u{20DD}", "a\u{301}\u{301}\u{301}\u{301}\\u{301}\\u{20dd}"),
      ("a\u{301}\u{301}\u{301}\u{301}\u{200D}\u{301}", "a\u{301}\u{301}\u{301}\u{301}\u{200D}\\u{301}"),
    ])
  func escaped(text: String, expected: String) { #expect(displaySafe(text) == expected) }

  @Test(
    "names of people stay as they are",
    arguments: [
      "Ada's \"Laptop\" \\ 2", "Küche", "写真", "می\u{200C}خواهم", "👨‍👩‍👧‍👦", "שלום", "Vie\u{323}\u{302}t", "བསྒྲུབས", "1️⃣ ❤️",
    ])
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

  @Test("a line of a sum is broken at its spaces, with what stands before it")
  func wrapping() {
    #expect(wrapped("12 stored; 3 MB in 2 s", toColumns: 80) == ["12 stored; 3 MB in 2 s"])
    #expect(wrapped("  3: no room (a.jpg)", toColumns: 12) == ["  3: no room", "    (a.jpg)"])
    #expect(wrapped("写真写真 a verylongword b", toColumns: 8) == ["写真写真", "  a", "  verylongword", "  b"])
    #expect(wrapped("", toColumns: 0) == [""])
  }

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
