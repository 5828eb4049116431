import PiconetEngine
import PiconetTLS

/// TLS 1.3 by OpenSSL as what secures links.
final class OpenSSLLinkSecurity: LinkSecurity {
  private let context: OpenSSLContext

  init(context: OpenSSLContext) { self.context = context }

  func makeChannel(isDialler: Bool) -> any SecureChannel { context.makeChannel(role: isDialler ? .client : .server) }

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
