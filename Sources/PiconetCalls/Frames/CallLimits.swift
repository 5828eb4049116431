/// The limits of what a node takes of one member. Each side states its own in its greeting.
public struct CallLimits: Hashable, Sendable {
  /// The longest frame in bytes, once its parts are put together.
  public var frame: Int
  /// The number of calls that have no answer yet.
  public var calls: Int

  public init(frame: Int, calls: Int) {
    self.frame = frame
    self.calls = calls
  }

  /// The limits that every node takes, which also hold for a member that has not greeted yet.
  public static let least = CallLimits(frame: 65_536, calls: 16)
  /// The limits of a node unless its program says otherwise.
  public static let usual = CallLimits(frame: 4 * 1_048_576, calls: 256)

  /// The most bytes of arguments of one member's calls that are being served, unless the program says otherwise.
  public static let arguments = 32 * 1_048_576
  /// The most bytes of long results that wait for one member to take them, unless the program says otherwise.
  public static let results = 32 * 1_048_576

  /// The longest path in bytes.
  public static let path = 255
  /// The longest name of an interface, a method, a signal, a value or an error in bytes.
  public static let name = 127
  /// The longest text of a failure in bytes; a longer one is cut.
  public static let text = 1_024
  /// The longest frame in one piece, in bytes; a longer one goes in parts, in the channel for those.
  public static let whole = 16_384
  /// The longest deadline of a call in milliseconds: a day.
  public static let milliseconds: UInt64 = 86_400_000

  /// Returns whether it may be an object's path: `/`, or names behind one `/` each, of the ASCII letters and digits,
  /// `_`, `-` and `.`.
  public static func isPath(_ path: String) -> Bool {
    var path = path
    // Each call has a path and two names: comparing characters would cost more than the rest of its frame.
    return path.withUTF8 { bytes in
      guard (1...Self.path).contains(bytes.count), bytes[0] == slash else { return false }
      if bytes.count == 1 { return true }
      var last = slash
      for byte in bytes.dropFirst() {
        guard isPlain(byte) || byte == slash && last != slash else { return false }
        last = byte
      }
      return last != slash
    }
  }

  /// Returns whether it may be a name: like a part of a path, 1 to 127 bytes; the name of a method may have `(`, `:`
  /// and `)` as well.
  public static func isName(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { bytes in
      guard (1...Self.name).contains(bytes.count) else { return false }
      var hasPlain = false
      for byte in bytes {
        if isPlain(byte) {
          hasPlain = true
        } else if byte != UInt8(ascii: "("), byte != UInt8(ascii: ":"), byte != UInt8(ascii: ")") {
          return false
        }
      }
      return hasPlain
    }
  }

  private static let slash = UInt8(ascii: "/")

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  /// Returns at most `Self.text` bytes of it, cut between characters.
  static func shortened(_ text: String) -> String {
    if text.utf8.count <= Self.text { return text }
    var text = String(text.unicodeScalars.prefix(Self.text))
    while text.utf8.count > Self.text { text.unicodeScalars.removeLast() }
    return text
  }
}
