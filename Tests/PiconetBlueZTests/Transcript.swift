import PiconetBlueZ
import PiconetDBusValues

/// What bluetoothd said, one line each, as `BlueZTranscript` in PiconetBluetoothTests wrote it down: `+ path interface
/// property type value`, `= …` for a change, `- path interface`, `x path interface property` for an invalidated
/// property. Values are percent-encoded.
enum Transcript {
  static func facts(_ text: String) -> [BlueZFact] {
    text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      guard words.count >= 3 else { return nil }
      switch words[0] {
      case "+":
        let property = words.count == 6 ? [words[3]: value(words[4], words[5])].compactMapValues { $0 } : [:]
        return .interfacesAdded(path: words[1], [words[2]: property])
      case "=" where words.count == 6:
        return .propertiesChanged(
          path: words[1], interface: words[2], changed: [words[3]: value(words[4], words[5])].compactMapValues { $0 },
          invalidated: [])
      case "x" where words.count == 4:
        return .propertiesChanged(path: words[1], interface: words[2], changed: [:], invalidated: [words[3]])
      case "-": return .interfacesRemoved(path: words[1], [words[2]])
      default: return nil
      }
    }
  }

  private static func value(_ type: String, _ text: String) -> DBusValue? {
    switch type {
    case "b": .bool(text == "true")
    case "n": Int16(text).map(DBusValue.int16)
    case "q": UInt16(text).map(DBusValue.uint16)
    case "u": UInt32(text).map(DBusValue.uint32)
    case "y": UInt8(text).map(DBusValue.byte)
    case "s": .string(decoded(text))
    case "o": .path(decoded(text))
    case "as": .strings(text.isEmpty ? [] : text.split(separator: ",").map { decoded(String($0)) })
    default: nil
    }
  }

  private static func decoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let first = rest.popFirst() {
      if first == UInt8(ascii: "%"), let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        bytes.append(byte)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(first)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
