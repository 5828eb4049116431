import CPiconetOpenSSL
import PiconetEngine
import PiconetWire

/// TLS 1.3 (RFC 8446) for links, with OpenSSL 3: our key and the rules that all channels share. It makes the channels.
///
/// One context per node and kind of link is enough; it may be made on one thread and used on another.
public final class OpenSSLContext: Sendable {
  /// The preferred suite. Both ends of a link should prefer the same; the accepting side decides.
  public enum Preference: Sendable, Hashable {
    /// TLS_AES_128_GCM_SHA256: fastest, 22 bytes more than the plaintext per record. For TCP.
    case throughput
    /// TLS_AES_128_CCM_8_SHA256: 14 bytes more per record, 11 with compact headers, which both ends must prefer; a
    /// third as fast in bulk. For Bluetooth, where a message of 1000 bytes then fits into one packet, and one of 64
    /// bytes into one slot.
    case shortRecords
  }

  public struct Options: Sendable {
    /// Default: `.throughput`.
    public var preference: Preference
    /// The most ciphertext that may wait in one channel, in bytes; a channel that would need more fails with
    /// `internalError`. Default: 16 MiB. At least 64 KiB.
    public var outputLimit: Int
    /// After sealing this many records with one key the channel takes the next (KeyUpdate, RFC 8446, section 4.6.3).
    /// Default: 2^23, below the 2^24.5 records that section 5.5 allows with AES-GCM. At least 1.
    public var recordsPerKey: Int
    /// The authorities of which one must have issued the other side's certificates; nil (the default): it shows a
    /// self-signed one.
    public var anchors: TrustAnchors?

    public init(
      preference: Preference = .throughput, outputLimit: Int = 16 << 20, recordsPerKey: Int = 1 << 23,
      anchors: TrustAnchors? = nil
    ) {
      self.preference = preference
      self.outputLimit = max(outputLimit, 64 << 10)
      self.recordsPerKey = max(recordsPerKey, 1)
      self.anchors = anchors
    }
  }

  /// The application protocol that both sides must name (ALPN, RFC 7301), alone or with `compactProtocol`.
  public static let applicationProtocol = "piconet/1"
  /// `applicationProtocol` in records with compact headers (Documentation/wire-format.md, section 1); agreed on if both
  /// sides prefer short records.
  public static let compactProtocol = "piconet/1-compact"

  /// The peer id of the key that the channels prove.
  public let peer: PeerID
  let options: Options
  /// Kept alive for the contexts, which show its certificates.
  private let identity: DeviceIdentity

  // SSL_CTX counts its references atomically and is not changed after init; OpenSSL allows SSL_new on it from several
  // threads (openssl-threads(7)).
  private nonisolated(unsafe) let client: OpaquePointer
  private nonisolated(unsafe) let server: OpaquePointer

  /// - Throws: `internalError` with OpenSSL's reason, if OpenSSL can't be set up like this.
  public init(identity: DeviceIdentity, options: Options = Options()) throws(SecureChannelFailure) {
    peer = identity.peer
    self.options = options
    self.identity = identity
    client = try Self.makeContext(.client, identity, options)
    do {
      server = try Self.makeContext(.server, identity, options)
    } catch {
      SSL_CTX_free(client)
      throw error
    }
  }

  deinit {
    SSL_CTX_free(client)
    SSL_CTX_free(server)
  }

  /// Makes a channel, to be used on one thread. If memory runs out, it is in state `failed` from the start.
  /// - Parameter serverName: for a client: the server that it wants, of those that listen there; at most 255 bytes.
  public func makeChannel(role: OpenSSLChannel.Role, serverName: String? = nil) -> OpenSSLChannel {
    let context = role == .client ? client : server
    return OpenSSLChannel(role: role, context: context, options: options, serverName: serverName)
  }

  private static func makeContext(
    _ role: OpenSSLChannel.Role, _ identity: DeviceIdentity, _ options: Options
  ) throws(SecureChannelFailure) -> OpaquePointer {
    ERR_clear_error()
    guard let context = SSL_CTX_new(role == .client ? TLS_client_method() : TLS_server_method()) else {
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    // OpenSSL 3.2 and later count CCM_8, for its short tag, as security level 0. This weakens nothing else: the
    // version, suites, groups, signatures and key types are all named here.
    if options.preference == .shortRecords { SSL_CTX_set_security_level(context, 0) }
    let suites =
      switch options.preference {
      case .throughput: "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"
      case .shortRecords: "TLS_AES_128_CCM_8_SHA256:TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"
      }
    guard piconet_ssl_ctx_set_protocol(context, TLS1_3_VERSION, TLS1_3_VERSION) == 1,
      SSL_CTX_set_ciphersuites(context, suites) == 1,
      piconet_ssl_ctx_set_groups(context, "X25519:P-256") == 1,
      piconet_ssl_ctx_set_signature_algorithms(context, "ECDSA+SHA256:ed25519") == 1,
      SSL_CTX_use_certificate(context, identity.certificate) == 1,
      SSL_CTX_use_PrivateKey(context, identity.key) == 1, SSL_CTX_check_private_key(context) == 1,
      SSL_CTX_set_num_tickets(context, 0) == 1, SSL_CTX_set_max_early_data(context, 0) == 1,
      SSL_CTX_set_recv_max_early_data(context, 0) == 1
    else {
      SSL_CTX_free(context)
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    piconet_ssl_ctx_set_options(context)
    // No partial writes: the output takes everything, so that one SSL_write makes all records of a `seal`.
    piconet_ssl_ctx_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN))
    piconet_ssl_ctx_no_session_cache(context)
    // Includes length fields; larger lists are refused before they are read.
    piconet_ssl_ctx_set_max_cert_list(
      context, options.anchors == nil ? 2 * PeerCertificate.byteLimit : 2 * CertificateChain.byteLimit)
    options.anchors?.name(in: context)
    IssuedCertificates.show(of: identity, in: context)
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    HandshakeRules.install(in: context, role: role, preference: options.preference)
    return context
  }
}
