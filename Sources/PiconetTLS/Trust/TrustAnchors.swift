import CPiconetOpenSSL
import PiconetEngine
import PiconetWire

/// The authorities: each peer's certificates must lead to one of them. The system's authorities are not consulted.
/// Every certificate on the path must allow use on these links (`CertificateChain.checkPurpose`).
public final class TrustAnchors: Sendable {
  /// The most authorities; each handshake carries their names.
  public static let countLimit = 16
  /// The most bytes of DER of each.
  public static let byteLimit = 4096

  // X509_STORE counts its references and has its own lock; neither this nor the names change once they are stored here.
  private nonisolated(unsafe) let store: OpaquePointer
  /// The names of the authorities.
  private nonisolated(unsafe) let names: OpaquePointer
  private let checksDates: Bool

  /// - Parameters:
  ///   - authorities: certificates in DER, usually self-signed. One in the middle of a hierarchy works as well, and
  ///     stands for everything it has issued.
  ///   - checksDates: whether certificates count only between their dates, by the clock of this device.
  /// - Throws: `badCertificate`, with the fault.
  public init(_ authorities: [[UInt8]], checksDates: Bool) throws(SecureChannelFailure) {
    guard (1...Self.countLimit).contains(authorities.count) else {
      throw SecureChannelFailure(
        .badCertificate, "there are 1 to \(Self.countLimit) authorities, and not \(authorities.count)")
    }
    guard let store = X509_STORE_new(), let names = piconet_names_new() else {
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    self.store = store
    self.names = names
    self.checksDates = checksDates
    for authority in authorities { try add(authority) }
  }

  private func add(_ authority: [UInt8]) throws(SecureChannelFailure) {
    guard authority.count <= Self.byteLimit else {
      throw SecureChannelFailure(.badCertificate, "an authority's certificate has \(Self.byteLimit) bytes at most")
    }
    let certificate = try CertificateChain.read(authority)
    defer { X509_free(certificate) }
    guard X509_check_ca(certificate) > 0 else {
      throw SecureChannelFailure(.badCertificate, "one of the certificates may not issue others: it is no authority's")
    }
    guard X509_STORE_add_cert(store, certificate) == 1, piconet_names_add(names, certificate) == 1 else {
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
  }

  deinit {
    X509_STORE_free(store)
    piconet_names_free(names)
  }

  /// Makes the channels of this context name the authorities to the other side, which then shows its chain.
  func name(in context: OpaquePointer) { piconet_ssl_ctx_set_authorities(context, names) }

  /// Why a peer is refused: in words for us, and as the code from which OpenSSL makes the alert for the other side.
  struct Refusal: Error {
    let failure: SecureChannelFailure
    let reason: Int32
  }

  /// Checks the certificates of a peer, and returns the fingerprint of its key and the path to an authority, as far as
  /// the peer has shown it: a stack of X509 that the caller frees. Certificates beside that path are not in it.
  /// - Parameter others: the certificates that came with the leaf, as a stack of X509, which may contain the leaf
  ///   itself.
  func check(_ leaf: OpaquePointer?, _ others: OpaquePointer?) throws(Refusal) -> (peer: PeerID, path: OpaquePointer) {
    let peer: PeerID
    do throws(SecureChannelFailure) {
      guard let leaf else { throw SecureChannelFailure(.badCertificate, "the remote side sent no certificate") }
      try CertificateChain.checkSize(CertificateChain.all(of: others).map { Int(i2d_X509($0, nil)) })
      try CertificateChain.checkLeaf(leaf)
      peer = try PeerCertificate.fingerprint(of: leaf)
    } catch {
      throw Refusal(failure: error, reason: X509_V_ERR_CERT_REJECTED)
    }
    return (peer, try path(from: leaf, among: others))
  }

  private func path(from leaf: OpaquePointer?, among others: OpaquePointer?) throws(Refusal) -> OpaquePointer {
    guard let context = X509_STORE_CTX_new() else { throw Self.refusal(X509_V_ERR_OUT_OF_MEM) }
    defer {
      X509_STORE_CTX_free(context)
      ERR_clear_error()
    }
    let reason = verify(leaf, others, context)
    guard reason == X509_V_OK else { throw Self.refusal(reason) }
    let verified = CertificateChain.all(of: X509_STORE_CTX_get0_chain(context))
    do throws(SecureChannelFailure) {
      for certificate in verified { try CertificateChain.checkPurpose(certificate) }
    } catch {
      throw Refusal(failure: error, reason: X509_V_ERR_INVALID_PURPOSE)
    }
    guard let path = piconet_certificates_new() else { throw Self.refusal(X509_V_ERR_OUT_OF_MEM) }
    // Leaves out the authority's own certificate, which this device has, unless the peer has shown it.
    let shown = [leaf] + CertificateChain.all(of: others)
    for certificate in verified where shown.contains(where: { X509_cmp($0, certificate) == 0 }) {
      X509_up_ref(certificate)
      piconet_certificates_push(path, certificate)
    }
    return path
  }

  private static func refusal(_ reason: Int32) -> Refusal {
    let words = X509_verify_cert_error_string(Int(reason)).map { String(cString: $0) } ?? "\(reason)"
    return Refusal(
      failure: SecureChannelFailure(
        .badCertificate, "its certificates do not lead to an authority that this device asks for: \(words)"),
      reason: reason)
  }

  private func verify(_ leaf: OpaquePointer?, _ others: OpaquePointer?, _ context: OpaquePointer) -> Int32 {
    guard X509_STORE_CTX_init(context, store, leaf, others) == 1 else { return X509_V_ERR_UNSPECIFIED }
    let parameters = X509_STORE_CTX_get0_param(context)
    X509_VERIFY_PARAM_set_depth(parameters, Int32(CertificateChain.countLimit))
    // 112 bits: no SHA-1, no RSA below 2048 bits.
    X509_VERIFY_PARAM_set_auth_level(parameters, 2)
    let dates = checksDates ? 0 : UInt(X509_V_FLAG_NO_CHECK_TIME)
    X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN) | dates)
    if X509_verify_cert(context) == 1 { return X509_V_OK }
    let reason = X509_STORE_CTX_get_error(context)
    return reason == X509_V_OK ? X509_V_ERR_UNSPECIFIED : reason
  }
}
