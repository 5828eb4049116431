import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

private func picker(_ names: String...) -> PeerPicker {
  var picker = PeerPicker()
  for name in names { picker.appeared(.init(id: "id-\(name)", name: name, digits: "9f86d081884c", standing: "new")) }
  return picker
}

extension PeerPicker {
  fileprivate mutating func type(_ text: String) {
    for scalar in text.unicodeScalars { press(scalar == " " ? .space : .letter(scalar)) }
  }

  fileprivate mutating func appeared(named name: String) {
    appeared(Peer(id: "id-\(name)", name: name, digits: "9f86d081884c", standing: "new"))
  }
}

@Suite("The list a peer is picked from")
struct PeerPickerTests {
  @Test("a row keeps its place while peers come, go and return")
  func stableRows() {
    var picker = picker("a", "b", "c")
    picker.vanished(id: "id-b")
    picker.appeared(named: "d")
    #expect(picker.rows.map(\.peer.name) == ["a", "b", "c", "d"])
    #expect(picker.rows.map(\.isPresent) == [true, false, true, true])
    picker.appeared(.init(id: "id-b", name: "renamed", digits: "", standing: "new"))
    #expect(picker.rows.map(\.peer.name) == ["a", "renamed", "c", "d"])
    #expect(picker.rows[1].isPresent)
  }

  @Test("the choice stays with its peer while others come and go, and Enter takes it")
  func stableChoice() {
    var picker = picker("b", "c")
    picker.press(.down)
    picker.appeared(named: "a")
    picker.vanished(id: "id-b")
    picker.press(.enter)
    #expect(picker.outcome == .picked(ids: ["id-c"]))
    picker.press(.quit)
    #expect(picker.outcome == .picked(ids: ["id-c"]))
  }

  @Test("another name of the chosen peer, which any peer may spread, does not move the choice to another peer")
  func renamedUnderTheFilter() {
    var picker = picker("Mum", "Mummy")
    picker.type("mu")
    picker.appeared(.init(id: "id-Mum", name: "other", digits: "9f86d081884c", standing: "new"))
    #expect(picker.selection == "id-Mum" && picker.visible.map(\.peer.name) == ["other", "Mummy"])
    picker.type("m")
    #expect(picker.selection == "id-Mummy" && picker.visible.map(\.peer.name) == ["Mummy"])
  }

  @Test("arrows and pages stop at the ends")
  func arrows() {
    var picker = picker("a", "b")
    for (key, choice) in [
      (.up, "a"), (.down, "b"), (.down, "b"), (.first, "a"), (.last, "b"), (.pageUp, "a"), (.pageDown, "b"),
    ] as [(PickerKey, String)] {
      picker.press(key)
      #expect(picker.selection == "id-\(choice)")
    }
  }

  @Test("what is typed hides all rows without it, in whatever letters, and is taken back")
  func filter() {
    var picker = picker("Kitchen", "Küche, oben", "Phone 1", "Phone 11", "Junk")
    func seen() -> [String] { picker.visible.map(\.peer.name) }
    picker.type("k")
    #expect(seen() == ["Kitchen", "Küche, oben", "Junk"])
    picker.type("U")
    #expect(seen() == ["Küche, oben"] && picker.selection == "id-Küche, oben")
    picker.press(.backspace)
    #expect(seen().count == 3 && picker.selection == "id-Küche, oben")
    picker.press(.clear)
    #expect(picker.filter.isEmpty && seen().count == 5)
    picker.type("phone11")
    #expect(seen() == ["Phone 11"])
    picker.press(.clear)
    picker.type("jq1")
    #expect(seen().isEmpty && picker.selection == nil)
    picker.press(.enter)
    #expect(picker.outcome == nil && picker.notice == "nobody is called so")
    picker.appeared(named: "JQ1")
    #expect(picker.selection == "id-JQ1")
  }

  @Test("the beginning of a fingerprint is found too, and a filter has the length of a name")
  func filterLimits() {
    var picker = picker("a")
    picker.type("9f86")
    #expect(picker.visible.count == 1)
    picker.type(String(repeating: "é", count: 100))
    #expect(picker.filter.utf8.count <= TerminalLimits.nameBytes + 1)
  }

  @Test("Space marks several, also with a filter, and Enter takes those and no others")
  func several() {
    var picker = picker("a", "b", "c")
    picker.type("c ")
    picker.press(.clear)
    picker.press(.first)
    picker.press(.space)
    picker.press(.down)
    #expect(picker.marked == ["id-c", "id-a"])
    picker.press(.space)
    picker.press(.space)
    picker.press(.enter)
    #expect(picker.outcome == .picked(ids: ["id-c", "id-a"]))
  }

  @Test("in a list for one pick no peer is marked")
  func one() {
    var picker = PeerPicker(title: "Connect to", takesSeveral: false)
    picker.appeared(named: "a")
    picker.press(.space)
    #expect(picker.marked.isEmpty)
    picker.press(.enter)
    #expect(picker.outcome == .picked(ids: ["id-a"]))
  }

  @Test("a peer that has gone is not taken, and loses the mark at Enter, which says so")
  func gone() {
    var picker = PeerPicker()
    picker.press(.down)
    picker.press(.enter)
    #expect(picker.outcome == nil && picker.notice == "nobody is in sight yet")
    for name in ["a", "b"] { picker.appeared(named: name) }
    picker.vanished(id: "id-a")
    picker.press(.enter)
    #expect(picker.outcome == nil && picker.notice == "a has gone")
    picker.press(.space)
    #expect(picker.marked.isEmpty && picker.notice == "a has gone")
    picker.press(.down)
    picker.press(.space)
    picker.vanished(id: "id-b")
    picker.press(.enter)
    #expect(picker.outcome == nil && picker.notice == "b has gone" && picker.marked.isEmpty)
  }

  @Test("Escape ends it, Ctrl-C interrupts it")
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
    for number in 0..<5000 { picker.appeared(.init(id: "id-\(number)", name: "x", digits: "", standing: "new")) }
    #expect(picker.rows.count == TerminalLimits.pickerRows)
    #expect(picker.unlisted.count == TerminalLimits.pickerBacklog)
    picker.vanished(id: "id-200")
    #expect(picker.unlisted.count == TerminalLimits.pickerBacklog - 1)
  }
}
