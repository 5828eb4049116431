import CPiconetOpenSSL
import Testing

@testable import Piconet

@Suite("Peers that an authority has certified", .timeLimit(.minutes(15)))
struct CertificateAuthoritiesTests {
  private let company = Authority("Company")

  @Test("two devices of one authority are let in, and each has the other's chain, its own certificate first")
  func both() async throws {
    let (one, other) = (try company.device("one"), try company.device("other"))
    let authorities = CertificateAuthorities([company.certificate])
    try await NodePair.run {
      $0.identity = .given(one)
      $0.certificateAuthorities = authorities
    } client: {
      $0.identity = .given(other)
      $0.certificateAuthorities = authorities
    } _: { pair in
      async let invitation = pair.server.invitations.first()
      async let invited = pair.client.invite(at: pair.address())
      let accepted = try #require(await invitation)
      #expect(accepted.peer.certificates == other.issuedCertificates)
      _ = try await accepted.accept()
      let member = try await invited
      #expect(member.proven.certificates == one.issuedCertificates && member.id.peer == one.fingerprint)
      #expect(member.proven.certificate == one.issuedCertificates[0] && one.certificate != one.issuedCertificates[0])
    }
  }

  @Test("an uncertified device is refused in the handshake, whichever of the two asks")
  func refused() async throws {
    let device = try company.device("one")
    let authorities = CertificateAuthorities([company.certificate])
    let asking: @Sendable (inout NodeConfiguration) -> Void = {
      $0.identity = .given(device)
      $0.certificateAuthorities = authorities
    }
    try await NodePair.run(server: asking) { pair in
      let error = await #expect(throws: PiconetError.self) { try await pair.client.invite(at: pair.address()) }
      #expect(error.map { "\($0)" }?.contains("unknown CA") == true, "\(error.map { "\($0)" } ?? "")")
      #expect(pair.server.session.members.isEmpty)
    }
    try await NodePair.run(client: asking) { pair in
      let error = await #expect(throws: PiconetError.self) { try await pair.client.invite(at: pair.address()) }
      #expect(error.map { "\($0)" }?.contains("do not lead to an authority") == true, "\(error.map { "\($0)" } ?? "")")
    }
  }

  @Test("authorities that can't be used are refused when the host starts, and no node asks for others than its host")
  func settings() async throws {
    var configuration = NodeHostConfiguration()
    configuration.certificateAuthorities = CertificateAuthorities([[1]])
    let wrong = await #expect(throws: PiconetError.self) { try await NodeHost(configuration) }
    #expect(wrong?.code == .invalidArgument && wrong?.detail.contains("certificateAuthorities") == true)
    let empty = #expect(throws: PiconetError.self) { try CertificateAuthorities(pem: Array("nothing".utf8)) }
    #expect(empty?.detail.contains("1 to 16") == true)
    configuration.certificateAuthorities = CertificateAuthorities([company.certificate])
    try await NodeHost.run(configuration) { host in
      var node = NodeConfiguration(sessionID: "a", name: "A")
      node.interfaces = nil
      node.certificateAuthorities = nil
      let other = await #expect(throws: PiconetError.self) { try await host.node(node) }
      #expect(other?.detail.contains("certificateAuthorities") == true)
    }
  }
}

/// A certificate authority made by the test.
private struct Authority {
  let certificate: [UInt8]
  private let name: String
  // Sendable is right: a key counts its references atomically, and is not changed.
  private nonisolated(unsafe) let key: OpaquePointer

  init(_ name: String) {
    self.name = name
    key = makeKey()
    certificate = Self.certificate(of: key, name, by: key, name, isAuthority: true)
  }

  func device(_ name: String) throws -> NodeIdentity {
    let own = makeKey()
    defer { EVP_PKEY_free(own) }
    let issued = Self.certificate(of: own, name, by: key, self.name, isAuthority: false)
    return try NodeIdentity(key: Self.der { i2d_PrivateKey(own, $0) }, certificates: [issued, certificate])
  }

  private static func certificate(
    of key: OpaquePointer, _ subject: String, by signer: OpaquePointer, _ issuer: String, isAuthority: Bool
  ) -> [UInt8] {
    let certificate = X509_new()
    defer { X509_free(certificate) }
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), 7)
    ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "20000101000000Z")
    ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z")
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, subject, -1, -1, 0)
    let name = X509_NAME_new()
    defer { X509_NAME_free(name) }
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, issuer, -1, -1, 0)
    X509_set_issuer_name(certificate, name)
    X509_set_pubkey(certificate, key)
    let words = isAuthority ? "critical,CA:TRUE" : "CA:FALSE"
    let constraints = X509V3_EXT_conf_nid(nil, nil, NID_basic_constraints, words)
    X509_add_ext(certificate, constraints, -1)
    X509_EXTENSION_free(constraints)
    X509_sign(certificate, signer, EVP_sha256())
    return der { i2d_X509(certificate, $0) }
  }

  private static func der(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(write(nil)))
    bytes.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      _ = write(&cursor)
    }
    return bytes
  }
}

private func makeKey() -> OpaquePointer { piconet_generate_p256()! }
