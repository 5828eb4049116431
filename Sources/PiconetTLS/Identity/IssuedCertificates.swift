import CPiconetOpenSSL
import PiconetEngine

/// A certificate that an authority has issued for a device's key, with the intermediate certificates.
final class IssuedCertificates: Sendable {
  // X509 and the stack are never changed once they are stored here.
  nonisolated(unsafe) let leaf: OpaquePointer
  /// A stack of X509, each of which has issued the one before it; the first has issued the leaf.
  nonisolated(unsafe) let intermediates: OpaquePointer

  /// Reads DER, the leaf first, each of the others the issuer of the one before it.
  /// - Throws: `badCertificate`, with the fault: certificates that peers would refuse are refused here.
  init(_ certificates: [[UInt8]]) throws(SecureChannelFailure) {
    try CertificateChain.checkSize(certificates.map(\.count))
    var read: [OpaquePointer] = []
    do throws(SecureChannelFailure) {
      for certificate in certificates { read.append(try CertificateChain.read(certificate)) }
      try CertificateChain.checkLeaf(read[0])
      for certificate in read { try CertificateChain.checkPurpose(certificate) }
      for index in read.indices.dropFirst() where !CertificateChain.hasIssued(read[index], read[index - 1]) {
        throw SecureChannelFailure(
          .badCertificate, "certificate \(index + 1) of the chain has not issued certificate \(index)")
      }
    } catch {
      read.forEach(X509_free)
      throw error
    }
    guard let stack = piconet_certificates_new() else {
      read.forEach(X509_free)
      throw SecureChannelFailure(.internalError, OpenSSLError.takeText())
    }
    for certificate in read.dropFirst() { piconet_certificates_push(stack, certificate) }
    (leaf, intermediates) = (read[0], stack)
  }

  deinit {
    X509_free(leaf)
    piconet_certificates_free(intermediates)
  }

  /// The certificates in DER, the leaf first.
  var bytes: [[UInt8]] { CertificateChain.bytes(leaf: leaf, intermediates) }

  /// Makes the channels of this context show it to every peer that names authorities (RFC 8446, section 4.2.4); all
  /// others are shown the self-signed certificate.
  /// - Parameter identity: the identity with the certificate; it must outlive the context.
  static func show(of identity: DeviceIdentity, in context: OpaquePointer) {
    guard identity.issued != nil else { return }
    SSL_CTX_set_cert_cb(
      context,
      { ssl, identity in
        guard let ssl, let identity else { return 0 }
        let own = Unmanaged<DeviceIdentity>.fromOpaque(identity).takeUnretainedValue()
        guard let issued = own.issued, piconet_ssl_named_authorities(ssl) > 0 else { return 1 }
        return SSL_use_cert_and_key(ssl, issued.leaf, own.key, issued.intermediates, 1)
      }, Unmanaged.passUnretained(identity).toOpaque())
  }
}
