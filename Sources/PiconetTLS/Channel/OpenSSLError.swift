import CPiconetOpenSSL
import PiconetEngine

/// The contents of OpenSSL's error queue of this thread, oldest first.
struct OpenSSLError {
  /// A library number such as `ERR_LIB_SSL`.
  var library: Int32
  var reason: Int32
  var text: String

  /// The most errors that one failure reports.
  static let limit = 8

  /// Takes all errors out of the queue, so that the next call on this thread starts clean.
  static func takeAll() -> [OpenSSLError] {
    var errors: [OpenSSLError] = []
    while true {
      let code = ERR_get_error()
      if code == 0 { return errors }
      guard errors.count < limit else { continue }
      let reason = ERR_GET_REASON(code)
      let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(String(code, radix: 16))"
      errors.append(OpenSSLError(library: ERR_GET_LIB(code), reason: reason, text: text))
    }
  }

  /// Takes the texts of all errors out of the queue, for a failure whose meaning the caller knows.
  static func takeText() -> String {
    let errors = takeAll()
    return errors.isEmpty ? "OpenSSL gave no reason" : errors.map(\.text).joined(separator: "; ")
  }
}

extension SecureChannelFailure {
  /// Translates a failed TLS operation from OpenSSL's errors.
  init(_ errors: [OpenSSLError]) {
    let text = errors.map(\.text).joined(separator: "; ")
    guard let first = errors.first(where: { $0.library == ERR_LIB_SSL }) else {
      // No error at all means a failed write into the output.
      self.init(.internalError, errors.isEmpty ? "out of memory, or too much waiting output" : text)
      return
    }
    // An alert is one byte; reasons far above are OpenSSL's common ones, such as ERR_R_MALLOC_FAILURE.
    if (SSL_AD_REASON_OFFSET...SSL_AD_REASON_OFFSET + 255).contains(first.reason) {
      let alert = first.reason - SSL_AD_REASON_OFFSET
      let name = SSL_alert_desc_string_long(alert).map { String(cString: $0) } ?? "unknown"
      let code = alert == SSL_AD_UNRECOGNIZED_NAME ? Code.unrecognizedName : .alert
      self.init(code, "the remote side closed with alert \(alert), \(name)")
      return
    }
    self.init(Self.code(ofReason: first.reason), text)
  }

  private static func code(ofReason reason: Int32) -> Code {
    switch reason {
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_VERSION_TOO_HIGH, SSL_R_WRONG_SSL_VERSION,
      SSL_R_UNSUPPORTED_SSL_VERSION, SSL_R_UNKNOWN_SSL_VERSION, SSL_R_BAD_PROTOCOL_VERSION_NUMBER,
      SSL_R_NO_APPLICATION_PROTOCOL, SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SHARED_GROUPS, SSL_R_NO_SUITABLE_GROUPS,
      SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
      .noCommonProtocol
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, SSL_R_NO_CERTIFICATES_RETURNED, SSL_R_CERTIFICATE_VERIFY_FAILED,
      SSL_R_UNKNOWN_CERTIFICATE_TYPE, SSL_R_WRONG_CERTIFICATE_TYPE, SSL_R_UNABLE_TO_FIND_PUBLIC_KEY_PARAMETERS:
      .badCertificate
    case Int32(ERR_R_MALLOC_FAILURE), Int32(ERR_R_INTERNAL_ERROR): .internalError
    default: .protocolViolation
    }
  }
}
