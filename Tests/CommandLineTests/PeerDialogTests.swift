import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PiconetTerminal

@Suite("A list that stays open, and the questions below it")
struct PeerQuestionTests {
  private func picker() -> PeerPicker {
    var picker = PeerPicker(title: "Connect to", staysOpen: true)
    picker.appeared(.init(id: "id-a", name: "Anna", digits: "", standing: "new"))
    return picker
  }

  private func foot(_ picker: PeerPicker, _ columns: Int = 80) -> String {
    picker.lines(size: TerminalSize(columns: columns, rows: 24), unicode: true, styled: false).last ?? ""
  }

  @Test("Enter tells of each pick, Space marks no peer, and Tab ends the list once all is done")
  func stayingOpen() {
    var picker = picker()
    for key in [PickerKey.space, .enter, .done, .enter] { picker.press(key) }
    #expect(picker.outcome == nil && picker.marked.isEmpty)
    #expect(picker.takeActions() == [.picked(id: "id-a"), .picked(id: "id-a")])
    #expect(foot(picker) == "type to filter, arrows, Enter connects, Esc leaves")
    picker.isComplete = true
    #expect(foot(picker) == "type to filter, arrows, Enter connects, Tab when done, Esc leaves")
    picker.press(.done)
    #expect(picker.outcome == .finished)
  }

  @Test("a question has the keys until it is answered; only y and n answer it, and Escape is no")
  func answering() {
    var picker = picker()
    for id in ["1", "2", "3"] { picker.ask(.init(id: id, text: "\(id) wants to connect.")) }
    picker.ask(.init(id: "1", text: "again"))
    for key in [PickerKey.enter, .letter("x"), .down] { picker.press(key) }
    #expect(picker.takeActions().isEmpty && picker.filter.isEmpty)
    for key in [PickerKey.letter("y"), .letter("N"), .quit] { picker.press(key) }
    #expect(
      picker.takeActions() == [
        .answered(question: "1", accepts: true), .answered(question: "2", accepts: false),
        .answered(question: "3", accepts: false),
      ])
    #expect(picker.outcome == nil && picker.takeActions().isEmpty)
    picker.press(.letter("y"))
    #expect(picker.filter == "y")
  }

  @Test("a withdrawn question takes no answer, and Ctrl-C still interrupts")
  func withdrawing() {
    var picker = picker()
    picker.ask(.init(id: "1", text: "?"))
    picker.withdraw(question: "1")
    picker.press(.letter("y"))
    #expect(picker.takeActions().isEmpty)
    picker.ask(.init(id: "2", text: "?"))
    picker.press(.interrupt)
    #expect(picker.outcome == .interrupted)
  }

  @Test("more than a person can answer are answered with no")
  func flood() {
    var picker = picker()
    for id in 0..<(TerminalLimits.questions + 1) { picker.ask(.init(id: "\(id)", text: "?")) }
    #expect(picker.questions.count == TerminalLimits.questions)
    #expect(picker.takeActions() == [.answered(question: "\(TerminalLimits.questions)", accepts: false)])
  }

  @Test("the answers are on the screen however long and hostile the name is")
  func drawing() {
    var picker = picker()
    picker.ask(.init(id: "1", text: "\u{1B}[2J" + String(repeating: "x", count: 200) + " wants to connect."))
    for columns in [20, 40, 80] {
      let foot = foot(picker, columns)
      #expect(displayWidth(foot) < columns && !foot.contains("\u{1B}"))
      #expect(foot.hasSuffix(columns > 40 ? " [y]es / [n]o" : " [y/n]"), "\(foot)")
    }
    picker.remark = "Waiting for \u{1B}Anna"
    let lines = picker.lines(size: .usual, unicode: true, styled: false)
    #expect(lines.first == "Waiting for \\u{1b}Anna")
  }
}

extension AtATerminal {
  @Suite("A dialog about peers at a terminal")
  struct PeerDialogTests {
    private let terminal: PseudoTerminal
    private let dialog: PeerDialog
    private let traits = TerminalTraits(isTerminal: true) { ["TERM": "xterm", "LANG": "C.UTF-8"][$0] }

    init() throws {
      terminal = try #require(PseudoTerminal())
      dialog = try #require(PeerDialog(PeerPicker(title: "Connect to", staysOpen: true)))
    }

    private func run(
      readingTime: Duration, _ tell: @escaping @Sendable (PeerPicker.Action) -> Void
    ) async -> PeerDialog.Ending {
      await dialog.run(
        input: terminal.program, output: StandardStream(descriptor: terminal.program), traits: traits,
        readingTime: readingTime, tell)
    }

    private func shows(_ text: String) async -> Bool {
      let terminal = terminal
      if await onItsOwnThread({ terminal.waits(for: text) }) == true { return true }
      dialog.close()
      return false
    }

    @Test("reports picks and answers while it is open, until the program closes it")
    func talking() async {
      let said = Mutex<[PeerPicker.Action]>([])
      async let ending = run(readingTime: .zero) { action in
        said.withLock { $0.append(action) }
        switch action {
        case .picked: dialog.ask(.init(id: "1", text: "Ben wants to connect."))
        case .answered: dialog.close()
        }
      }
      dialog.show(.init(id: "id-a", name: "Anna", digits: "", standing: "new"))
      #expect(await shows("Anna"))
      terminal.type("\r")
      #expect(await shows("Ben wants to connect. [y]es / [n]o"))
      terminal.type("y")
      #expect(await ending == .closed)
      #expect(said.withLock { $0 } == [.picked(id: "id-a"), .answered(question: "1", accepts: true)])
    }

    @Test("takes no key for an answer that was pressed before a person could read the question")
    func hasty() async {
      let said = Mutex<[PeerPicker.Action]>([])
      async let ending = run(readingTime: .seconds(100_000)) { action in said.withLock { $0.append(action) } }
      dialog.ask(.init(id: "1", text: "Ben wants to connect."))
      #expect(await shows("Ben wants to connect."))
      terminal.type("yn\u{3}")
      #expect(await ending == .interrupted)
      #expect(said.withLock { $0 }.isEmpty)
    }
  }
}
