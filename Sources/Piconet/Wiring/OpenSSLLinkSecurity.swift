import PiconetEngine
import PiconetSDP
import PiconetTLS
import PiconetWire

/// TLS 1.3 by OpenSSL with one identity, for all nodes that share it.
struct OpenSSLContexts: Sendable {
  /// For TCP, where throughput counts.
  private let context: OpenSSLContext
  /// For Bluetooth, where a record has to fit a packet.
  private let shortRecordContext: OpenSSLContext

  init(identity: DeviceIdentity, anchors: TrustAnchors? = nil) throws(SecureChannelFailure) {
    context = try OpenSSLContext(identity: identity, options: OpenSSLContext.Options(anchors: anchors))
    shortRecordContext = try OpenSSLContext(
      identity: identity, options: OpenSSLContext.Options(preference: .shortRecords, anchors: anchors))
  }

  subscript(kind: TransportKind) -> OpenSSLContext { kind.usesBluetooth ? shortRecordContext : context }
}

/// Secures links with TLS 1.3 by OpenSSL.
final class OpenSSLLinkSecurity: LinkSecurity {
  private let contexts: OpenSSLContexts
  /// Holds the typed codes.
  private let prover: TypedCodeProver
  /// The name that a dialler sends where nodes of several sessions may listen in one place.
  private let serverName: String?

  init(contexts: OpenSSLContexts, prover: TypedCodeProver, sessionID: String) {
    self.contexts = contexts
    self.prover = prover
    serverName = (try? BluetoothUUID.session(sessionID))?.description
  }

  func makeChannel(isDialler: Bool, over kind: TransportKind) -> any SecureChannel {
    let channel = contexts[kind].makeChannel(
      role: isDialler ? .client : .server, serverName: isDialler && kind.sharesListeners ? serverName : nil)
    channels.removeAll { $0.channel == nil }
    channels.append(WeakChannel(channel: channel))
    return channel
  }

  /// Returns the peer's certificates that were verified on a channel that is still open, in DER, its own first; empty
  /// if it has no open channel.
  func certificates(of peer: PeerID) -> [[UInt8]] {
    let channel = channels.lazy.compactMap(\.channel).last { $0.state == .secured(peer: peer) }
    return channel?.peerCertificates ?? []
  }

  private struct WeakChannel {
    weak var channel: OpenSSLChannel?
  }

  /// Open channels, and some that have closed; the number of links bounds them.
  private var channels: [WeakChannel] = []

  func makeNonce() -> CodeNonce? {
    guard let nonce = try? ShortCode.makeNonce() else { return nil }
    return CodeNonce(bytes: nonce, commitment: ShortCode.commitment(to: nonce))
  }

  func code(of channel: any SecureChannel, _ inputs: CodeInputs) -> String? {
    ShortCode.code(exportedKey: channel.exportedKey(label: ShortCode.exporterLabel), inputs).map { "\($0)" }
  }

  func prove(_ id: CodeID, _ step: TypedCodeStep, over channel: (any SecureChannel)?) -> TypedCodeFinding? {
    prover.prove(id, step, over: channel)
  }
}
