/// A key as the peer list understands it.
enum PickerKey: Hashable, Sendable {
  case digit(Int)
  case up, down, first, last
  case enter
  case backspace
  /// q, Escape, end of input.
  case quit
  /// Ctrl-C.
  case interrupt
}

/// Makes keys of the bytes of a terminal in raw mode. An Escape alone can be told from the beginning of an arrow key
/// only by what does not follow: call `flush()` when nothing came for a moment.
struct PickerKeyDecoder: Sendable {
  private var sequence: [UInt8] = []
  /// The longest escape sequence that is followed; a longer one is dropped.
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
    switch byte {
    case Self.escape:
      sequence = [byte]
      return nil
    case 0x03: return .interrupt
    case 0x04, UInt8(ascii: "q"), UInt8(ascii: "Q"): return .quit
    case 0x0A, 0x0D: return .enter
    case 0x08, 0x7F: return .backspace
    case UInt8(ascii: "k"), 0x10: return .up
    case UInt8(ascii: "j"), 0x0E: return .down
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return .digit(Int(byte - UInt8(ascii: "0")))
    default: return nil
    }
  }

  private static let escape: UInt8 = 0x1B

  private static let keys: [[UInt8]: PickerKey] = [
    Array("A".utf8): .up, Array("B".utf8): .down, Array("H".utf8): .first, Array("F".utf8): .last,
    Array("1~".utf8): .first, Array("4~".utf8): .last,
  ]
}
