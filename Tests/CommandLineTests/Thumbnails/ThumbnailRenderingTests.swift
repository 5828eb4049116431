import Foundation
import PiconetTerminal
import Testing

@testable import PiconetCommandLine

extension Picture {
  /// Made of rows of single letters: red, green, blue, white, black.
  fileprivate init(_ rows: String...) {
    let colours: [Character: Pixel] = [
      "r": Pixel(red: 255, green: 0, blue: 0), "g": Pixel(red: 0, green: 255, blue: 0),
      "b": Pixel(red: 0, green: 0, blue: 255), "w": Pixel(red: 255, green: 255, blue: 255), ".": .black,
    ]
    self.init(width: rows[0].count, height: rows.count)
    for (y, row) in rows.enumerated() {
      for (x, letter) in row.enumerated() { self[x, y] = colours[letter] ?? .black }
    }
  }
}

@Suite("Pictures on a terminal")
struct ThumbnailRenderingTests {
  @Test("in kitty's protocol they come in parts of 4096, which ask for no answer")
  func kitty() {
    #expect(
      KittyGraphics.text(of: Picture("rg"), columns: 3, rows: 2)
        == "\u{1B}_Ga=T,f=24,s=2,v=1,c=3,r=2,q=2,m=0;/wAAAP8A\u{1B}\\")
    let large = KittyGraphics.text(of: Picture(width: 64, height: 64), columns: 14, rows: 7)
    let parts = large.components(separatedBy: "\u{1B}\\").dropLast()
    #expect(parts.count == 4)
    #expect(parts.dropFirst().allSatisfy { $0.hasPrefix("\u{1B}_Gq=2,m=") })
    #expect(parts.map { $0.contains("m=1;") } == [true, true, true, false])
    let texts = parts.map { $0.components(separatedBy: ";")[1] }
    #expect(texts.allSatisfy { $0.utf8.count <= KittyGraphics.partLimit })
    #expect(Data(base64Encoded: texts.joined()) == Data(count: 64 * 64 * 3))
  }

  @Test("as sixels each colour of six lines has its layer, with runs, and nothing for what is empty behind it")
  func sixel() {
    #expect(
      SixelGraphics.text(of: Picture("rrrrrb", "rrrrrb"))
        == "\u{1B}P0;1q\"1;1;6;2#5;2;0;0;100#180;2;100;0;0#5!5?B$#180!5B-\u{1B}\\")
    let high = SixelGraphics.text(of: Picture(width: 1, height: 8, filledWith: .black))
    #expect(high == "\u{1B}P0;1q\"1;1;1;8#0;2;0;0;0#0~-#0B-\u{1B}\\")
  }

  @Test("in block characters two rows are a line, and only colours that change are said")
  func blocks() {
    #expect(
      BlockGraphics.lines(of: Picture("rrg", "bbb"), isFull: true) == [
        "\u{1B}[38;2;255;0;0;48;2;0;0;255m▀▀\u{1B}[38;2;0;255;0m▀\u{1B}[0m"
      ])
    #expect(
      BlockGraphics.lines(of: Picture("r", "w", ".", "b"), isFull: false) == [
        "\u{1B}[38;5;196;48;5;231m▀\u{1B}[0m", "\u{1B}[38;5;16;48;5;21m▀\u{1B}[0m",
      ])
    let grey = Picture(width: 1, height: 2, filledWith: Picture.Pixel(red: 128, green: 128, blue: 128))
    #expect(BlockGraphics.lines(of: grey, isFull: false) == ["\u{1B}[38;5;244;48;5;244m▀\u{1B}[0m"])
  }

  @Test("a picture that is made smaller has means, a larger one repeats, and of a wide one the middle is shown")
  func scaling() {
    let picture = Picture("rb", "rb")
    #expect(picture.scaled(0..<2, 0..<2, to: 1, 1)[0, 0] == Picture.Pixel(red: 127, green: 0, blue: 127))
    #expect(picture.scaled(0..<1, 0..<2, to: 2, 2) == Picture("rr", "rr"))
    #expect(Picture("rrggbb", "rrggbb").square(2) == Picture("gg", "gg"))
    #expect(Picture("r", "g", "b").square(1) == Picture("g"))
  }

  @Test("below each one is the name of its file, cut to its width; how many there are goes by the terminal's")
  func row() throws {
    let squares = Array(repeating: Picture(width: 64, height: 64), count: 5)
    let names = ["IMG_20260101_120000.jpg", "b.png", "c.jpg", "d.jpg", "e.jpg"]
    for columns in [12, 20, 40, 80, 200] {
      let row = try #require(ThumbnailRow(squares, names: names, columns: columns))
      let lines = row.lines(.symbols(isFull: true), unicode: true)
      #expect(lines.count == row.rows + 1)
      for line in lines {
        let shown = line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
        #expect(displayWidth(shown) < columns, "\(columns): \(shown)")
      }
      #expect(lines.dropLast().allSatisfy { $0.filter { $0 == "▀" }.count == row.columns - row.squares.count + 1 })
    }
    let wide = try #require(ThumbnailRow(squares, names: names, columns: 80))
    #expect(wide.squares.count == 5)
    #expect(wide.lines(.symbols(isFull: true), unicode: true).last?.hasPrefix("  IMG_202…00.jpg b.png") == true)
    #expect(ThumbnailRow(squares, names: names, columns: 10) == nil)
    #expect(ThumbnailRow([], names: [], columns: 80) == nil)
    let kitty = wide.lines(.kitty, unicode: true)
    #expect(kitty.count == 2 && kitty[0].contains("s=336,v=64,c=74,r=7,"))
    #expect(wide.lines(.sixel, unicode: false).last?.contains("b.png, c.jpg") == true)
    // A blank row at the top, in a terminal's own words.
    #expect(wide.lines(drawn: ["x"], unicode: true, isAligned: true).first == "  x")
  }

  @Test("how they are shown goes by what the terminal says, and by what the person wants")
  func forms() {
    typealias Case = (variables: [String: String], choice: ThumbnailChoice, sixel: Bool, form: ThumbnailForm?)
    let xterm = ["TERM": "xterm-256color", "LANG": "C.UTF-8"]
    let full = xterm.merging(["COLORTERM": "truecolor"]) { $1 }
    func with(_ more: [String: String]) -> [String: String] { full.merging(more) { $1 } }
    let cases: [Case] = [
      (xterm, .auto, false, .symbols(isFull: false)),
      (full, .auto, false, .symbols(isFull: true)),
      (full, .auto, true, .sixel),
      (with(["SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"]), .auto, true, .symbols(isFull: true)),
      (with(["KITTY_WINDOW_ID": "1"]), .auto, true, .kitty),
      (with(["TERM": "xterm-kitty"]), .auto, false, .kitty),
      (with(["TERM_PROGRAM": "WezTerm"]), .auto, false, .kitty),
      (with(["KITTY_WINDOW_ID": "1", "TMUX": "/tmp/x,1,0"]), .auto, false, .symbols(isFull: true)),
      (with(["TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"]), .auto, true, .sixel),
      (with(["NO_COLOR": "1"]), .auto, true, nil),
      (with(["NO_COLOR": "1"]), .symbols, false, .symbols(isFull: true)),
      (["TERM": "xterm", "LANG": "C.UTF-8"], .auto, false, nil),
      (["TERM": "xterm-256color", "LANG": "C"], .auto, false, nil),
      (["TERM": "xterm"], .symbols, false, .symbols(isFull: false)),
      (xterm, .kitty, false, .kitty), (xterm, .sixel, false, .sixel), (full, .off, true, nil),
      (["TERM": "dumb"], .kitty, false, nil), ([:], .symbols, false, nil),
    ]
    for (variables, choice, sixel, form) in cases {
      let traits = TerminalTraits(isTerminal: true) { variables[$0] }
      #expect(
        ThumbnailForm(choice, traits: traits, environment: { variables[$0] }, hasSixel: { sixel }) == form,
        "\(variables) \(choice)")
    }
    let pipe = TerminalTraits(isTerminal: false) { full[$0] }
    #expect(ThumbnailForm(.kitty, traits: pipe, environment: { full[$0] }, hasSixel: { true }) == nil)
  }

  @Test("a terminal's attributes are found between what a person types, and 4 among them means sixels")
  func attributes() {
    #expect(TerminalAttributes(Array("\u{1B}[?62;4;22c".utf8))?.hasSixel == true)
    #expect(TerminalAttributes(Array("yes\u{1B}[A\u{1B}[?1;2cno".utf8))?.numbers == [1, 2])
    // VT400 without sixels: only the class is 4 there.
    #expect(TerminalAttributes(Array("\u{1B}[?4;6c".utf8))?.hasSixel == false)
    #expect(TerminalAttributes(Array("\u{1B}[?62;4".utf8)) == nil)
    #expect(TerminalAttributes(Array("\u{1B}[?62;4m\u{1B}[?".utf8)) == nil)
    #expect(TerminalAttributes([]) == nil)
    #expect(TerminalAttributes(Array("\u{1B}[?99999999999999999999;4c".utf8))?.hasSixel == false)
  }
}
