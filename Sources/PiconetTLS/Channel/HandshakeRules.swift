import CPiconetOpenSSL
import PiconetEngine

/// The decisions that OpenSSL asks for during a handshake. A refusal is kept in the channel, since OpenSSL would report
/// only a failed callback. The returned value makes OpenSSL send the remote side the alert that fits.
enum HandshakeRules {
  private static let plain = Array(OpenSSLContext.applicationProtocol.utf8)
  private static let compact = Array(OpenSSLContext.compactProtocol.utf8)

  /// Returns the names that a side with this preference accepts, the best first.
  private static func names(_ preference: OpenSSLContext.Preference) -> [[UInt8]] {
    switch preference {
    case .throughput: [plain]
    case .shortRecords: [compact, plain]
    }
  }

  static func install(in context: OpaquePointer, role: OpenSSLChannel.Role, preference: OpenSSLContext.Preference) {
    // Called for the remote side's certificate instead of OpenSSL's own chain building.
    SSL_CTX_set_cert_verify_callback(
      context,
      { store, _ in
        guard let store, let ssl = piconet_store_context_ssl(store), let channel = OpenSSLChannel.of(ssl) else {
          return 0
        }
        return HandshakeRules.verify(store, ssl, channel)
      }, nil)
    // Called for each message, and also for each record's header: those are cheap to ignore.
    SSL_CTX_set_msg_callback(
      context,
      { isSent, _, type, _, _, ssl, _ in
        guard isSent == 0, type == SSL3_RT_HANDSHAKE, let ssl else { return }
        OpenSSLChannel.of(ssl)?.noteHandshakeMessage()
      })
    switch role {
    case .client:
      // Each name as its length and its bytes. Only this function returns 0 for success.
      let list = names(preference).flatMap { [UInt8($0.count)] + $0 }
      SSL_CTX_set_alpn_protos(context, list, UInt32(list.count))
    case .server:
      // A ClientHello without ALPN never reaches the ALPN callback, and must not lead to a finished handshake.
      SSL_CTX_set_client_hello_cb(
        context,
        { ssl, alert, _ in
          var bytes: UnsafePointer<UInt8>?
          var count = 0
          guard
            SSL_client_hello_get0_ext(ssl, UInt32(TLSEXT_TYPE_application_layer_protocol_negotiation), &bytes, &count)
              == 1
          else {
            alert?.pointee = SSL_AD_NO_APPLICATION_PROTOCOL
            ssl.flatMap(OpenSSLChannel.of)?.refuse(HandshakeRules.noALPN)
            return SSL_CLIENT_HELLO_ERROR
          }
          return SSL_CLIENT_HELLO_SUCCESS
        }, nil)
      SSL_CTX_set_alpn_select_cb(
        context,
        { ssl, name, nameCount, list, listCount, _ in
          let preference = ssl.flatMap(OpenSSLChannel.of)?.preference ?? .throughput
          return HandshakeRules.select(HandshakeRules.names(preference), list, listCount, name, nameCount)
        }, nil)
    }
  }

  static let noALPN = SecureChannelFailure(
    .noCommonProtocol, "the remote side does not speak \(OpenSSLContext.applicationProtocol)")

  /// Returns how records are written, as agreed in the handshake; nil: the sides did not agree on our application
  /// protocol.
  static func agreedHeaders(_ ssl: OpaquePointer) -> RecordHeaders? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    let agreed = UnsafeBufferPointer(start: name, count: Int(count))
    if agreed.elementsEqual(plain) { return .whole }
    return agreed.elementsEqual(compact) ? .compact : nil
  }

  enum RecordHeaders { case whole, compact }

  private static func verify(_ store: OpaquePointer, _ ssl: OpaquePointer, _ channel: OpenSSLChannel) -> Int32 {
    // Checked here too, since on the dialling side a missing ALPN answer is known before the certificate, and can be
    // refused with an alert; after the handshake there is no way to send one.
    guard agreedHeaders(ssl) != nil else {
      channel.refuse(noALPN)
      X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
      return 0
    }
    if let anchors = channel.anchors { return verify(store, channel, by: anchors) }
    do throws(SecureChannelFailure) {
      channel.prove(
        try PeerCertificate.check(
          X509_STORE_CTX_get0_cert(store), chainCount: Int(piconet_store_context_chain_count(store))))
      X509_STORE_CTX_set_error(store, X509_V_OK)
      return 1
    } catch {
      channel.refuse(error)
      // Becomes the alert bad_certificate.
      X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
      return 0
    }
  }

  private static func verify(_ store: OpaquePointer, _ channel: OpenSSLChannel, by anchors: TrustAnchors) -> Int32 {
    do throws(TrustAnchors.Refusal) {
      let (peer, path) = try anchors.check(
        X509_STORE_CTX_get0_cert(store), X509_STORE_CTX_get0_untrusted(store))
      // Takes over the path, from which `OpenSSLChannel.peerCertificates` reads.
      X509_STORE_CTX_set0_verified_chain(store, path)
      channel.prove(peer)
      X509_STORE_CTX_set_error(store, X509_V_OK)
      return 1
    } catch {
      channel.refuse(error.failure)
      // Becomes the alert of its kind, such as unknown_ca or certificate_expired.
      X509_STORE_CTX_set_error(store, error.reason)
      return 0
    }
  }

  /// Picks the first of `ours` that a ProtocolNameList (RFC 7301, section 3.1) contains.
  private static func select(
    _ ours: [[UInt8]], _ list: UnsafePointer<UInt8>?, _ listCount: UInt32,
    _ name: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ nameCount: UnsafeMutablePointer<UInt8>?
  ) -> Int32 {
    let names = UnsafeBufferPointer(start: list, count: Int(listCount))
    for wanted in ours {
      var offset = 0
      while offset < names.count {
        let start = offset + 1
        let end = start + Int(names[offset])
        guard end <= names.count else { break }
        if names[start..<end].elementsEqual(wanted) {
          name?.pointee = list?.advanced(by: start)
          nameCount?.pointee = UInt8(wanted.count)
          return SSL_TLSEXT_ERR_OK
        }
        offset = end
      }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
  }
}
