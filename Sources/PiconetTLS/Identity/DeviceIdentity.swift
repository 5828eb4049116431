import CPiconetOpenSSL
import PiconetEngine
import PiconetWire

/// A device's key with its self-signed certificate. The fingerprint of the key is the peer id.
public final class DeviceIdentity: Sendable {
  /// SHA-256 of the key's SubjectPublicKeyInfo.
  public let peer: PeerID

  // EVP_PKEY and X509 count their references atomically and are never changed once they are stored here.
  nonisolated(unsafe) let key: OpaquePointer
  nonisolated(unsafe) let certificate: OpaquePointer
  /// The certificates for peers that ask for those of an authority; nil: they get the same as all other peers.
  let issued: IssuedCertificates?

  /// Takes over both references, even if it throws.
  init(key: OpaquePointer, certificate: OpaquePointer, issued: IssuedCertificates? = nil) throws(SecureChannelFailure) {
    do throws(SecureChannelFailure) {
      peer = try PeerCertificate.fingerprint(of: certificate)
      guard X509_check_private_key(certificate, key) == 1 else {
        throw SecureChannelFailure(.badCertificate, "the certificate is not of this key")
      }
    } catch {
      ERR_clear_error()
      EVP_PKEY_free(key)
      X509_free(certificate)
      throw error
    }
    self.key = key
    self.certificate = certificate
    self.issued = issued
  }

  deinit {
    EVP_PKEY_free(key)
    X509_free(certificate)
  }

  /// Makes a new P-256 key with a certificate of CN=piconet. The dates in it are fixed and as far apart as RFC 5280
  /// (section 4.1.2.5) allows, so that it never depends on a clock.
  /// - Throws: `internalError` with OpenSSL's reason.
  public static func generate() throws(SecureChannelFailure) -> DeviceIdentity {
    ERR_clear_error()
    guard let key = piconet_generate_p256() else { throw SecureChannelFailure(.internalError, OpenSSLError.takeText()) }
    do throws(SecureChannelFailure) {
      return try DeviceIdentity(key: key, certificate: try selfSigned(key))
    } catch {
      EVP_PKEY_free(key)
      throw error
    }
  }

  /// Makes a new certificate of this key. The caller frees it.
  static func selfSigned(_ key: OpaquePointer) throws(SecureChannelFailure) -> OpaquePointer {
    guard let certificate = X509_new() else { throw SecureChannelFailure(.internalError, OpenSSLError.takeText()) }
    guard fill(certificate, for: key) else {
      X509_free(certificate)
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    return certificate
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
      && X509_sign(certificate, key, EVP_PKEY_get_base_id(key) == NID_ED25519 ? nil : EVP_sha256()) > 0
  }

  /// Returns the key (PKCS #8) and the certificate in PEM (RFC 7468). Anyone who has it, and the passphrase if there is
  /// one, can pose as this device.
  /// - Parameter passphrase: encrypts the key with AES-256-CBC under PBKDF2 (RFC 8018) with HMAC-SHA-256; nil: it is
  ///   not encrypted.
  /// - Throws: `internalError` with OpenSSL's reason.
  public func pem(passphrase: [UInt8]? = nil) throws(SecureChannelFailure) -> [UInt8] {
    ERR_clear_error()
    // The kind of BIO that wipes its memory.
    guard let bio = BIO_new(BIO_s_secmem()) else { throw SecureChannelFailure(.internalError, OpenSSLError.takeText()) }
    defer { BIO_free(bio) }
    guard write(to: bio, passphrase), PEM_write_bio_X509(bio, certificate) == 1 else {
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    var start: UnsafePointer<UInt8>?
    let count = piconet_memory_bio_bytes(bio, &start)
    return Array(UnsafeBufferPointer(start: start, count: count))
  }

  /// OWASP's recommendation of 2023; a guess costs an attacker as much as it costs us.
  private static let iterations: Int32 = 600_000

  private func write(to bio: OpaquePointer, _ passphrase: [UInt8]?) -> Bool {
    guard let passphrase else { return PEM_write_bio_PrivateKey(bio, key, nil, nil, 0, nil, nil) == 1 }
    guard let info = EVP_PKEY2PKCS8(key) else { return false }
    defer { PKCS8_PRIV_KEY_INFO_free(info) }
    guard
      let algorithm = PKCS5_pbe2_set_iv(EVP_aes_256_cbc(), Self.iterations, nil, 0, nil, NID_hmacWithSHA256)
    else { return false }
    let encrypted = passphrase.withUnsafeBytes { bytes in
      PKCS8_set0_pbe(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), info, algorithm)
    }
    guard let encrypted else {
      X509_ALGOR_free(algorithm)
      return false
    }
    defer { X509_SIG_free(encrypted) }
    return PEM_write_bio_PKCS8(bio, encrypted) == 1
  }

  /// Reads what `pem()` wrote.
  /// - Parameter passphrase: without NUL; nil if the key is not encrypted.
  /// - Throws: what is wrong with it.
  public convenience init(pem: [UInt8], passphrase: [UInt8]? = nil) throws(SecureChannelFailure) {
    let key = try Self.key(inPEM: pem, passphrase)
    // The certificate may come before the key.
    guard let bio = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
      EVP_PKEY_free(key)
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    defer { BIO_free(bio) }
    guard let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil)
    else {
      EVP_PKEY_free(key)
      throw SecureChannelFailure(.badCertificate, "no certificate in it: \(OpenSSLError.takeText())")
    }
    try self.init(key: key, certificate: certificate)
  }

  /// Reads the key; the caller frees it.
  static func key(inPEM pem: [UInt8], _ passphrase: [UInt8]?) throws(SecureChannelFailure) -> OpaquePointer {
    ERR_clear_error()
    guard let bio = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    defer { BIO_free(bio) }
    guard let key = readKey(bio, passphrase) else {
      throw SecureChannelFailure(.internalError, "no private key in it: \(OpenSSLError.takeText())")
    }
    return key
  }

  private static func readKey(_ bio: OpaquePointer, _ passphrase: [UInt8]?) -> OpaquePointer? {
    // Without a callback OpenSSL would ask for the passphrase of an encrypted key on the terminal.
    guard let passphrase else { return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) }
    var text = passphrase + [0]
    defer { text.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
    return text.withUnsafeMutableBytes { PEM_read_bio_PrivateKey(bio, nil, nil, $0.baseAddress) }
  }
}
