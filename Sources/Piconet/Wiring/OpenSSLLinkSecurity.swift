import PiconetEngine
import PiconetTLS

/// TLS 1.3 by OpenSSL as what secures links.
final class OpenSSLLinkSecurity: LinkSecurity {
  /// For TCP, where throughput counts.
  private let context: OpenSSLContext
  /// For Bluetooth, where a record has to fit a packet.
  private let shortRecordContext: OpenSSLContext

  init(identity: DeviceIdentity) throws(SecureChannelFailure) {
    context = try OpenSSLContext(identity: identity)
    shortRecordContext = try OpenSSLContext(
      identity: identity, options: OpenSSLContext.Options(preference: .shortRecords))
  }

  func makeChannel(isDialler: Bool, over kind: TransportKind) -> any SecureChannel {
    let context =
      switch kind {
      case .l2cap, .rfcomm, .le: shortRecordContext
      case .tcp, .relay, .simulated: context
      }
    return context.makeChannel(role: isDialler ? .client : .server)
  }

  func makeNonce() -> [UInt8]? { try? ShortCode.makeNonce() }

  func commitment(to nonce: [UInt8]) -> [UInt8] { ShortCode.commitment(to: nonce) }

  func code(
    of channel: any SecureChannel, diallerNonce: [UInt8], acceptorNonce: [UInt8], commitment: [UInt8]
  ) -> String? {
    guard ShortCode.verify(diallerNonce, against: commitment) else { return nil }
    return ShortCode.code(
      exportedKey: channel.exportedKey(label: ShortCode.exporterLabel), diallerNonce: diallerNonce,
      acceptorNonce: acceptorNonce
    ).map { "\($0)" }
  }
}
