import CPiconetOpenSSL
import PiconetEngine
import PiconetWire

/// The rules for a certificate on a link: it must be a single self-signed certificate with a strong key, in the only
/// encoding allowed for that key. Other code decides by the fingerprint who owns the key.
///
/// Dates and names in it are ignored: devices have wrong clocks, and the name comes in the hello.
enum PeerCertificate {
  /// The largest certificate accepted, in bytes of DER.
  static let byteLimit = 2048

  /// The DER of a SubjectPublicKeyInfo up to the key's own bytes. Whole prefixes, not parsed fields, so that a key has
  /// only one encoding and so only one fingerprint: no compressed points, no explicit curve parameters.
  private static let keyTypes: [(prefix: [UInt8], count: Int)] = [
    // id-ecPublicKey, prime256v1, uncompressed point (RFC 5480).
    (
      [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
      ], 91
    ),
    // id-Ed25519 (RFC 8410).
    ([0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00], 44),
  ]

  /// Checks the certificate and returns the fingerprint of its key.
  /// - Parameter chainCount: how many certificates the remote side sent.
  static func check(_ certificate: OpaquePointer?, chainCount: Int) throws(SecureChannelFailure) -> PeerID {
    guard let certificate, chainCount > 0 else {
      throw SecureChannelFailure(.badCertificate, "the remote side sent no certificate")
    }
    guard chainCount == 1 else {
      throw SecureChannelFailure(.badCertificate, "the remote side sent \(chainCount) certificates instead of one")
    }
    guard i2d_X509(certificate, nil) <= byteLimit else {
      throw SecureChannelFailure(.badCertificate, "the certificate is larger than \(byteLimit) bytes")
    }
    let key = try publicKey(of: certificate)
    // Last, so that only keys of known size get as far as a signature check. Only the signature: `X509_self_signed`
    // asks for equal names and key identifiers as well.
    guard X509_verify(certificate, X509_get0_pubkey(certificate)) == 1 else {
      throw SecureChannelFailure(.badCertificate, "the certificate is not self-signed")
    }
    return try fingerprint(ofPublicKey: key)
  }

  /// Checks that peers would accept this certificate of this device.
  static func checkOwn(_ certificate: OpaquePointer) throws(SecureChannelFailure) {
    _ = try check(certificate, chainCount: 1)
  }

  /// Returns the certificate in DER; empty if it is nil.
  static func bytes(of certificate: OpaquePointer?) -> [UInt8] {
    guard let certificate else { return [] }
    let count = Int(i2d_X509(certificate, nil))
    guard count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      var cursor = buffer.baseAddress
      initialized = Int(i2d_X509(certificate, &cursor))
    }
  }

  /// Returns the fingerprint of a certificate's key, if the key is of a supported type.
  static func fingerprint(of certificate: OpaquePointer) throws(SecureChannelFailure) -> PeerID {
    try fingerprint(ofPublicKey: publicKey(of: certificate))
  }

  private static func fingerprint(ofPublicKey key: [UInt8]) throws(SecureChannelFailure) -> PeerID {
    guard let peer = PeerID(bytes: sha256(key)) else { throw SecureChannelFailure(.internalError, "no fingerprint") }
    return peer
  }

  /// Returns the DER of the SubjectPublicKeyInfo.
  private static func publicKey(of certificate: OpaquePointer) throws(SecureChannelFailure) -> [UInt8] {
    let info = X509_get_X509_PUBKEY(certificate)
    let count = i2d_X509_PUBKEY(info, nil)
    guard let type = keyTypes.first(where: { $0.count == Int(count) }) else {
      throw SecureChannelFailure(.badCertificate, "the key is neither P-256 nor Ed25519")
    }
    var der = [UInt8](repeating: 0, count: type.count)
    let written = der.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return i2d_X509_PUBKEY(info, &cursor)
    }
    guard written == count, der.starts(with: type.prefix) else {
      throw SecureChannelFailure(.badCertificate, "the key is neither P-256 nor Ed25519")
    }
    return der
  }
}
