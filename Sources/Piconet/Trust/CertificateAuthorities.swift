import PiconetEngine
import PiconetTLS
import PiconetWire

/// Authorities whose certificates a node accepts from its peers, such as a company's own. The system's authorities
/// count only if a program reads and names them.
///
/// A peer's identity is still the fingerprint of its key, no matter which authority issued its certificates. They only
/// state, in their own words, who owns the key (`ProvenMember.certificates`).
///
/// A certificate on the path from the peer's to the authority's, either end included, may name purposes
/// (extendedKeyUsage). One of them must then be clientAuth, serverAuth or anyExtendedKeyUsage: each node is client and
/// server. A certificate that names no purpose is valid for all.
public struct CertificateAuthorities: Sendable, Hashable {
  /// Certificates in DER: 1 to 16, of 4,096 bytes at most. They are usually self-signed. One that another authority has
  /// issued works as well, and stands for everything it has issued itself.
  public var certificates: [[UInt8]]
  /// Whether certificates count only between their dates, by the clock of this device. Default: true. A device whose
  /// clock has no battery starts in the past.
  public var checksDates = true

  /// Takes certificates in DER. They are parsed when the host starts.
  public init(_ certificates: [[UInt8]]) { self.certificates = certificates }

  /// Reads certificates in PEM (RFC 7468); other content is skipped.
  /// - Throws: `invalidArgument` if it contains no certificate, or one that can't be used.
  public init(pem: [UInt8]) throws(PiconetError) {
    certificates = CertificateChain.certificates(inPEM: pem)
    _ = try anchors()
  }

  func anchors() throws(PiconetError) -> TrustAnchors {
    do throws(SecureChannelFailure) {
      return try TrustAnchors(certificates, checksDates: checksDates)
    } catch {
      throw PiconetError(
        .invalidArgument, blame: .us, detail: "certificateAuthorities: \(error.detail)", underlying: error)
    }
  }
}
