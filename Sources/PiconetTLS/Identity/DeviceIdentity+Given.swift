import CPiconetOpenSSL
import PiconetEngine

/// An identity that somebody else has made: what peers would refuse of it is refused here.
extension DeviceIdentity {
  /// Reads one key and one certificate, in any order.
  /// - Parameter passphrase: without NUL; nil where the key is not encrypted.
  /// - Throws: `internalError` where there is no key that can be read, `badCertificate` for all else.
  public convenience init(anyPEM pem: [UInt8], passphrase: [UInt8]?) throws(SecureChannelFailure) {
    guard try Self.certificateCount(pem) < 2 else {
      throw SecureChannelFailure(.badCertificate, "there is more than one certificate in it; chains are not used")
    }
    try self.init(pem: pem, passphrase: passphrase)
    try PeerCertificate.checkOwn(certificate)
  }

  private static func certificateCount(_ pem: [UInt8]) throws(SecureChannelFailure) -> Int {
    guard let bio = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    defer {
      BIO_free(bio)
      ERR_clear_error()
    }
    var count = 0
    while let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
      X509_free(certificate)
      count += 1
    }
    return count
  }

  /// Reads DER.
  public convenience init(key: [UInt8], certificate: [UInt8]) throws(SecureChannelFailure) {
    ERR_clear_error()
    guard let ownKey = Self.whole(key, { d2i_AutoPrivateKey(nil, &$0, $1) }, free: EVP_PKEY_free) else {
      throw SecureChannelFailure(.internalError, "the key can't be read: \(OpenSSLError.takeText())")
    }
    guard let own = Self.whole(certificate, { d2i_X509(nil, &$0, $1) }, free: X509_free) else {
      EVP_PKEY_free(ownKey)
      throw SecureChannelFailure(.badCertificate, "the certificate can't be read: \(OpenSSLError.takeText())")
    }
    try self.init(key: ownKey, certificate: own)
    try PeerCertificate.checkOwn(self.certificate)
  }

  /// What is read of all the bytes; nil where some are left.
  private static func whole(
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
