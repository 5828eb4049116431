import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

@Suite("Keys of a terminal")
struct PickerKeyTests {
  private func keys(_ bytes: [UInt8], byteByByte: Bool) -> [PickerKey] {
    var decoder = PickerKeyDecoder()
    let keys = byteByByte ? bytes.flatMap { decoder.decode([$0]) } : decoder.decode(bytes)
    return keys + decoder.flush()
  }

  private func keys(_ text: String, byteByByte: Bool) -> [PickerKey] { keys(Array(text.utf8), byteByByte: byteByByte) }

  @Test("are understood whole and byte by byte", arguments: [false, true])
  func keys(byteByByte: Bool) {
    #expect(keys("\u{1B}[B\u{E}\u{1B}OA\u{10}\r", byteByByte: byteByByte) == [.down, .down, .up, .up, .enter])
    #expect(
      keys("\u{1B}[H\u{1B}[4~\u{1B}[5~\u{1B}[6~\u{7F}", byteByByte: byteByByte)
        == [.first, .last, .pageUp, .pageDown, .backspace])
    #expect(keys("j1 q", byteByByte: byteByByte) == [.letter("j"), .letter("1"), .space, .letter("q")])
    #expect(keys("\u{15}\u{3}\u{1A}\u{4}", byteByByte: byteByByte) == [.clear, .interrupt, .suspend, .quit])
    #expect(keys("\u{1B}", byteByByte: byteByByte) == [.quit])
    #expect(keys("\u{1B}[1;5C\u{1B}[", byteByByte: byteByByte) == [])
    #expect(keys("é写😀", byteByByte: byteByByte) == [.letter("é"), .letter("写"), .letter("😀")])
  }

  @Test("bytes that are no letter are dropped, and what follows them is not", arguments: [false, true])
  func wrongBytes(byteByByte: Bool) {
    for wrong in [[0x80], [0xC3], [0xE5, 0x86], [0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xC3, 0xC3]] as [[UInt8]] {
      #expect(keys(wrong + [0x61], byteByByte: byteByByte) == [.letter("a")], "\(wrong)")
    }
  }

  @Test("an endless escape sequence is dropped")
  func endless() {
    var decoder = PickerKeyDecoder()
    let keys = decoder.decode(Array("\u{1B}[".utf8) + Array(repeating: 0x31, count: 10_000))
    #expect(keys.allSatisfy { $0 == .letter("1") })
    #expect(!decoder.isWaiting)
  }
}
