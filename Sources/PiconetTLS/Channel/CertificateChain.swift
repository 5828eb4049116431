import CPiconetOpenSSL
import PiconetEngine

/// The rules for every certificate chain, whichever side shows it.
public enum CertificateChain {
  /// The most certificates in a chain, including the peer's own. The authority's certificate may be left out.
  public static let countLimit = 4
  /// The most bytes of DER of all certificates together. The peer's own may have at most `PeerCertificate.byteLimit`.
  public static let byteLimit = 8192

  static func checkSize(_ counts: [Int]) throws(SecureChannelFailure) {
    guard !counts.isEmpty else { throw SecureChannelFailure(.badCertificate, "there is no certificate") }
    guard counts.count <= countLimit else {
      throw SecureChannelFailure(
        .badCertificate, "a chain has \(countLimit) certificates at most, and this one has \(counts.count)")
    }
    let sum = counts.reduce(0, +)
    guard sum <= byteLimit else {
      throw SecureChannelFailure(.badCertificate, "a chain has \(byteLimit) bytes at most, and this one has \(sum)")
    }
  }

  /// Checks that we can use the leaf: its size, and the type and encoding of its key.
  static func checkLeaf(_ certificate: OpaquePointer) throws(SecureChannelFailure) {
    guard i2d_X509(certificate, nil) <= PeerCertificate.byteLimit else {
      throw SecureChannelFailure(
        .badCertificate, "the certificate is larger than \(PeerCertificate.byteLimit) bytes")
    }
    _ = try PeerCertificate.fingerprint(of: certificate)
  }

  /// Checks that a certificate may be used on our links: each node is client and server, so one of the two purposes is
  /// enough. A certificate that names no purposes (RFC 5280, section 4.2.1.12) is valid for all.
  static func checkPurpose(_ certificate: OpaquePointer) throws(SecureChannelFailure) {
    // All bits are set if it has no extendedKeyUsage, and none if its extensions can't be read.
    let purposes = X509_get_extended_key_usage(certificate)
    guard purposes & UInt32(XKU_SSL_CLIENT | XKU_SSL_SERVER | XKU_ANYEKU) == 0 else { return }
    throw SecureChannelFailure(
      .badCertificate,
      "a certificate's extendedKeyUsage has none of clientAuth, serverAuth and anyExtendedKeyUsage")
  }

  /// Returns the elements of a stack of X509; empty if it is nil.
  static func all(of stack: OpaquePointer?) -> [OpaquePointer] {
    (0..<max(0, piconet_certificates_count(stack))).compactMap { piconet_certificates_at(stack, $0) }
  }

  /// Reads DER, which must be a single certificate. The caller frees it.
  static func read(_ certificate: [UInt8]) throws(SecureChannelFailure) -> OpaquePointer {
    ERR_clear_error()
    guard let read = DeviceIdentity.whole(certificate, { d2i_X509(nil, &$0, $1) }, free: X509_free) else {
      throw SecureChannelFailure(.badCertificate, "a certificate can't be read: \(OpenSSLError.takeText())")
    }
    return read
  }

  /// Returns all certificates in PEM text, in DER; it stops at the first that can't be read.
  public static func certificates(inPEM pem: [UInt8]) -> [[UInt8]] {
    guard let bio = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return [] }
    defer {
      BIO_free(bio)
      ERR_clear_error()
    }
    var certificates: [[UInt8]] = []
    while let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
      certificates.append(PeerCertificate.bytes(of: certificate))
      X509_free(certificate)
    }
    return certificates
  }

  static func isSelfSigned(_ certificate: [UInt8]) -> Bool {
    guard let read = try? read(certificate) else { return false }
    defer {
      X509_free(read)
      ERR_clear_error()
    }
    return X509_self_signed(read, 0) == 1
  }

  /// Returns whether one certificate has issued another, by names and signature.
  static func hasIssued(_ issuer: OpaquePointer, _ certificate: OpaquePointer) -> Bool {
    X509_check_issued(issuer, certificate) == X509_V_OK && X509_verify(certificate, X509_get0_pubkey(issuer)) == 1
  }

  /// Returns the certificates in the order in which they are shown: that of the key, its issuer, and so on.
  /// Certificates that lead nowhere come last, and are refused there.
  static func ordered(_ certificates: [[UInt8]], from key: OpaquePointer) -> [[UInt8]] {
    var left = certificates.compactMap { bytes in (try? read(bytes)).map { (bytes, $0) } }
    defer { ERR_clear_error() }
    let all = left.map(\.1)
    defer { all.forEach(X509_free) }
    var chain: [[UInt8]] = []
    var next = left.firstIndex { X509_check_private_key($0.1, key) == 1 }
    while let index = next {
      let (bytes, certificate) = left.remove(at: index)
      chain.append(bytes)
      next = left.firstIndex { hasIssued($0.1, certificate) }
    }
    return chain + left.map(\.0)
  }

  /// Returns the certificates in DER, the leaf first.
  static func bytes(leaf: OpaquePointer?, _ others: OpaquePointer?) -> [[UInt8]] {
    guard let leaf else { return [] }
    // A verified path contains the leaf.
    let rest = all(of: others).filter { X509_cmp($0, leaf) != 0 }
    return ([leaf] + rest).map { PeerCertificate.bytes(of: $0) }
  }
}
