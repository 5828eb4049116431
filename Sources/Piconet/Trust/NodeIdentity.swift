import PiconetEngine
import PiconetTLS
import PiconetWire

/// A device's key with its certificate, which the program stores itself; a node uses it through
/// `IdentityStorage.given`.
///
/// The key is a P-256 or Ed25519 key. The certificate is signed by the key itself and at most 2,048 bytes long in DER;
/// Piconet ignores its names and dates. Certificates that peers would refuse are refused here.
public struct NodeIdentity: Sendable, Hashable {
  let device: DeviceIdentity

  /// Makes a new P-256 key, with a certificate.
  public init() throws(PiconetError) {
    try self.init { () throws(SecureChannelFailure) in try DeviceIdentity.generate() }
  }

  /// Takes a key and its certificate in PEM (RFC 7468), in any order, such as `IdentityStorage.exportIdentity` gives.
  ///
  /// Several certificates are a chain, as `init(key:certificates:)` takes it, that of the key first; so is a single one
  /// that the key has not signed itself.
  /// - Parameters:
  ///   - pem: one private key, and one certificate or several.
  ///   - passphrase: the passphrase that encrypts the key, if any. At most 1,024 bytes, without NUL.
  /// - Throws: `invalidArgument`, with what is wrong with them.
  public init(pem: [UInt8], passphrase: [UInt8]? = nil) throws(PiconetError) {
    try IdentityStorage.check(passphrase)
    do throws(SecureChannelFailure) {
      device = try DeviceIdentity(anyPEM: pem, passphrase: passphrase)
    } catch {
      let detail =
        error.code == .internalError ? IdentityStorage.fault(of: pem, passphrase, error) : error.detail
      throw PiconetError(.invalidArgument, blame: .us, detail: detail, underlying: error)
    }
  }

  /// Takes a key and its certificate in DER.
  /// - Parameters:
  ///   - key: PKCS #8 (RFC 5958), or SEC 1 (RFC 5915) for a key of P-256; not encrypted.
  ///   - certificate: X.509.
  /// - Throws: `invalidArgument`, with what is wrong with them.
  public init(key: [UInt8], certificate: [UInt8]) throws(PiconetError) {
    try self.init { () throws(SecureChannelFailure) in try DeviceIdentity(key: key, certificate: certificate) }
  }

  /// Takes a key and the certificate that an authority has issued for it, with the intermediate certificates.
  ///
  /// They are shown to peers that ask for authorities (`NodeConfiguration.certificateAuthorities`), whether or not
  /// those name this one. All other peers get a certificate that the key signs itself, as every node shows them.
  /// - Parameters:
  ///   - key: PKCS #8 (RFC 5958), or SEC 1 (RFC 5915) for a key of P-256; not encrypted.
  ///   - certificates: X.509 in DER, that of the key first, each of the others the issuer of the one before it; the
  ///     authority's own may be left out. At most 4, of 8,192 bytes together, the first of 2,048. One that names
  ///     purposes (extendedKeyUsage) must have clientAuth, serverAuth or anyExtendedKeyUsage among them.
  /// - Throws: `invalidArgument`, with what is wrong with them.
  public init(key: [UInt8], certificates: [[UInt8]]) throws(PiconetError) {
    try self.init { () throws(SecureChannelFailure) in try DeviceIdentity(key: key, certificates: certificates) }
  }

  private init(_ make: () throws(SecureChannelFailure) -> DeviceIdentity) throws(PiconetError) {
    do throws(SecureChannelFailure) {
      device = try make()
    } catch {
      throw PiconetError(.invalidArgument, blame: .us, detail: error.detail, underlying: error)
    }
  }

  /// The SHA-256 of the public key, which others compare and pin.
  public var fingerprint: PeerID { device.peer }

  /// The certificate that the key has signed itself, in DER.
  public var certificate: [UInt8] { device.certificateBytes }

  /// The certificates for peers that ask for authorities, in DER, that of the key first; empty if no authority has
  /// issued one.
  public var issuedCertificates: [[UInt8]] { device.issuedBytes }

  // Two identities with the same key may show different certificates. With issued certificates, the self-signed one is
  // made again each time.
  public static func == (left: NodeIdentity, right: NodeIdentity) -> Bool {
    left.fingerprint == right.fingerprint && left.issuedCertificates == right.issuedCertificates
      && (left.certificate == right.certificate || !left.issuedCertificates.isEmpty)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}

/// Keeps the key out of what is printed.
extension NodeIdentity: CustomStringConvertible {
  public var description: String { "\(fingerprint)" }
}
