import CPiconetOpenSSL
import PiconetEngine
import PiconetWire

/// TLS 1.3 of one link as a transducer over OpenSSL: no socket, no clock, no thread. Confined to the loop that made it.
///
/// `open`: if the plaintext buffer came back full, call again, without ciphertext if none is left: the rest of a record
/// may wait inside. After `failed` or `ended` all ciphertext is taken and dropped. If a link ends without close_notify,
/// its reader has to report that.
///
/// `close`: what the remote side still sends can be opened afterwards; what is sealed afterwards is dropped. Before the
/// end of the handshake it only stops the handshake.
public final class OpenSSLChannel: SecureChannel {
  public enum Role: Sendable, Hashable {
    /// The side that dialled.
    case client
    /// The side that accepted the link.
    case server
  }

  public var state: SecureChannelState { current }
  /// Visible only in this file, so that looking at it for each record needs no check at run time.
  private var current: SecureChannelState = .handshaking

  /// Nil only if memory for it ran out.
  private let ssl: OpaquePointer?
  private let io: UnsafeMutablePointer<piconet_channel_io>
  let preference: OpenSSLContext.Preference
  let anchors: TrustAnchors?
  private let recordsPerKey: Int
  private var recordsUnderKey = 0
  private var isClosed = false
  private var reads = 0
  private var postHandshakeMessages = 0
  /// Set by the handshake's rules; see `HandshakeRules`.
  private var provenPeer: PeerID?
  private var refusal: SecureChannelFailure?

  init(role: Role, context: OpaquePointer, options: OpenSSLContext.Options, serverName: String? = nil) {
    preference = options.preference
    anchors = options.anchors
    recordsPerKey = options.recordsPerKey
    io = .allocate(capacity: 1)
    io.initialize(to: piconet_channel_io())
    io.pointee.output_limit = options.outputLimit
    ssl = SSL_new(context)
    guard let ssl, let bio = piconet_channel_bio_new(io) else {
      current = .failed(SecureChannelFailure(.internalError, OpenSSLError.takeText()))
      return
    }
    // SSL_set_bio takes one reference to the BIO for each direction, but only a single one if they are the same.
    SSL_set_bio(ssl, bio, bio)
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    switch role {
    case .client:
      SSL_set_connect_state(ssl)
      if let serverName, piconet_ssl_set_server_name(ssl, serverName) != 1 {
        current = .failed(SecureChannelFailure(.internalError, OpenSSLError.takeText()))
      }
    case .server: SSL_set_accept_state(ssl)
    }
  }

  deinit {
    SSL_free(ssl)
    piconet_channel_io_free(io)
    io.deinitialize(count: 1)
    io.deallocate()
  }

  public func start() {
    guard let ssl, !isClosed, case .handshaking = current else { return }
    ERR_clear_error()
    continueHandshake(ssl)
  }

  public func open(_ ciphertext: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer)
    -> (taken: Int, produced: Int)
  {
    guard let ssl, !isOver, !isClosed || isSecured else { return (ciphertext.count, 0) }
    io.pointee.input = ciphertext.baseAddress?.assumingMemoryBound(to: UInt8.self)
    io.pointee.input_count = ciphertext.count
    // Once per call is enough: the queue stays empty as long as operations succeed or want more. Looking costs a third
    // of what clearing does.
    if ERR_peek_error() != 0 { ERR_clear_error() }
    if case .handshaking = current { continueHandshake(ssl) }
    let produced = isSecured ? read(ssl, plaintext) : 0
    let taken = isOver ? ciphertext.count : ciphertext.count - io.pointee.input_count
    io.pointee.input = nil
    io.pointee.input_count = 0
    return (taken, produced)
  }

  public func seal(_ plaintext: UnsafeRawBufferPointer) {
    guard let ssl, isSecured, !isClosed, !plaintext.isEmpty else { return }
    let records = (plaintext.count - 1) / Self.recordCapacity + 1
    if recordsUnderKey + records > recordsPerKey {
      // The KeyUpdate goes out before the next record. The remote side need not change its own key.
      ERR_clear_error()
      guard SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 else { return fail() }
      recordsUnderKey = 0
    }
    recordsUnderKey += records
    // At most one allocation for all records of this call.
    guard piconet_channel_io_reserve(io, plaintext.count + records * Self.recordOverheadLimit) == 1 else {
      current = .failed(SecureChannelFailure(.internalError, "too much waiting output, or out of memory"))
      return
    }
    var offset = 0
    while offset < plaintext.count {
      var written = 0
      let rest = UnsafeRawBufferPointer(rebasing: plaintext[offset...])
      guard SSL_write_ex(ssl, rest.baseAddress, rest.count, &written) == 1 else { return fail() }
      offset += written
    }
  }

  public var outputCount: Int { io.pointee.output_end - io.pointee.output_start }

  /// `body` must not call this channel. It is not called if nothing waits.
  public func drainOutput(_ body: (UnsafeRawBufferPointer) -> Int) {
    guard outputCount > 0, let output = io.pointee.output else { return }
    let taken = body(UnsafeRawBufferPointer(start: output + io.pointee.output_start, count: outputCount))
    if taken > 0 { piconet_channel_io_drained(io, min(taken, outputCount)) }
  }

  /// Keeps or releases two buffers, each the size of a record.
  public func keepBuffers(_ keeps: Bool) {
    guard let ssl else { return }
    if keeps {
      piconet_ssl_clear_mode(ssl, Int(SSL_MODE_RELEASE_BUFFERS))
    } else {
      piconet_ssl_set_mode(ssl, Int(SSL_MODE_RELEASE_BUFFERS))
      // Buffers that hold a part of a record are not freed now, but at its end.
      SSL_free_buffers(ssl)
    }
  }

  public func close() {
    guard let ssl, !isClosed else { return }
    isClosed = true
    guard SSL_is_init_finished(ssl) == 1, !hasFailed else { return }
    // 0 is success: our close_notify was sent, and the remote side's has not come yet.
    ERR_clear_error()
    if SSL_shutdown(ssl) < 0 { ERR_clear_error() }
  }

  /// The remote side's verified certificates, in DER, its own first. If authorities are required, they are the path to
  /// one of them; otherwise there is only the self-signed one. Empty before its key is proven.
  public var peerCertificates: [[UInt8]] {
    guard let ssl, provenPeer != nil else { return [] }
    return CertificateChain.bytes(leaf: SSL_get0_peer_certificate(ssl), SSL_get0_verified_chain(ssl))
  }

  /// Returns an empty array unless the channel is, or was until the remote side's close_notify, secured.
  public func exportedKey(label: String) -> [UInt8] {
    guard let ssl, provenPeer != nil, SSL_is_init_finished(ssl) == 1, !hasFailed else { return [] }
    var key = [UInt8](repeating: 0, count: 32)
    let label = Array(label.utf8CString)
    guard SSL_export_keying_material(ssl, &key, key.count, label, label.count - 1, nil, 0, 0) == 1 else {
      ERR_clear_error()
      return []
    }
    return key
  }

  // MARK: - The handshake

  /// Returns the channel that owns this SSL, in a callback from OpenSSL.
  static func of(_ ssl: OpaquePointer) -> OpenSSLChannel? {
    SSL_get_ex_data(ssl, 0).map { Unmanaged<OpenSSLChannel>.fromOpaque($0).takeUnretainedValue() }
  }

  func prove(_ peer: PeerID) { provenPeer = peer }

  func refuse(_ failure: SecureChannelFailure) { refusal = failure }

  /// The remote side may renew keys and send tickets (RFC 8446, section 4.6), each of which costs this side far more
  /// time than its bytes cost the remote side. This many are allowed, and more only with records of data.
  static let postHandshakeMessageLimit = 32
  static let recordsPerPostHandshakeMessage = 1024

  func noteHandshakeMessage() {
    guard isSecured else { return }
    postHandshakeMessages += 1
    guard postHandshakeMessages > Self.postHandshakeMessageLimit + reads / Self.recordsPerPostHandshakeMessage else {
      return
    }
    refuse(SecureChannelFailure(.protocolViolation, "too many key updates or tickets"))
    // Otherwise OpenSSL would go on through all of the input within one call.
    io.pointee.input_count = 0
  }

  private func continueHandshake(_ ssl: OpaquePointer) {
    let result = SSL_do_handshake(ssl)
    guard result == 1 else { return settle(ssl, result) }
    // All of it was checked during the handshake, and is checked again, because everything else rests on these three.
    guard SSL_version(ssl) == TLS1_3_VERSION, let headers = HandshakeRules.agreedHeaders(ssl), let provenPeer else {
      current = .failed(HandshakeRules.noALPN)
      return
    }
    // OpenSSL has read up to the end of a record and no further, and everything that it has written is in the output.
    if headers == .compact { io.pointee.is_compact = 1 }
    current = .secured(peer: provenPeer)
  }

  // MARK: - Reading

  /// The most bytes of plaintext in one record (RFC 8446, section 5.1).
  private static let recordCapacity = 16384
  /// Header, content type, tag.
  private static let recordOverheadLimit = 5 + 1 + 16

  private func read(_ ssl: OpaquePointer, _ plaintext: UnsafeMutableRawBufferPointer) -> Int {
    guard let base = plaintext.baseAddress else { return 0 }
    var produced = 0
    // Avoids a call that could only say "want more": a read usually ends at the end of a record.
    while produced < plaintext.count, io.pointee.input_count > 0 || SSL_has_pending(ssl) == 1 {
      var count = 0
      let result = SSL_read_ex(ssl, base + produced, plaintext.count - produced, &count)
      guard result == 1 else {
        settle(ssl, result)
        break
      }
      produced += count
      reads += 1
    }
    return produced
  }

  /// Decides what an operation that did not succeed means for the state.
  private func settle(_ ssl: OpaquePointer, _ result: Int32) {
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ:
      if let refusal { current = .failed(refusal) }
    case SSL_ERROR_ZERO_RETURN where isSecured: current = .ended
    case SSL_ERROR_ZERO_RETURN:
      current = .failed(SecureChannelFailure(.alert, "the remote side closed before the handshake was done"))
    default: fail()
    }
  }

  private func fail() {
    let errors = OpenSSLError.takeAll()
    current = .failed(refusal ?? SecureChannelFailure(errors))
  }

  private var isSecured: Bool { if case .secured = current { true } else { false } }

  private var hasFailed: Bool { if case .failed = current { true } else { false } }

  private var isOver: Bool {
    switch current {
    case .handshaking, .secured: false
    case .ended, .failed: true
    }
  }
}
