import CPiconetOpenSSL
import PiconetEngine

/// An identity that was made elsewhere: certificates that peers would refuse are refused here.
extension DeviceIdentity {
  /// Reads one key and one certificate, in any order.
  /// - Parameter passphrase: without NUL; nil if the key is not encrypted.
  /// - Throws: `internalError` if no key can be read, `badCertificate` for anything else.
  public convenience init(anyPEM pem: [UInt8], passphrase: [UInt8]?) throws(SecureChannelFailure) {
    let key = try Self.key(inPEM: pem, passphrase)
    let certificates = CertificateChain.certificates(inPEM: pem)
    // Checked above: there is at least one.
    guard let first = certificates.first else {
      EVP_PKEY_free(key)
      throw SecureChannelFailure(.badCertificate, "no certificate in it")
    }
    if certificates.count == 1, CertificateChain.isSelfSigned(first) {
      let own: OpaquePointer
      do throws(SecureChannelFailure) {
        own = try CertificateChain.read(first)
      } catch {
        EVP_PKEY_free(key)
        throw error
      }
      try self.init(key: key, certificate: own)
      try PeerCertificate.checkOwn(certificate)
    } else {
      try self.init(key: key, certificates: CertificateChain.ordered(certificates, from: key))
    }
  }

  /// Reads DER, the key's certificate first, each of the others the issuer of the one before it.
  public convenience init(key: [UInt8], certificates: [[UInt8]]) throws(SecureChannelFailure) {
    try self.init(key: try Self.read(key), certificates: certificates)
  }

  /// Takes over the key, even if it throws.
  private convenience init(key: OpaquePointer, certificates: [[UInt8]]) throws(SecureChannelFailure) {
    let issued: IssuedCertificates
    let own: OpaquePointer
    do throws(SecureChannelFailure) {
      issued = try IssuedCertificates(certificates)
      guard X509_check_private_key(issued.leaf, key) == 1 else {
        throw SecureChannelFailure(.badCertificate, "the first certificate is not of this key")
      }
      own = try Self.selfSigned(key)
    } catch {
      ERR_clear_error()
      EVP_PKEY_free(key)
      throw error
    }
    try self.init(key: key, certificate: own, issued: issued)
  }

  /// The certificates that an authority has issued, in DER; empty if no authority has issued any.
  public var issuedBytes: [[UInt8]] { issued?.bytes ?? [] }

  private static func read(_ key: [UInt8]) throws(SecureChannelFailure) -> OpaquePointer {
    ERR_clear_error()
    guard let read = whole(key, { d2i_AutoPrivateKey(nil, &$0, $1) }, free: EVP_PKEY_free) else {
      throw SecureChannelFailure(.internalError, "the key can't be read: \(OpenSSLError.takeText())")
    }
    return read
  }

  /// Reads DER.
  public convenience init(key: [UInt8], certificate: [UInt8]) throws(SecureChannelFailure) {
    let ownKey = try Self.read(key)
    guard let own = Self.whole(certificate, { d2i_X509(nil, &$0, $1) }, free: X509_free) else {
      EVP_PKEY_free(ownKey)
      throw SecureChannelFailure(.badCertificate, "the certificate can't be read: \(OpenSSLError.takeText())")
    }
    try self.init(key: ownKey, certificate: own)
    try PeerCertificate.checkOwn(self.certificate)
  }

  /// Reads a value that must take up all the bytes; nil if some are left.
  static func whole(
    _ bytes: [UInt8], _ read: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?, free: (OpaquePointer?) -> Void
  ) -> OpaquePointer? {
    bytes.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      guard let value = read(&cursor, buffer.count) else { return nil }
      if let start = buffer.baseAddress, cursor == start + buffer.count { return value }
      free(value)
      return nil
    }
  }

  /// The certificate in DER.
  public var certificateBytes: [UInt8] { PeerCertificate.bytes(of: certificate) }
}
