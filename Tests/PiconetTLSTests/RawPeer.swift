import CPiconetOpenSSL
import PiconetEngine

@testable import PiconetTLS

/// A peer made of OpenSSL alone, as wrong as a test needs it.
final class RawPeer {
  struct Behaviour {
    var isClient = true
    var alpn: [UInt8]? = [9] + Array("piconet/1".utf8)
    var certificate: (key: OpaquePointer, certificate: OpaquePointer)?
    var chain: [OpaquePointer] = []
    var version = TLS1_3_VERSION
    var requestsCertificate = true
  }

  private let context: OpaquePointer
  let ssl: OpaquePointer
  private let input: OpaquePointer
  private let output: OpaquePointer
  /// OpenSSL's reasons for everything that failed, including the alerts received.
  private(set) var reasons: [Int32] = []

  init(_ behaviour: Behaviour) {
    context = SSL_CTX_new(behaviour.isClient ? TLS_client_method() : TLS_server_method())
    _ = piconet_ssl_ctx_set_protocol(context, behaviour.version, behaviour.version)
    if let (key, certificate) = behaviour.certificate {
      SSL_CTX_use_certificate(context, certificate)
      SSL_CTX_use_PrivateKey(context, key)
      for extra in behaviour.chain { _ = SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(extra)) }
    }
    SSL_CTX_set_verify(context, behaviour.isClient || !behaviour.requestsCertificate ? 0 : SSL_VERIFY_PEER, nil)
    SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
    if let alpn = behaviour.alpn {
      if behaviour.isClient {
        SSL_CTX_set_alpn_protos(context, alpn, UInt32(alpn.count))
      } else {
        SSL_CTX_set_alpn_select_cb(
          context,
          { _, name, count, list, _, _ in
            // Selects whatever the client named first.
            name?.pointee = list?.advanced(by: 1)
            count?.pointee = list?.pointee ?? 0
            return SSL_TLSEXT_ERR_OK
          }, nil)
      }
    }
    ssl = SSL_new(context)
    input = BIO_new(BIO_s_mem())
    output = BIO_new(BIO_s_mem())
    SSL_set_bio(ssl, input, output)
    if behaviour.isClient { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
    ERR_clear_error()
  }

  /// Runs the handshake against the channel until neither has more to say.
  func handshake(with channel: any SecureChannel) {
    channel.start()
    while true {
      SSL_do_handshake(ssl)
      reasons += OpenSSLError.takeAll().map(\.reason)
      let flight = takeOutput()
      _ = carry(flight, to: channel)
      let answer = drain(channel)
      if flight.isEmpty, answer.isEmpty { return }
      give(answer)
    }
  }

  func give(_ bytes: [UInt8]) { _ = BIO_write(input, bytes, Int32(bytes.count)) }

  func takeOutput() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = BIO_read(output, &bytes, Int32(bytes.count))
    return Array(bytes.prefix(max(0, Int(count))))
  }

  func write(_ bytes: [UInt8]) { SSL_write(ssl, bytes, Int32(bytes.count)) }

  func read() -> (bytes: [UInt8], error: Int32) {
    var bytes = [UInt8](repeating: 0, count: 65536)
    ERR_clear_error()
    let count = SSL_read(ssl, &bytes, Int32(bytes.count))
    let error = count > 0 ? 0 : SSL_get_error(ssl, count)
    reasons += OpenSSLError.takeAll().map(\.reason)
    return (Array(bytes.prefix(max(0, Int(count)))), error)
  }
}

/// A certificate made to order. It is never freed: tests are short.
func makeCertificate(
  key: OpaquePointer, signer: OpaquePointer? = nil, issuer: String = "piconet", subject: String = "piconet",
  padding: Int = 0, digest: OpaquePointer? = EVP_sha256()
) -> OpaquePointer {
  let certificate = X509_new()!
  X509_set_version(certificate, 2)
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), 7)
  ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "20000101000000Z")
  ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "20010101000000Z")
  func name(_ text: String) -> OpaquePointer {
    let name = X509_NAME_new()!
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0)
    let filler = String(repeating: "x", count: 64)
    for _ in 0..<(padding / 64) { X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, filler, -1, -1, 0) }
    return name
  }
  X509_set_subject_name(certificate, name(subject))
  X509_set_issuer_name(certificate, name(issuer))
  X509_set_pubkey(certificate, key)
  X509_sign(certificate, signer ?? key, digest)
  return certificate
}

/// A key of an algorithm without parameters, such as ED25519, or RSA with 2048 bits.
func makeKey(_ algorithm: String, curve: String? = nil) -> OpaquePointer {
  let context = EVP_PKEY_CTX_new_from_name(nil, algorithm, nil)
  EVP_PKEY_keygen_init(context)
  if let curve { EVP_PKEY_CTX_set_group_name(context, curve) }
  var key: OpaquePointer?
  EVP_PKEY_generate(context, &key)
  EVP_PKEY_CTX_free(context)
  return key!
}
