import PiconetEngine
import PiconetTLS
import PiconetWire

/// Authorities whose certificates a node takes for its peers', such as a company's own. Those of the system count only
/// where a program reads and names them.
///
/// Who a peer is stays the fingerprint of its key, whoever has issued its certificates; they say that it belongs to
/// somebody, in words of their own (`ProvenMember.certificates`).
///
/// Where a certificate on the path from the peer's to the authority's, either end included, names purposes
/// (extendedKeyUsage), one of them has to be clientAuth, serverAuth or anyExtendedKeyUsage: each node is client and
/// server. A certificate that names none is for all.
public struct CertificateAuthorities: Sendable, Hashable {
  /// Certificates in DER: 1 to 16, of 4,096 bytes at most. As a rule they are self-signed; one that another authority
  /// has issued is as good, and stands for all that it has issued itself.
  public var certificates: [[UInt8]]
  /// Whether certificates count only between their dates, by the clock of this device. Default: true. A device without
  /// a battery starts in the past.
  public var checksDates = true

  /// Names certificates in DER. They are read when the host starts.
  public init(_ certificates: [[UInt8]]) { self.certificates = certificates }

  /// Reads certificates in PEM (RFC 7468); whatever else is in it is skipped.
  /// - Throws: `invalidArgument` where there is none, or one that can't be used.
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
