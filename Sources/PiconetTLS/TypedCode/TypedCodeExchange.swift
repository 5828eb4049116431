import CPiconetOpenSSL
import PiconetEngine
import PiconetWire

/// The scalar of a code for one invited key: the w of SPAKE2. Making it costs some 30 ms and 16 MiB, so the invited
/// side makes it once for each code. After that no message of a stranger costs more than a few point multiplications.
public struct TypedCodeScalar: Sendable {
  let password: SecretBytes
  let invited: PeerID

  // RFC 9382, section 3.2, requires a memory-hard function. SPAKE2 gives no side anything against which guesses could
  // be checked, so it need not be harder than this for codes that live for minutes: it is there in case the curve is
  // broken one day. Because the invited side's key is in the salt, a table of all codes is good for only one device.
  private static let label = Array("piconet typed code\0".utf8)
  private static let cost: (n: UInt64, r: UInt64, p: UInt64, memory: UInt64) = (1 << 14, 8, 1, 1 << 25)
  private static let wideCount = SPAKE2.scalarCount + 8

  /// Computes scrypt (RFC 7914) of the digits, N = 2^14, r = 8, p = 1, salted with a label and the invited side's id:
  /// 40 bytes, modulo the order of the group.
  /// - Throws: `internalError` with OpenSSL's reason.
  public init(_ code: TypedCode, invited: PeerID) throws(SecureChannelFailure) {
    let salt = Self.label + invited.bytes
    let cost = Self.cost
    let wide = try SecretBytes(count: Self.wideCount) { wide throws(SecureChannelFailure) in
      var digits = code.digits
      let done = digits.withUTF8 { digits in
        digits.withMemoryRebound(to: CChar.self) {
          EVP_PBE_scrypt(
            $0.baseAddress, $0.count, salt, salt.count, cost.n, cost.r, cost.p, cost.memory, wide.baseAddress,
            wide.count)
        }
      }
      guard done == 1 else { throw SecureChannelFailure(.internalError, OpenSSLError.takeText()) }
    }
    password = try SPAKE2.scalar(reducing: wide)
    self.invited = invited
  }
}

/// One try to prove that both ends of a link know the same code: SPAKE2, bound to the link's TLS, both keys and the
/// roles. The inviter is A of RFC 9382, the invited side B.
///
/// The invited side gets the inviter's share and answers with its own share and confirmation. The inviter checks that,
/// and sends its own confirmation. A wrong confirmation means that the other end doesn't know the code; neither side
/// learns what the other one guessed.
public struct TypedCodeExchange: Sendable {
  /// The two ends of an invitation.
  public enum Role: Sendable, Hashable { case inviter, invited }

  /// The label under which both sides export the channel's key (`SecureChannel.exportedKey(label:)`).
  public static let exporterLabel = "EXPORTER-piconet-typed-code"
  public static let shareCount = SPAKE2.shareCount
  public static let confirmationCount = SPAKE2.confirmationCount

  private static let inviterLabel = Array("piconet inviter\0".utf8)
  private static let invitedLabel = Array("piconet invited\0".utf8)

  private let exchange: SPAKE2
  private var confirmations: SPAKE2.Confirmations?

  /// - Parameters:
  ///   - scalar: computed from the code and the invited side's key.
  ///   - exportedKey: the link's exported key, 32 bytes.
  /// - Throws: `internalError` with OpenSSL's reason.
  public init(
    _ role: Role, _ scalar: TypedCodeScalar, inviter: PeerID, exportedKey: [UInt8]
  ) throws(SecureChannelFailure) {
    try self.init(role, scalar, inviter: inviter, exportedKey: exportedKey, secret: nil)
  }

  init(
    _ role: Role, _ scalar: TypedCodeScalar, inviter: PeerID, exportedKey: [UInt8], secret: SecretBytes?
  ) throws(SecureChannelFailure) {
    let context = SPAKE2.Context(
      identityA: Self.inviterLabel + inviter.bytes, identityB: Self.invitedLabel + scalar.invited.bytes,
      additionalData: exportedKey)
    exchange = try SPAKE2(role == .inviter ? .a : .b, context, password: scalar.password, secret: secret)
  }

  /// Our share, 65 bytes, for the remote side.
  public var share: [UInt8] { exchange.share }

  /// Takes the remote side's share, and returns our confirmation for it: 32 bytes.
  /// - Throws: `protocolViolation` for a share that can't be the remote side's; `internalError` with OpenSSL's reason.
  public mutating func take(remoteShare: [UInt8]) throws(SecureChannelFailure) -> [UInt8] {
    let confirmations = try exchange.confirmations(remoteShare: remoteShare)
    self.confirmations = confirmations
    return confirmations.own
  }

  /// Returns whether the remote side knows the code; false before its share has been taken. Runs in constant time.
  public func verifies(_ confirmation: [UInt8]) -> Bool {
    guard let expected = confirmations?.expected, expected.count == confirmation.count else { return false }
    return CRYPTO_memcmp(expected, confirmation, expected.count) == 0
  }
}
