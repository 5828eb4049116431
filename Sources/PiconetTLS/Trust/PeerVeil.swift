import CPiconetOpenSSL
import PiconetWire

/// The value that a device advertises in place of its fingerprint, so that only devices that know it recognize it:
/// HMAC-SHA-256 (RFC 2104), keyed by the fingerprint, over a label, the incarnation and the session. The incarnation is
/// drawn at each start, so two veils of one device look unrelated to anyone who does not know it.
///
/// It hides nothing from those who have ever had the fingerprint: anyone who has been connected to the device, or was
/// told of it.
/// told of it.
public enum PeerVeil {
  private static let label = Array("piconet veil".utf8)

  public static func veil(of peer: PeerID, _ incarnation: Incarnation, session: String) -> PeerID? {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: incarnation.rawValue >> (56 - 8 * $0)) }
    let text = label + number + Array(session.utf8)
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    var count: UInt32 = 0
    guard HMAC(EVP_sha256(), peer.bytes, Int32(PeerID.byteCount), text, text.count, &digest, &count) != nil else {
      return nil
    }
    return PeerID(bytes: digest)
  }
}
