/// A right of a known peer in one program, granted by a person.
public struct PeerRight: Sendable, Hashable, CustomStringConvertible {
  /// The action that a person may allow a peer, or allow towards it.
  @nonexhaustive
  public enum Action: String, Sendable, Hashable, CaseIterable {
    /// This device may send to the peer without another question.
    case send
    /// The peer may send to this device without another question.
    case push
  }

  /// The allowed action.
  public var action: Action
  /// The program, see `NodeConfiguration.program`; nil: any program.
  public var program: String?

  /// Creates a right in this program; nil: in any program.
  public init(_ action: Action, _ program: String?) {
    self.action = action
    self.program = program
  }

  /// The longest program's name, in bytes of UTF-8.
  public static let programByteLimit = 127

  /// The right as one word of printable ASCII, whatever the program's name: `push:images`, `send:*`.
  public var description: String { "\(action.rawValue):\(program.map(Self.encoded) ?? "*")" }

  /// Reads the form that `description` gives; nil for any other text.
  public init?(_ word: some StringProtocol) {
    guard let colon = word.firstIndex(of: ":"), let action = Action(rawValue: String(word[..<colon])) else {
      return nil
    }
    let rest = String(word[word.index(after: colon)...])
    if rest == "*" {
      self.init(action, nil)
      return
    }
    guard let program = Self.decoded(rest), !program.isEmpty, program.utf8.count <= Self.programByteLimit,
      Self.encoded(program) == rest
    else { return nil }
    self.init(action, program)
  }

  // As in a URL (RFC 3986, section 2.1), so that a word stays one.
  private static func encoded(_ program: String) -> String {
    program.utf8.reduce(into: "") { text, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        text += byte < 16 ? "%0" : "%"
        text += String(byte, radix: 16)
      }
    }
  }

  private static func decoded(_ text: String) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), rest.count >= 2 else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

/// How a person came to accept a key as a device's.
@nonexhaustive
public enum PeerConfirmation: String, Sendable, Hashable, CaseIterable {
  /// Both screens showed the same code.
  case code
  /// A person has given the fingerprint.
  case fingerprint
  /// It was not confirmed: it was the first key to answer.
  case firstUse = "first-use"
}
