import CPiconetOpenSSL
import PiconetEngine

/// One side of SPAKE2-P256-SHA256-HKDF-HMAC (RFC 9382). Two sides that hold the same password prove it to each other.
/// An attacker who doesn't know it has one guess per run, at either end or in the middle, and gets nothing that could
/// be searched offline.
///
/// The key that the two share at the end is not handed out. TLS secures everything that follows, and `additionalData`
/// binds the confirmations to it.
struct SPAKE2: Sendable {
  /// The sides in the RFC: they have different masks, so that neither accepts its own share back.
  enum Role: Sendable, Hashable { case a, b }

  /// The data on which both sides must agree besides the password.
  struct Context: Sendable, Hashable {
    var identityA: [UInt8]
    var identityB: [UInt8]
    /// Part of the input to the confirmation keys (section 4).
    var additionalData: [UInt8]
  }

  /// The MACs of section 4 over the whole transcript, 32 bytes each.
  struct Confirmations: Sendable, Hashable {
    /// The MAC that this side sends.
    var own: [UInt8]
    /// The MAC that the remote side must send.
    var expected: [UInt8]
  }

  /// pA or pB: 65 bytes, to be sent.
  let share: [UInt8]

  private let role: Role
  private let context: Context
  private let password: SecretBytes
  private let secret: SecretBytes

  static let shareCount = Int(PICONET_SPAKE2_POINT)
  static let scalarCount = Int(PICONET_SPAKE2_SCALAR)
  static let confirmationCount = Int(PICONET_SHA256)

  /// - Parameters:
  ///   - password: w, 32 bytes, below the order of the group: see `scalar(reducing:)`.
  ///   - secret: x or y, for this run only; a test may supply one.
  /// - Throws: `internalError` with OpenSSL's reason.
  init(
    _ role: Role, _ context: Context, password: SecretBytes, secret: SecretBytes? = nil
  ) throws(SecureChannelFailure) {
    let secret = if let secret { secret } else { try Self.randomScalar() }
    var share = [UInt8](repeating: 0, count: Self.shareCount)
    let done = password.withBytes { password in
      secret.withBytes { piconet_spake2_share(role == .a ? 1 : 0, password.baseAddress, $0.baseAddress, &share) }
    }
    guard done == 1 else { throw Self.failed }
    self.role = role
    self.context = context
    self.password = password
    self.secret = secret
    self.share = share
  }

  /// Returns the MACs that the two sides confirm to each other, once the remote side's share has come.
  /// - Throws: `protocolViolation` for a share that is not a point of the group in uncompressed form, is our own, or is
  ///   nothing but the mask; `internalError` with OpenSSL's reason.
  func confirmations(remoteShare: [UInt8]) throws(SecureChannelFailure) -> Confirmations {
    guard remoteShare.count == Self.shareCount, remoteShare != share else { throw Self.badShare }
    let element = try SecretBytes(count: Self.shareCount) { element throws(SecureChannelFailure) in
      let outcome = password.withBytes { password in
        secret.withBytes {
          piconet_spake2_group_element(
            role == .a ? 1 : 0, password.baseAddress, $0.baseAddress, remoteShare, element.baseAddress)
        }
      }
      if outcome == Int32(PICONET_SPAKE2_BAD_SHARE) { throw Self.badShare }
      guard outcome == 1 else { throw Self.failed }
    }
    let transcript = transcript(remoteShare: remoteShare, element: element)
    let keys = try Self.confirmationKeys(of: transcript, context.additionalData)
    let half = keys.count / 2
    let (macA, macB) = try keys.withBytes { keys throws(SecureChannelFailure) in
      (
        try Self.mac(UnsafeBufferPointer(rebasing: keys[..<half]), transcript),
        try Self.mac(UnsafeBufferPointer(rebasing: keys[half...]), transcript)
      )
    }
    return role == .a ? Confirmations(own: macA, expected: macB) : Confirmations(own: macB, expected: macA)
  }

  // MARK: Key schedule, section 4

  /// Returns TT: each field follows its length, 8 bytes little-endian.
  private func transcript(remoteShare: [UInt8], element: SecretBytes) -> SecretBytes {
    let (shareA, shareB) = role == .a ? (share, remoteShare) : (remoteShare, share)
    let open = [context.identityA, context.identityB, shareA, shareB]
    let count = open.reduce(element.count + password.count) { $0 + $1.count } + 6 * 8
    return SecretBytes(count: count) { transcript in
      var end = 0
      func append(_ field: some Collection<UInt8>) {
        for shift in stride(from: 0, to: 64, by: 8) {
          transcript[end] = UInt8(truncatingIfNeeded: field.count >> shift)
          end += 1
        }
        for byte in field {
          transcript[end] = byte
          end += 1
        }
      }
      for field in open { append(field) }
      element.withBytes { append($0) }
      password.withBytes { append($0) }
    }
  }

  /// Returns KcA and KcB, 16 bytes each. Ke, the half of the hash that would key a session, is erased.
  private static func confirmationKeys(
    of transcript: SecretBytes, _ additionalData: [UInt8]
  ) throws(SecureChannelFailure) -> SecretBytes {
    let hash = SecretBytes(count: Int(PICONET_SHA256)) { hash in
      _ = transcript.withBytes { SHA256($0.baseAddress, $0.count, hash.baseAddress) }
    }
    let info = Array("ConfirmationKeys".utf8) + additionalData
    return try SecretBytes(count: Int(PICONET_SHA256)) { keys throws(SecureChannelFailure) in
      let done = hash.withBytes { hash in
        let authentication = UnsafeBufferPointer(rebasing: hash[(hash.count / 2)...])
        return piconet_hkdf_sha256(
          authentication.baseAddress, authentication.count, info, info.count, keys.baseAddress, keys.count)
      }
      guard done == 1 else { throw failed }
    }
  }

  private static func mac(
    _ key: UnsafeBufferPointer<UInt8>, _ transcript: SecretBytes
  ) throws(SecureChannelFailure) -> [UInt8] {
    var mac = [UInt8](repeating: 0, count: confirmationCount)
    let done = transcript.withBytes {
      piconet_hmac_sha256(key.baseAddress, key.count, $0.baseAddress, $0.count, &mac)
    }
    guard done == 1 else { throw failed }
    return mac
  }

  // MARK: Scalars

  /// Returns a wide secret modulo the order of the group. With 8 bytes more than a scalar has, no value is more likely
  /// than another by more than one part in 2^64.
  static func scalar(reducing wide: SecretBytes) throws(SecureChannelFailure) -> SecretBytes {
    try SecretBytes(count: scalarCount) { scalar throws(SecureChannelFailure) in
      guard wide.withBytes({ piconet_spake2_reduce($0.baseAddress, $0.count, scalar.baseAddress) }) == 1
      else { throw failed }
    }
  }

  private static func randomScalar() throws(SecureChannelFailure) -> SecretBytes {
    try SecretBytes(count: scalarCount) { scalar throws(SecureChannelFailure) in
      guard piconet_spake2_random(scalar.baseAddress) == 1 else { throw failed }
    }
  }

  private static var failed: SecureChannelFailure {
    SecureChannelFailure(.internalError, OpenSSLError.takeText())
  }

  private static var badShare: SecureChannelFailure {
    SecureChannelFailure(.protocolViolation, "a share of SPAKE2 that is no point of P-256, or not the peer's own")
  }
}
