/// A key as the peer list understands it.
enum PickerKey: Hashable, Sendable {
  /// A letter typed into the filter.
  case letter(Unicode.Scalar)
  case up, down, pageUp, pageDown, first, last
  /// Marks a row, or takes the mark away.
  case space
  case enter
  /// Tab: all is done.
  case done
  case backspace
  /// Ctrl-U: clears the filter.
  case clear
  /// Escape, end of input.
  case quit
  /// Ctrl-C.
  case interrupt
  /// Ctrl-Z.
  case suspend
}

/// Turns the bytes of a terminal in raw mode into keys. An Escape alone differs from the beginning of an arrow key only
/// in that nothing follows: call `flush()` when nothing has come for a moment.
struct PickerKeyDecoder: Sendable {
  private var sequence: [UInt8] = []
  /// The beginning of a letter in UTF-8.
  private var letter: [UInt8] = []
  /// The longest escape sequence that is parsed; a longer one is dropped.
  private static let longestSequence = 16

  /// Whether an Escape waits for what follows.
  var isWaiting: Bool { !sequence.isEmpty }

  mutating func decode(_ bytes: some Sequence<UInt8>) -> [PickerKey] { bytes.compactMap { decode($0) } }

  /// The keys that were waiting for more bytes.
  mutating func flush() -> [PickerKey] {
    defer { sequence = [] }
    return sequence == [Self.escape] ? [.quit] : []
  }

  private mutating func decode(_ byte: UInt8) -> PickerKey? {
    switch sequence.count {
    case 0: return plain(byte)
    case 1 where byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O"):
      sequence.append(byte)
      return nil
    case 1:
      // Escape, then another key: two key presses.
      sequence = byte == Self.escape ? [byte] : []
      return .quit
    default:
      sequence.append(byte)
      // ECMA-48, section 5.4: parameters and intermediates, then one final byte.
      if (0x40...0x7E).contains(byte) {
        defer { sequence = [] }
        return Self.keys[Array(sequence.dropFirst(2))]
      }
      if sequence.count >= Self.longestSequence { sequence = [] }
      return nil
    }
  }

  private mutating func plain(_ byte: UInt8) -> PickerKey? {
    if byte >= 0x80 { return partOfLetter(byte) }
    letter = []
    switch byte {
    case Self.escape:
      sequence = [byte]
      return nil
    case UInt8(ascii: " "): return .space
    case 0x21...0x7E: return .letter(Unicode.Scalar(byte))
    default: return Self.controls[byte]
    }
  }

  /// Bytes that are not UTF-8 are dropped.
  private mutating func partOfLetter(_ byte: UInt8) -> PickerKey? {
    if byte >= 0xC0 { letter = [] } else if letter.isEmpty { return nil }
    letter.append(byte)
    guard let length = Self.length(startingWith: letter[0]), letter.count >= length else { return nil }
    defer { letter = [] }
    return String(validating: letter, as: UTF8.self)?.unicodeScalars.first.map(PickerKey.letter)
  }

  private static func length(startingWith byte: UInt8) -> Int? {
    switch byte {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }

  private static let escape: UInt8 = 0x1B

  private static let controls: [UInt8: PickerKey] = [
    0x03: .interrupt, 0x04: .quit, 0x0A: .enter, 0x0D: .enter, 0x09: .done, 0x08: .backspace, 0x7F: .backspace,
    0x15: .clear,
    0x10: .up, 0x0E: .down, 0x1A: .suspend,
  ]

  private static let keys: [[UInt8]: PickerKey] = [
    Array("A".utf8): .up, Array("B".utf8): .down, Array("H".utf8): .first, Array("F".utf8): .last,
    Array("1~".utf8): .first, Array("4~".utf8): .last, Array("5~".utf8): .pageUp, Array("6~".utf8): .pageDown,
  ]
}
