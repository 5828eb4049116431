import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

private let traits = TerminalTraits(isTerminal: true) { ["TERM": "xterm", "LANG": "C.UTF-8"][$0] }

private let signalsSeen = Atomic<Int>(0)

// One at a time: raw mode belongs to the process.
@Suite(.serialized)
enum AtATerminal {}

extension AtATerminal {
  @Suite("At a terminal")
  struct TerminalTests {
    private let terminal: PseudoTerminal
    private let updates: PeerListUpdates

    init() throws {
      terminal = try #require(PseudoTerminal())
      updates = try #require(PeerListUpdates())
    }

    private func choose() async -> PeerPickerTerminal.Outcome? {
      let (updates, program) = (updates, terminal.program)
      return await onItsOwnThread {
        var picker = PeerPickerTerminal(
          updates: updates, input: program, output: StandardStream(descriptor: program), traits: traits)
        return picker.run()
      }
    }

    /// If the text does not come, the list is ended as well, so that the test fails instead of waiting for ever. Waits
    /// on a thread of its own: a machine with one processor has one pool thread, and `choose` needs it to begin.
    private func shows(_ text: String) async -> Bool {
      let terminal = terminal
      if await onItsOwnThread({ terminal.waits(for: text) }) == true { return true }
      updates.post(.cancelled)
      return false
    }

    @Test("a person picks a peer from a list that changes, and the terminal is as before")
    func picking() async {
      let before = terminal.flags
      async let outcome = choose()
      #expect(await shows("Looking for peers..."))
      #expect(terminal.flags != before)
      updates.post(.appeared(.init(id: "id-a", name: "Kitchen", digits: "0a", standing: "new")))
      #expect(await shows(">  Kitchen"))
      updates.post(.appeared(.init(id: "id-b", name: "Attic", digits: "0b", standing: "new")))
      updates.post(.vanished(id: "id-a"))
      #expect(await shows("   Attic"))
      #expect(await shows("gone"))
      terminal.type("\u{1B}[B\r")
      #expect(await outcome == .picked(ids: ["id-b"]))
      terminal.readAll()
      // Lines wrap again, the cursor is there, and so is the first screen.
      #expect(terminal.shown.hasSuffix("\u{1B}[J\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"))
      #expect(terminal.flags == before)
    }

    @Test("a terminal is asked for its attributes, answers, and is as before")
    func attributes() async {
      let before = terminal.flags
      let program = terminal.program
      async let attributes = onItsOwnThread {
        TerminalAttributes.asked(input: program, output: program, patience: .seconds(120))
      }
      #expect(await shows("\u{1B}[c"))
      #expect(terminal.flags != before)
      terminal.type("\u{1B}[?62;4c")
      #expect(await attributes??.numbers == [62, 4])
      #expect(terminal.flags == before)
    }

    @Test("Escape quits, Ctrl-C interrupts, and the terminal is as before")
    func leaving() async {
      let before = terminal.flags
      for (keys, expected) in [("\u{1B}", PeerPickerTerminal.Outcome.quit), ("\u{3}", .interrupted)] {
        terminal.readAll()
        terminal.forget()
        async let outcome = choose()
        #expect(await shows("Esc leaves"))
        terminal.type(keys)
        #expect(await outcome == expected)
        #expect(terminal.flags == before)
      }
    }

    @Test("after the window has got another size the list is drawn anew, upon nothing")
    func resizing() async {
      async let outcome = choose()
      #expect(await shows("type to filter"))
      updates.post(.appeared(.init(id: "id-a", name: "Kitchen", digits: "0a1b2c3d4e5f", standing: "new")))
      #expect(await shows("0a1b2c3d4e5f"))
      terminal.readAll()
      terminal.forget()
      terminal.resize(columns: 20, rows: 10)
      #expect(await shows("Enter, Esc leaves"))
      #expect(terminal.shown.hasPrefix("\u{1B}[H\u{1B}[2J"))
      #expect(terminal.shown.contains(">  Kitchen  new") && !terminal.shown.contains("0a1b"))
      terminal.type("\u{1B}")
      #expect(await outcome == .quit)
    }

    @Test("a terminal without another screen shows the list below its text, and then removes the list")
    func oneScreen() async {
      let plain = TerminalTraits(isTerminal: true) { ["TERM": "linux", "LANG": "C.UTF-8"][$0] }
      let (updates, program) = (updates, terminal.program)
      async let outcome = onItsOwnThread {
        var picker = PeerPickerTerminal(
          updates: updates, input: program, output: StandardStream(descriptor: program), traits: plain)
        return picker.run()
      }
      #expect(await shows("Esc leaves"))
      terminal.type("\u{1B}")
      #expect(await outcome == .quit)
      terminal.readAll()
      #expect(!terminal.shown.contains("1049") && !terminal.shown.contains("\u{1B}[2J"))
      #expect(terminal.shown.hasSuffix("\u{1B}[2A\r\u{1B}[J\u{1B}[?7h\u{1B}[?25h"))
    }

    @Test("a signal that would end the process gives the terminal back first, then has its former effect")
    func signals() async {
      var former = sigaction()
      var counting = sigaction()
      counting.__sigaction_handler.sa_handler = { _ in signalsSeen.add(1, ordering: .relaxed) }
      sigaction(SIGHUP, &counting, &former)
      defer { sigaction(SIGHUP, &former, nil) }
      let before = terminal.flags

      async let outcome = choose()
      #expect(await shows("Esc leaves"))
      #expect(terminal.flags != before)
      kill(getpid(), SIGHUP)
      #expect(await shows("\u{1B}[?25h"))
      #expect(terminal.flags == before)
      let deadline = ContinuousClock.now + .seconds(120)
      while signalsSeen.load(ordering: .relaxed) == 0, ContinuousClock.now < deadline { sched_yield() }
      #expect(signalsSeen.load(ordering: .relaxed) == 1)
      updates.post(.cancelled)
      #expect(await outcome == .cancelled)
    }

    @Test("raw mode is for one at a time, and needs a terminal")
    func exclusive() async {
      var ends: [Int32] = [0, 0]
      #expect(pipe(&ends) == 0)
      var picker = PeerPickerTerminal(
        updates: updates, input: ends[0], output: StandardStream(descriptor: ends[1]), traits: traits)
      #expect(picker.run() == .failed(ENOTTY))
      close(ends[0])
      close(ends[1])

      async let outcome = choose()
      #expect(await shows("Esc leaves"))
      #expect(await choose() == .failed(EBUSY))
      terminal.type("\u{4}")
      #expect(await outcome == .quit)
    }

    @Test("the status line is drawn over, at most 10 times a second, and cleared before other text")
    func statusLine() {
      var line = StatusLines(output: StandardStream(descriptor: terminal.program), traits: traits)
      let start = ContinuousClock.now
      for tick in 0..<100 {
        line.draw([ProgressBar(name: "a", done: Int64(tick), total: 100)], at: start + .milliseconds(tick * 10))
      }
      line.say("a: stored")
      line.clear()
      terminal.readAll()
      let drawings = terminal.shown.split(separator: "\u{1B}[J\r\u{1B}[?7h")
      #expect(drawings.count == 11)
      #expect(drawings.dropLast().allSatisfy { $0.hasPrefix("\u{1B}[?7l\ra ") && $0.hasSuffix("% of 100 B") })
      #expect(terminal.shown.hasSuffix("\r\u{1B}[Ja: stored\r\n"))
    }

    @Test("of several status lines the cursor waits at the first, so that wrapped by a narrower window they still go")
    func statusLines() {
      var lines = StatusLines(output: StandardStream(descriptor: terminal.program), traits: traits)
      lines.draw(
        ["total", "a", "b"].map { ProgressBar(label: $0, files: .init(done: 1, total: 3), done: 1, total: 2) }, at: .now
      )
      lines.clear()
      terminal.readAll()
      let drawn = terminal.shown.components(separatedBy: "\r\n")
      #expect(drawn.count == 3 && drawn[0].hasPrefix("\u{1B}[?7l\rtotal  1 of 3 ") && drawn[0].hasSuffix("\u{1B}[K\r"))
      #expect(drawn[2].hasSuffix("50% of 2 B\u{1B}[J\r\u{1B}[2A\u{1B}[?7h\r\u{1B}[J"))
    }

    @Test("the size is the terminal's, or the usual one if the terminal states no size")
    func size() throws {
      let narrow = try #require(PseudoTerminal(columns: 44, rows: 7))
      #expect(TerminalSize.of(descriptor: narrow.program) == TerminalSize(columns: 44, rows: 7))
      let unknown = try #require(PseudoTerminal(columns: 0, rows: 0))
      #expect(TerminalSize.of(descriptor: unknown.program) == .usual)
      #expect(TerminalSize.of(descriptor: -1) == .usual)
    }
  }
}

@Suite("What is known of peers travels to the list")
struct PeerListUpdatesTests {
  @Test("in order, once, with cancellation last")
  func order() throws {
    let updates = try #require(PeerListUpdates())
    updates.post(.cancelled)
    updates.post(.vanished(id: "a"))
    #expect(updates.drain() == [.vanished(id: "a"), .cancelled])
    #expect(updates.drain() == [.cancelled])
  }

  @Test("a flood is bounded, and a peer's last word counts")
  func flood() throws {
    let updates = try #require(PeerListUpdates())
    for number in 0..<5000 { updates.post(.vanished(id: "\(number)")) }
    let peer = PeerPicker.Peer(id: "7", name: "x", digits: "", standing: "new")
    updates.post(.appeared(peer))
    let drained = updates.drain()
    #expect(drained.count == TerminalLimits.pickerBacklog)
    #expect(drained.last == .appeared(peer))
    #expect(!drained.contains(.vanished(id: "7")))
  }
}

@Suite("A question at the foot of a terminal")
struct QuestionLineTests {
  @Test("is answered by what a person types, without keys and reports in it, whole or not")
  func controlSequences() {
    func typed(_ line: String) -> String { String(decoding: withoutControlSequences(Array(line.utf8)), as: UTF8.self) }
    #expect(typed("yes") == "yes")
    #expect(typed("\u{1B}[?62;4cn") == "n")
    #expect(typed("1\u{1B}[A\u{1B}[3;5~2\u{1B}[ q3") == "123")
    #expect(typed("y\u{1B}") == "y")
    #expect(typed("y\u{1B}[") == "y")
    #expect(typed("y\u{1B}[?62;4") == "y")
    #expect(typed("y\u{1B}\u{1B}[Ae") == "ye")
    #expect(typed("") == "")
  }

  @Test("on a narrow terminal the letters of the answers are left, in one line")
  func narrow() {
    let accept = AcceptQuestion.Wording.acceptFiles.prompt
    #expect(questionLine(FirstContact.prompt, columns: 80) == FirstContact.prompt)
    #expect(questionLine(accept, columns: 80) == accept)
    #expect(questionLine(FirstContact.prompt, columns: 40) == "Send? [y/o/n/d]: ")
    #expect(questionLine(accept, columns: 40) == "Accept? [y/a/s/o/n/d]: ")
    #expect(questionLine(CodeQuestion.prompt, columns: 20) == CodeQuestion.prompt)
  }
}
