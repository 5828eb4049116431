import CPiconetOpenSSL
import PiconetEngine
import PiconetWire

/// The six digits that both screens show. With them two people can see that there is no man in the middle of their
/// link.
///
/// A code made from the channel's exported key alone could be forged by search: an attacker in the middle tries keys on
/// one of the two links until its code equals the other's, a million tries for six digits. So each side adds a nonce,
/// and neither can choose its own after it has seen the other's:
///
/// 1. The inviter sends `commitment(to:)` its nonce, with the invitation.
/// 2. The invited side sends its nonce, once its question is on the screen.
/// 3. The inviter reveals its nonce; the invited side checks it with `verify(_:against:)`.
/// 4. Both show `code(exportedKey:_:)`.
///
/// An attacker in the middle then has one chance in a million each time a person is asked.
public struct ShortCode: Sendable, Hashable, CustomStringConvertible {
  /// 0 to 999,999.
  public let value: UInt32

  /// The length of nonces, commitments and exported keys, in bytes.
  public static let byteCount = 32

  /// The label under which both sides export the channel's key (`SecureChannel.exportedKey(label:)`).
  public static let exporterLabel = "EXPORTER-piconet-short-code"

  // Each hash has its own label, ended by a zero byte, and otherwise fields of fixed length: no input to one is an
  // input to the other, and none can be parsed in two ways.
  private static let commitmentLabel = Array("piconet short code commitment\0".utf8)
  private static let codeLabel = Array("piconet short code\0".utf8)

  /// Makes a new nonce: 32 unpredictable bytes, to be used for one code only.
  /// - Throws: `internalError` if the system gives no random bytes.
  public static func makeNonce() throws(SecureChannelFailure) -> [UInt8] {
    var nonce = [UInt8](repeating: 0, count: byteCount)
    guard RAND_bytes(&nonce, Int32(byteCount)) == 1 else {
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    return nonce
  }

  /// Returns the inviter's first message: it binds the inviter to the nonce without showing it. 32 bytes.
  public static func commitment(to nonce: [UInt8]) -> [UInt8] { sha256(commitmentLabel, nonce) }

  /// Returns whether the revealed nonce is the one committed to.
  public static func verify(_ nonce: [UInt8], against commitment: [UInt8]) -> Bool {
    nonce.count == byteCount && Self.commitment(to: nonce) == commitment
  }

  /// Returns the code of an invitation. Nil if the key or a nonce is not 32 bytes long, or the inviter's nonce does not
  /// match the commitment.
  ///
  /// The first 8 bytes of SHA-256(label, exported key, the inviter's and the invited side's fingerprint, their nonces
  /// in the same order), big-endian, modulo 10^6. With 2^64 values no code is more likely than another by more than one
  /// part in 10^13; with 20 bits, which are also enough for six digits, 48,576 codes would come up twice as often as
  /// the others.
  public static func code(exportedKey: [UInt8], _ inputs: CodeInputs) -> ShortCode? {
    guard [exportedKey, inputs.inviterNonce, inputs.invitedNonce].allSatisfy({ $0.count == byteCount }),
      verify(inputs.inviterNonce, against: inputs.commitment)
    else { return nil }
    let digest = sha256(
      codeLabel, exportedKey, inputs.inviter.bytes, inputs.invited.bytes, inputs.inviterNonce, inputs.invitedNonce)
    let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return ShortCode(value: UInt32(number % 1_000_000))
  }

  /// The form that both screens show, such as `042 917`.
  public var description: String {
    let digits = String(value)
    let padded = String(repeating: "0", count: 6 - digits.count) + digits
    return "\(padded.prefix(3)) \(padded.suffix(3))"
  }

  private init(value: UInt32) { self.value = value }
}
