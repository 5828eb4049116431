import Glibc
import PiconetBlueZ
import PiconetDBusValues

/// Writes down what bluetoothd says, for the tests of the object tree, which read it without a bus.
enum BlueZTranscript {
  static func lines(_ fact: BlueZFact) -> [String] {
    switch fact {
    case .interfacesAdded(let path, let interfaces):
      interfaces.sorted { $0.key < $1.key }.flatMap { name, properties in
        ["+ \(path) \(name)"]
          + properties.sorted { $0.key < $1.key }.compactMap { property, value in
            text(value).map { "+ \(path) \(name) \(property) \($0)" }
          }
      }
    case .interfacesRemoved(let path, let names): names.map { "- \(path) \($0)" }
    case .propertiesChanged(let path, let interface, let changed, let invalidated):
      changed.sorted { $0.key < $1.key }.compactMap { property, value in
        text(value).map { "= \(path) \(interface) \(property) \($0)" }
      } + invalidated.map { "x \(path) \(interface) \($0)" }
    default: []
    }
  }

  private static func text(_ value: DBusValue) -> String? {
    switch value {
    case .bool(let isTrue): "b \(isTrue)"
    case .int16(let number): "n \(number)"
    case .uint16(let number): "q \(number)"
    case .uint32(let number): "u \(number)"
    case .byte(let number): "y \(number)"
    case .string(let text): "s \(encoded(text))"
    case .path(let text): "o \(encoded(text))"
    case .array(of: "s", _): "as \(value.texts.map(encoded).joined(separator: ","))"
    default: nil
    }
  }

  private static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain = byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "%") && byte != UInt8(ascii: ",")
      return isPlain ? String(UnicodeScalar(byte)) : "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
    }.joined()
  }

  /// Writes to the file that PICONET_BLUEZ_TRANSCRIPT names, and nothing without it.
  static func write(_ lines: [String]) {
    guard let name = getenv("PICONET_BLUEZ_TRANSCRIPT"), let file = fopen(name, "w") else { return }
    fputs(lines.joined(separator: "\n") + "\n", file)
    fclose(file)
  }
}
