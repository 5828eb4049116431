import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

@Suite("The drawing of the list a peer is picked from")
struct PeerPickerDrawingTests {
  private func peer(_ name: String, _ id: String, _ change: (inout PeerPicker.Peer) -> Void = { _ in })
    -> PeerPicker.Peer
  {
    var peer = PeerPicker.Peer(
      id: id, name: name, digits: "\(id)d081884c", standing: "new", transports: ["tcp"], address: "192.0.2.7:4000")
    change(&peer)
    return peer
  }

  private func picker(_ peers: [PeerPicker.Peer]) -> PeerPicker {
    var picker = PeerPicker(words: .init(enter: "sends", unlistedHint: ", use --to"))
    for peer in peers { picker.appeared(peer) }
    return picker
  }

  private func lines(_ picker: PeerPicker, _ columns: Int, rows: Int = 24, unicode: Bool = true) -> [String] {
    picker.lines(size: TerminalSize(columns: columns, rows: rows), unicode: unicode, styled: false)
  }

  /// The rows without the head and the foot.
  private func rows(_ peers: [PeerPicker.Peer], _ columns: Int, unicode: Bool = true) -> [String] {
    lines(picker(peers), columns, rows: 120, unicode: unicode).dropFirst().dropLast().map { String($0.dropFirst(3)) }
  }

  @Test("the name, whether it is known, transports, signal, fingerprint and address, as far as there is room")
  func drawing() {
    let peers = [
      peer("Living room", "9f86") { $0.standing = "known" }, peer("Phone 1", "0011"),
      peer("Phone 11", "0022") {
        $0.transports = ["l2cap", "le"]
        $0.signalStrength = -63
      },
    ]
    #expect(
      lines(picker(peers), 80) == [
        "Send to:",
        ">  Living room  known  tcp                9f86d081884c  192.0.2.7:4000",
        "   Phone 1      new    tcp                0011d081884c  192.0.2.7:4000",
        "   Phone 11     new    l2cap+le  -63 dBm  0022d081884c  192.0.2.7:4000",
        "type to filter, arrows, Space marks several, Enter sends, Esc leaves",
      ])
    #expect(
      lines(picker(peers), 40) == [
        "Send to:",
        ">  Living room  known  tcp",
        "   Phone 1      new    tcp",
        "   Phone 11     new    l2cap+le",
        "type, arrows, Space, Enter, Esc leaves",
      ])
    #expect(
      lines(picker(peers), 20) == [
        "Send to:", ">  Living room", "   Phone 1   new", "   Phone 11  new", "Enter, Esc leaves",
      ])
  }

  @Test("a mark, a choice, a peer that has gone, and typed text are visible without colours")
  func states() {
    var picker = picker([peer("a", "0001"), peer("b", "0002")])
    #expect(picker.lines(size: .usual, unicode: true)[1].hasPrefix("\u{1B}[7m>  a"))
    picker.press(.space)
    picker.press(.down)
    picker.vanished(id: "0002")
    #expect(
      lines(picker, 80)[...2] == [
        "Send to 1: a", " * a  new   tcp  0001d081884c  192.0.2.7:4000", ">  b  gone       0002d081884c",
      ])
    #expect(picker.lines(size: .usual, unicode: true)[2].hasPrefix("\u{1B}[2m>  b"))
    picker.press(.letter("b"))
    #expect(lines(picker, 80)[0] == "Send to 1: b_ (1 of 2)")
    picker.press(.enter)
    #expect(lines(PeerPicker(), 80)[0] == "Looking for peers...")
  }

  @Test("names are cut last, in their middle, and two different ones never become the same")
  func namesApart() {
    let names = [
      "Living room lamp upstairs left", "Living room lamp upstairs right", "Living room lamp downstairs left",
      "Living room lamp upstairs 17 left", "Living room lamp upstairs 18 left", "Phone 1", "Phone 11",
    ]
    let peers = names.enumerated().map { peer($1, "000\($0)") }
    #expect(rows(peers, 120).enumerated().allSatisfy { $1.hasPrefix(names[$0] + "  ") })
    for columns in [14, 16, 20, 24, 30, 40] {
      for unicode in [true, false] where unicode || columns > 20 {
        let rows = rows(peers, columns, unicode: unicode)
        #expect(Set(rows).count == names.count, "\(columns): \(rows)")
        for (row, name) in zip(rows, names) where displayWidth(name) <= columns - 4 {
          #expect(row.hasPrefix(name), "\(columns): \(row)")
        }
      }
    }
  }

  @Test("random names stay apart at forty columns")
  func randomNames() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20 {
      let names = Set((0..<30).map { _ in String((0..<50).map { _ in "abc".randomElement(using: &random) ?? "a" }) })
      let fitted = NamesApart.fitted(Array(names), toColumns: 36, unicode: true)
      #expect(Set(fitted).count == names.count, "\(names)")
      #expect(fitted.allSatisfy { displayWidth($0) <= 36 })
    }
  }

  @Test("of two peers whose names look alike the row keeps what tells them apart: whether it is known, or else digits")
  func lookalikes() {
    let mum = peer("Mum", "a100") { $0.standing = "known" }
    let other = peer("Мum", "b200") { $0.warning = "not the known 'Mum'" }
    #expect(
      rows([mum, other], 60) == [
        "Mum  known  tcp  a100d081884c  192.0.2.7:4000", "Мum  new    not the known 'Mum'  tcp  b200d081884c",
      ])
    let long = "Mum's phone in the hall"
    let namesakes = [
      peer(long, "a100") { $0.standing = "known" }, peer(long, "b200"), peer(long, "b201"),
    ]
    #expect(
      rows(namesakes, 24) == ["Mum's …e hall  known", "Mum's p…e hall  b200", "Mum's p…e hall  b201"])
    #expect(Set(rows(namesakes, 16)).count == 3)
  }

  @Test("a warning goes before what is aligned")
  func warning() {
    let long = peer("A quite long name of somebody's device", "0001")
    let stranger = peer("Living room", "0002") { $0.warning = "not the known 'Living-room'" }
    for columns in [50, 60, 80, 100] {
      #expect(rows([long, stranger], columns)[1].contains("new  not the known 'Living-room'"), "\(columns)")
    }
  }

  @Test("a stranger that looks like a known peer is told from it, however long the names are and whatever pads them")
  func paddedImpostor() {
    let petname = "Mum's telephone in the kitchen of the house"
    let known = peer(petname, "0001") { $0.standing = "known" }
    for name in [petname, petname + String(repeating: "\u{3164}", count: 5)] {
      let stranger = peer(name, "0002") { $0.warning = "not the known '\(petname)'" }
      for columns in 20...140 {
        let row = rows([known, stranger], columns)[1]
        #expect(row.contains("not the known") || row.contains("other key"), "\(columns): \(row)")
      }
    }
    let drawn = rows([peer("Mum\u{2800}\u{2800}known\u{3164}\u{3164}tcp", "0003")], 80)[0]
    #expect(drawn.hasPrefix("Mum\\u{2800}\\u{2800}known\\u{3164}\\u{3164}tcp  new"))
    #expect(rows([peer("\u{200D}", "0004")], 80)[0].hasPrefix("''  new"))
  }

  @Test("hostile names command no terminal, take no second line, and can't look like what is known of a device")
  func hostile() {
    let names = [
      "Mum  known  tcp  9f86d081884c", "a\u{1B}[2Jb", "a\nb", "a\u{202E}b", "\u{2066}", "", "  ", "\u{3000}",
      "z" + String(repeating: "\u{301}", count: 31), String(repeating: "\u{300}", count: 31),
      String(repeating: "\u{FDFD}", count: 21), String(repeating: "写", count: 21),
    ]
    let peers = names.enumerated().map { peer($1, "00\(10 + $0)") }
    for columns in [4, 20, 40, 80, 120] {
      for line in lines(picker(peers), columns) {
        #expect(displayWidth(line) < columns)
        let isBad = line.unicodeScalars.contains { scalar in
          [.control, .format, .lineSeparator].contains(scalar.properties.generalCategory)
        }
        #expect(!isBad)
        #expect(line.allSatisfy { $0.unicodeScalars.count <= 5 })
      }
    }
    let rows = rows(peers, 80)
    #expect(rows[0] == "Mum known tcp 9f86d081884c  new  tcp  0010d081884c  192.0.2.7:4000")
    for index in 5...7 { #expect(rows[index].hasPrefix("''  ")) }
  }

  @Test("fits every terminal, with the chosen row in view")
  func fits() {
    var picker = picker(
      (1...40).map { number in peer("peer 写真 with a long name \(number)", "0\(number)") { $0.standing = "known" } })
    for place in [0, 20, 39] {
      picker.press(.first)
      for _ in 0..<place { picker.press(.down) }
      for columns in [1, 10, 30, 80, 200] {
        for rows in [1, 2, 3, 4, 10, 24, 60] {
          let lines = lines(picker, columns, rows: rows)
          #expect(lines.allSatisfy { displayWidth($0) < max(2, columns) })
          #expect(lines.count <= max(1, rows - 1))
          #expect(lines.contains { $0.hasPrefix(columns > 10 ? ">  " : ">") || columns < 4 })
        }
      }
    }
  }
}
