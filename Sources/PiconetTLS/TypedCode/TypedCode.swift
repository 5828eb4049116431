import CPiconetOpenSSL
import PiconetEngine
import PiconetWire

/// A code that one device shows, or has on a label, and that a person types on the other, where no person can compare
/// two screens.
///
/// Six digits are enough. Neither an eavesdropper nor a man in the middle can search for them (`TypedCodeExchange`),
/// each guess is a separate attempt, and three wrong ones end a code. A code that stays on a label for years may be
/// longer.
public struct TypedCode: Sendable, Hashable {
  /// The digits alone.
  public let digits: String

  /// The number of digits that a code may have.
  public static let lengths = 6...16

  /// Reads a code as people type it: digits, with spaces or hyphens between them.
  /// - Returns: nil unless there are 6 to 16 digits and nothing else.
  public init?(_ text: some StringProtocol) {
    var digits = ""
    for character in text.utf8 {
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.unicodeScalars.append(Unicode.Scalar(character))
      case UInt8(ascii: " "), UInt8(ascii: "-"): continue
      default: return nil
      }
      if digits.utf8.count > Self.lengths.upperBound { return nil }
    }
    guard Self.lengths.contains(digits.utf8.count) else { return nil }
    self.digits = digits
  }

  private init(digits: String) { self.digits = digits }

  /// Makes a new code of six unpredictable digits.
  /// - Throws: `internalError` if the system gives no random bytes.
  public static func random() throws(SecureChannelFailure) -> TypedCode {
    // With 2^64 values no code is more likely than another by more than one part in 10^13.
    var bytes = [UInt8](repeating: 0, count: 8)
    guard RAND_priv_bytes(&bytes, Int32(bytes.count)) == 1 else {
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
    let digits = String(number)
    return TypedCode(digits: String(repeating: "0", count: lengths.lowerBound - digits.count) + digits)
  }

  /// The form that a screen shows: groups of three from the left, such as `042 917`.
  public var grouped: String {
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, index % 3 == 0 { text.append(" ") }
      text.append(digit)
    }
    return text
  }
}

extension TypedCode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A description without the code itself: the code is a secret as long as it counts, and must not appear in a log.
  public var description: String { "a code of \(digits.utf8.count) digits" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
