import CPiconetOpenSSL
import PiconetEngine
import PiconetWire

/// A device's key with its self-signed certificate. The fingerprint of the key is the peer id.
public final class DeviceIdentity: Sendable {
  /// SHA-256 of the key's SubjectPublicKeyInfo.
  public let peer: PeerID

  // EVP_PKEY and X509 count their references atomically and are never changed once they are here.
  nonisolated(unsafe) let key: OpaquePointer
  nonisolated(unsafe) let certificate: OpaquePointer

  /// Takes over both references, also when it throws.
  private init(key: OpaquePointer, certificate: OpaquePointer) throws(SecureChannelFailure) {
    do throws(SecureChannelFailure) {
      peer = try PeerCertificate.fingerprint(of: certificate)
      guard X509_check_private_key(certificate, key) == 1 else {
        throw SecureChannelFailure(.internalError, "the certificate is not of this key")
      }
    } catch {
      ERR_clear_error()
      EVP_PKEY_free(key)
      X509_free(certificate)
      throw error
    }
    self.key = key
    self.certificate = certificate
  }

  deinit {
    EVP_PKEY_free(key)
    X509_free(certificate)
  }

  /// A new P-256 key with a certificate of CN=piconet. The dates in it are fixed and as far apart as RFC 5280 (section
  /// 4.1.2.5) allows, so that it never depends on a clock.
  /// - Throws: `internalError` with OpenSSL's reason.
  public static func generate() throws(SecureChannelFailure) -> DeviceIdentity {
    ERR_clear_error()
    guard let key = piconet_generate_p256() else { throw SecureChannelFailure(.internalError, OpenSSLError.takeText()) }
    guard let certificate = X509_new() else {
      EVP_PKEY_free(key)
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    guard fill(certificate, for: key) else {
      EVP_PKEY_free(key)
      X509_free(certificate)
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    return try DeviceIdentity(key: key, certificate: certificate)
  }

  private static func fill(_ certificate: OpaquePointer, for key: OpaquePointer) -> Bool {
    var serial: UInt64 = 0
    guard
      withUnsafeMutableBytes(of: &serial, { RAND_bytes($0.baseAddress?.assumingMemoryBound(to: UInt8.self), 8) }) == 1
    else { return false }
    let name = X509_get_subject_name(certificate)
    return X509_set_version(certificate, 2) == 1
      // Positive, and at most 8 bytes of DER.
      && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1
      && ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "20000101000000Z") == 1
      && ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1
      && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, "piconet", -1, -1, 0) == 1
      && X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1
      && X509_sign(certificate, key, EVP_sha256()) > 0
  }

  /// The key (PKCS #8, not encrypted) and the certificate in PEM (RFC 7468). Whoever has it is this device.
  /// - Throws: `internalError` with OpenSSL's reason.
  func pem() throws(SecureChannelFailure) -> [UInt8] {
    ERR_clear_error()
    // The kind that wipes what it held.
    guard let bio = BIO_new(BIO_s_secmem()) else { throw SecureChannelFailure(.internalError, OpenSSLError.takeText()) }
    defer { BIO_free(bio) }
    guard PEM_write_bio_PrivateKey(bio, key, nil, nil, 0, nil, nil) == 1, PEM_write_bio_X509(bio, certificate) == 1
    else { throw SecureChannelFailure(.internalError, OpenSSLError.takeText()) }
    var start: UnsafePointer<UInt8>?
    let count = piconet_memory_bio_bytes(bio, &start)
    return Array(UnsafeBufferPointer(start: start, count: count))
  }

  /// Reads what `pem()` wrote.
  /// - Throws: what is wrong with it.
  convenience init(pem: [UInt8]) throws(SecureChannelFailure) {
    ERR_clear_error()
    guard let bio = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    defer { BIO_free(bio) }
    // Without a callback OpenSSL would ask the terminal for the password of an encrypted key.
    guard let key = PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) else {
      throw SecureChannelFailure(.internalError, "no private key in it: \(OpenSSLError.takeText())")
    }
    guard let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) else {
      EVP_PKEY_free(key)
      throw SecureChannelFailure(.badCertificate, "no certificate in it: \(OpenSSLError.takeText())")
    }
    try self.init(key: key, certificate: certificate)
  }
}
