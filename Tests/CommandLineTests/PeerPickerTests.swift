import Testing

@testable import PiconetCommandLine

private func peer(_ id: String, _ name: String, _ detail: String = "tcp") -> PeerPicker.Peer {
  PeerPicker.Peer(id: id, name: name, detail: detail)
}

private func picker(_ names: String...) -> PeerPicker {
  var picker = PeerPicker()
  for name in names { picker.appeared(peer("id-\(name)", name)) }
  return picker
}

private let usual = TerminalSize(columns: 80, rows: 24)

@Suite("The list a peer is picked from")
struct PeerPickerTests {
  @Test("draws numbers, names, the start of the fingerprint and what is known")
  func drawing() {
    var picker = PeerPicker()
    #expect(picker.lines(size: usual, unicode: true).first == "Looking for peers...")
    picker.appeared(peer("9f86d081884c7d659a2f", "Living room", "tcp, known"))
    picker.appeared(peer("0011223344556677", "写真\u{1B}[2J"))
    picker.vanished(id: "0011223344556677")
    #expect(
      picker.lines(size: usual, unicode: true, styled: false) == [
        "Send to:",
        "> 1  Living room    9f86d081884c  tcp, known",
        "  2  写真\\u{1b}[2J  001122334455  gone",
        "number or arrows, Enter to send, q to quit",
      ])
    #expect(picker.lines(size: usual, unicode: true)[1].hasPrefix("\u{1B}[7m> 1"))
    #expect(picker.lines(size: usual, unicode: true)[2].hasPrefix("\u{1B}[2m  2"))
  }

  @Test("a number keeps its meaning while peers come, go and return")
  func stableNumbers() {
    var picker = picker("a", "b", "c")
    picker.vanished(id: "id-b")
    picker.appeared(peer("id-d", "d"))
    #expect(picker.rows.map(\.peer.name) == ["a", "b", "c", "d"])
    #expect(picker.rows.map(\.isPresent) == [true, false, true, true])
    picker.appeared(peer("id-b", "renamed"))
    #expect(picker.rows[1] == PeerPicker.Row(peer: peer("id-b", "renamed"), isPresent: true))
  }

  @Test("a digit marks and Enter picks; the mark stays with its peer")
  func digits() {
    var picker = picker("a", "b", "c")
    picker.press(.digit(3))
    #expect(picker.outcome == nil)
    picker.vanished(id: "id-a")
    picker.press(.enter)
    #expect(picker.outcome == .picked(id: "id-c"))
    picker.press(.quit)
    #expect(picker.outcome == .picked(id: "id-c"))
  }

  @Test("two digits make one number where there are so many rows")
  func twoDigits() {
    var picker = PeerPicker()
    for number in 1...12 { picker.appeared(peer("id-\(number)", "peer \(number)")) }
    picker.press(.digit(1))
    #expect(picker.selection == 0)
    picker.press(.digit(2))
    #expect(picker.selection == 11)
    picker.press(.backspace)
    #expect(picker.selection == 0)
    // 13 is no row, so 3 begins a new number.
    picker.press(.digit(3))
    #expect(picker.selection == 2)
    picker.press(.digit(0))
    #expect(picker.selection == 2)
    #expect(picker.notice == "there is no number 0")
  }

  @Test("arrows stop at the ends")
  func arrows() {
    var picker = picker("a", "b")
    picker.press(.up)
    #expect(picker.selection == 0)
    for _ in 0..<3 { picker.press(.down) }
    #expect(picker.selection == 1)
    picker.press(.first)
    #expect(picker.selection == 0)
    picker.press(.last)
    #expect(picker.selection == 1)
  }

  @Test("nobody can be picked who has gone, or before anybody is there")
  func gone() {
    var picker = PeerPicker()
    picker.press(.down)
    picker.press(.enter)
    #expect(picker.outcome == nil && picker.notice == "nobody is in sight yet")
    picker.appeared(peer("id-a", "a"))
    picker.vanished(id: "id-a")
    picker.press(.enter)
    #expect(picker.outcome == nil && picker.notice == "a has gone")
    #expect(picker.lines(size: usual, unicode: true, styled: false).first == "Looking for peers...")
  }

  @Test("q ends it, Ctrl-C interrupts it")
  func quitting() {
    var first = picker("a")
    first.press(.quit)
    #expect(first.outcome == .quit)
    var second = picker("a")
    second.press(.interrupt)
    #expect(second.outcome == .interrupted)
  }

  @Test("a flood of peers fills the rows once and is counted after that, within a limit")
  func flood() {
    var picker = PeerPicker()
    for number in 0..<5000 { picker.appeared(peer("id-\(number)", "x")) }
    #expect(picker.rows.count == CommandLineLimits.pickerRows)
    #expect(picker.unlisted.count == CommandLineLimits.pickerBacklog)
    picker.vanished(id: "id-200")
    #expect(picker.unlisted.count == CommandLineLimits.pickerBacklog - 1)
  }

  @Test("fits every terminal, with the marked row in view")
  func fits() {
    var picker = PeerPicker()
    for number in 1...40 {
      picker.appeared(peer("0123456789abcdef\(number)", "peer 写真 with a long name \(number)", "tcp, known"))
    }
    for selection in [0, 20, 39] {
      picker.press(.first)
      for _ in 0..<selection { picker.press(.down) }
      for columns in [1, 10, 30, 80, 200] {
        for rows in [1, 4, 10, 24, 60] {
          let lines = picker.lines(size: TerminalSize(columns: columns, rows: rows), unicode: true, styled: false)
          #expect(lines.allSatisfy { displayWidth($0) < max(2, columns) })
          #expect(lines.count <= max(3, rows - 1))
          #expect(lines.contains { $0.hasPrefix(columns > 10 ? "> " : ">") || columns < 3 })
        }
      }
    }
  }
}

@Suite("Keys of a terminal")
struct PickerKeyTests {
  private func keys(_ text: String, byteByByte: Bool) -> [PickerKey] {
    var decoder = PickerKeyDecoder()
    let bytes = Array(text.utf8)
    let keys = byteByByte ? bytes.flatMap { decoder.decode([$0]) } : decoder.decode(bytes)
    return keys + decoder.flush()
  }

  @Test(
    "are understood whole and byte by byte", arguments: [false, true])
  func keys(byteByByte: Bool) {
    #expect(keys("1j\u{1B}[Bk\u{1B}OA\r", byteByByte: byteByByte) == [.digit(1), .down, .down, .up, .up, .enter])
    #expect(keys("\u{1B}[H\u{1B}[4~\u{7F}", byteByByte: byteByByte) == [.first, .last, .backspace])
    #expect(keys("q", byteByByte: byteByByte) == [.quit])
    #expect(keys("\u{3}", byteByByte: byteByByte) == [.interrupt])
    #expect(keys("\u{1B}", byteByByte: byteByByte) == [.quit])
    #expect(keys("\u{1B}[1;5Cx\u{1B}[", byteByByte: byteByByte) == [])
    #expect(keys("é写", byteByByte: byteByByte) == [])
  }

  @Test("an endless escape sequence is dropped")
  func endless() {
    var decoder = PickerKeyDecoder()
    let keys = decoder.decode(Array("\u{1B}[".utf8) + Array(repeating: 0x31, count: 10_000))
    #expect(keys.allSatisfy { $0 == .digit(1) })
    #expect(!decoder.isWaiting)
  }
}
