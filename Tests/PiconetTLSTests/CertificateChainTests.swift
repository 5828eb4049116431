import CPiconetOpenSSL
import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetTLS

@Suite("Certificates that an authority has issued")
struct CertificateChainTests {
  /// An authority, another one between it and the devices, and the certificates of its devices.
  private struct Company {
    let root = makeKey("EC", curve: "P-256")
    let office = makeKey("EC", curve: "P-256")
    let rootCertificate: OpaquePointer
    let officeCertificate: OpaquePointer

    init(_ name: String = "Company", officeDates: (String, String) = ("20000101000000Z", "99991231235959Z")) {
      rootCertificate = makeAuthority(name, root, signer: root, issuer: name)
      officeCertificate = makeAuthority(name + " office", office, signer: root, issuer: name, dates: officeDates)
    }

    /// What one of its devices shows.
    func chain(for key: OpaquePointer, _ name: String = "Company") -> [[UInt8]] {
      let device = makeAuthority("device", key, signer: office, issuer: name + " office", isAuthority: false)
      return [der(device), der(officeCertificate)]
    }

    func device(_ key: OpaquePointer = makeKey("EC", curve: "P-256")) throws -> DeviceIdentity {
      try DeviceIdentity(key: privateKey(key), certificates: chain(for: key))
    }

    func anchors(checksDates: Bool = true) throws -> TrustAnchors {
      try TrustAnchors([der(rootCertificate)], checksDates: checksDates)
    }
  }

  /// The two sides, each with what it asks for, after their handshake.
  private struct Meeting {
    let client: OpenSSLChannel
    let server: OpenSSLChannel

    init(
      _ dialling: DeviceIdentity, asking first: TrustAnchors?, _ accepting: DeviceIdentity,
      asking second: TrustAnchors?, _ preference: OpenSSLContext.Preference = .throughput
    ) throws {
      client = try OpenSSLContext(identity: dialling, options: .init(preference: preference, anchors: first))
        .makeChannel(role: .client)
      server = try OpenSSLContext(identity: accepting, options: .init(preference: preference, anchors: second))
        .makeChannel(role: .server)
      client.start()
      server.start()
      while client.outputCount > 0 || server.outputCount > 0 {
        _ = carry(drain(client), to: server)
        _ = carry(drain(server), to: client)
      }
    }

    var isSecured: Bool {
      if case .secured = client.state, case .secured = server.state { true } else { false }
    }
  }

  private let company = Company()

  @Test("two that both ask are shown a chain, over TCP and Bluetooth, and know each other by their keys")
  func both() throws {
    let (one, other) = (try company.device(), try company.device(makeKey("ED25519")))
    for preference in [OpenSSLContext.Preference.throughput, .shortRecords] {
      let meeting = try Meeting(one, asking: company.anchors(), other, asking: company.anchors(), preference)
      #expect(meeting.client.state == .secured(peer: other.peer) && meeting.server.state == .secured(peer: one.peer))
      #expect(meeting.client.peerCertificates == other.issuedBytes)
      #expect(meeting.server.peerCertificates == one.issuedBytes && one.issuedBytes.count == 2)
    }
  }

  @Test("a peer that asks for no authority is shown the self-signed certificate, and is let in too")
  func oneAsks() throws {
    let device = try company.device()
    let meeting = try Meeting(device, asking: nil, bob, asking: nil)
    #expect(meeting.server.peerCertificates == [device.certificateBytes])
    let other = try company.device()
    let asked = try Meeting(device, asking: nil, other, asking: company.anchors())
    #expect(asked.isSecured)
    #expect(asked.server.peerCertificates == device.issuedBytes)
    #expect(asked.client.peerCertificates == [other.certificateBytes])
  }

  @Test("a stranger, a stranger's authority, and a chain that lacks its middle are refused, and both sides know why")
  func refused() throws {
    let device = try company.device()
    let strangers = Company("Others")
    let key = makeKey("EC", curve: "P-256")
    let strange = try DeviceIdentity(key: privateKey(key), certificates: strangers.chain(for: key, "Others"))
    let short = try DeviceIdentity(key: privateKey(key), certificates: [company.chain(for: key)[0]])
    for wrong in [alice, strange, short] {
      let dialled = try Meeting(device, asking: company.anchors(), wrong, asking: nil)
      #expect(dialled.client.state.failureCode == .badCertificate)
      #expect(dialled.client.state.failure?.detail.contains("do not lead to an authority") == true)
      #expect(dialled.server.state.failureCode == .alert)
      let accepted = try Meeting(wrong, asking: nil, device, asking: company.anchors())
      #expect(accepted.server.state.failureCode == .badCertificate)
      #expect(accepted.client.state.failureCode == .alert)
      #expect(accepted.client.state.failure?.detail.contains("unknown CA") == true, "\(accepted.client.state)")
    }
  }

  @Test("one in the middle of a hierarchy stands for what it has issued, and for nothing beside it")
  func middle() throws {
    let office = try TrustAnchors([der(company.officeCertificate)], checksDates: true)
    #expect(try Meeting(company.device(), asking: nil, bob, asking: office).isSecured)
    let key = makeKey("EC", curve: "P-256")
    let direct = makeAuthority("device", key, signer: company.root, issuer: "Company", isAuthority: false)
    let device = try DeviceIdentity(key: privateKey(key), certificates: [der(direct)])
    #expect(try !Meeting(device, asking: nil, bob, asking: office).isSecured)
    #expect(try Meeting(device, asking: nil, bob, asking: company.anchors()).isSecured)
  }

  @Test("certificates count between their dates only, unless that is not asked")
  func dates() throws {
    let former = Company(officeDates: ("20000101000000Z", "20010101000000Z"))
    let device = try former.device()
    let meeting = try Meeting(device, asking: nil, bob, asking: former.anchors())
    #expect(meeting.server.state.failure?.detail.contains("expired") == true)
    #expect(meeting.client.state.failure?.detail.contains("expired") == true, "\(meeting.client.state)")
    #expect(try Meeting(device, asking: nil, bob, asking: former.anchors(checksDates: false)).isSecured)
  }

  @Test("a device that has issued a certificate itself is no authority")
  func noAuthority() throws {
    let (key, childKey) = (makeKey("EC", curve: "P-256"), makeKey("EC", curve: "P-256"))
    let chain = company.chain(for: key)
    let child = makeAuthority("child", childKey, signer: key, issuer: "device", isAuthority: false)
    let peer = RawPeer(
      .init(
        certificate: (childKey, child), chain: chain.map { bytes in try! CertificateChain.read(bytes) }))
    let asking = OpenSSLContext.Options(anchors: try company.anchors())
    let server = try OpenSSLContext(identity: bob, options: asking).makeChannel(role: .server)
    peer.handshake(with: server)
    #expect(server.state.failureCode == .badCertificate)
  }

  /// What `bob`, who asks for the company's certificates, makes of a peer that shows these, dialling or accepting.
  private func meet(
    _ key: OpaquePointer, _ leaf: OpaquePointer, _ others: [OpaquePointer], peerDials: Bool
  ) throws -> (channel: OpenSSLChannel, peer: RawPeer) {
    let peer = RawPeer(.init(isClient: peerDials, certificate: (key, leaf), chain: others))
    let asking = OpenSSLContext.Options(anchors: try company.anchors())
    let channel = try OpenSSLContext(identity: bob, options: asking).makeChannel(role: peerDials ? .server : .client)
    peer.handshake(with: channel)
    return (channel, peer)
  }

  @Test(
    "only those of a peer's certificates that lead to the authority are given, and none that it has put beside",
    arguments: [true, false])
  func beside(peerDials: Bool) throws {
    let (key, own) = (makeKey("EC", curve: "P-256"), makeKey("EC", curve: "P-256"))
    let leaf = makeAuthority("device", key, signer: company.office, issuer: "Company office", isAuthority: false)
    let board = makeAuthority("Company Board CA", own, signer: own, issuer: "Company Board CA")
    // These two have the names of the genuine ones.
    let office = makeAuthority("Company office", own, signer: own, issuer: "Company")
    let root = makeAuthority("Company", own, signer: own, issuer: "Company")
    for others in [
      [company.officeCertificate, board], [board, company.officeCertificate, office],
      [root, company.officeCertificate],
    ] {
      let channel = try meet(key, leaf, others, peerDials: peerDials).channel
      guard case .secured = channel.state else { Issue.record("\(channel.state)"); continue }
      #expect(channel.peerCertificates == [der(leaf), der(company.officeCertificate)])
    }
    let whole = try meet(key, leaf, [company.rootCertificate, company.officeCertificate], peerDials: peerDials).channel
    #expect(whole.peerCertificates == [der(leaf), der(company.officeCertificate), der(company.rootCertificate)])
  }

  @Test(
    "a certificate for other purposes is refused, and both sides know why", arguments: [true, false])
  func otherPurposes(peerDials: Bool) throws {
    let key = makeKey("EC", curve: "P-256")
    for (leafPurposes, officePurposes) in [
      ("emailProtection", nil), ("codeSigning,timeStamping", nil), (nil, "emailProtection"),
    ] {
      let office = makeAuthority(
        "Company office", company.office, signer: company.root, issuer: "Company", purposes: officePurposes)
      let leaf = makeAuthority(
        "device", key, signer: company.office, issuer: "Company office", isAuthority: false, purposes: leafPurposes)
      let (channel, peer) = try meet(key, leaf, [office], peerDials: peerDials)
      #expect(channel.state.failureCode == .badCertificate && channel.peerCertificates.isEmpty)
      #expect(channel.state.failure?.detail.contains("extendedKeyUsage") == true, "\(channel.state)")
      // If we are the server, the client has ended its handshake before the alert comes.
      _ = peer.read()
      #expect(peer.reasons.contains(SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE), "\(peer.reasons)")
      let ours = #expect(throws: SecureChannelFailure.self) {
        try DeviceIdentity(key: privateKey(key), certificates: [der(leaf), der(office)])
      }
      #expect(ours?.detail.contains("extendedKeyUsage") == true)
    }
  }

  @Test("an authority whose own certificate is for other purposes lets no device in")
  func authorityOfOtherPurposes() throws {
    let mail = makeAuthority(
      "Company", company.root, signer: company.root, issuer: "Company", purposes: "emailProtection")
    let meeting = try Meeting(
      company.device(), asking: nil, bob, asking: TrustAnchors([der(mail)], checksDates: true))
    #expect(meeting.server.state.failure?.detail.contains("extendedKeyUsage") == true, "\(meeting.server.state)")
    #expect(meeting.client.state.failureCode == .alert)
  }

  @Test("a certificate for clients, for servers or for any purpose is good on both sides", arguments: [true, false])
  func goodPurposes(peerDials: Bool) throws {
    let key = makeKey("EC", curve: "P-256")
    for purposes in ["clientAuth", "serverAuth", "anyExtendedKeyUsage", "emailProtection,clientAuth"] {
      let office = makeAuthority(
        "Company office", company.office, signer: company.root, issuer: "Company", purposes: purposes)
      let leaf = makeAuthority(
        "device", key, signer: company.office, issuer: "Company office", isAuthority: false, purposes: purposes)
      let channel = try meet(key, leaf, [office], peerDials: peerDials).channel
      #expect(channel.peerCertificates == [der(leaf), der(office)], "\(purposes): \(channel.state)")
      #expect(try DeviceIdentity(key: privateKey(key), certificates: [der(leaf), der(office)]).issuedBytes.count == 2)
    }
  }

  @Test("a chain with too many certificates or bytes, a peer's or our own, is refused, naming the limit")
  func limits() throws {
    let key = makeKey("EC", curve: "P-256")
    let chain = company.chain(for: key)
    let long = [chain[0]] + [[UInt8]](repeating: chain[1], count: CertificateChain.countLimit)
    let fat = makeAuthority("fat", company.office, signer: company.root, issuer: "Company", padding: 9000)
    for (certificates, words) in [
      (long, "4 certificates at most"), ([chain[0], der(fat)], "8192 bytes at most"), ([], "no certificate"),
      ([chain[0], der(company.rootCertificate)], "has not issued certificate 1"),
      ([chain[1], der(company.rootCertificate)], "not of this key"), ([[1, 2, 3]], "can't be read"),
    ] {
      let failure = #expect(throws: SecureChannelFailure.self) {
        try DeviceIdentity(key: privateKey(key), certificates: certificates)
      }
      #expect(failure?.detail.contains(words) == true, "\(failure?.detail ?? "")")
    }
    let peer = RawPeer(
      .init(
        certificate: (key, try CertificateChain.read(chain[0])),
        chain: try long.dropFirst().map { try CertificateChain.read($0) }))
    let asking = OpenSSLContext.Options(anchors: try company.anchors())
    let server = try OpenSSLContext(identity: bob, options: asking).makeChannel(role: .server)
    peer.handshake(with: server)
    #expect(server.state.failure?.detail.contains("4 certificates at most") == true)
  }

  @Test("authorities are 1 to 16 certificates that may issue others, and the error says what is wrong with them")
  func authorities() throws {
    let device = company.chain(for: makeKey("EC", curve: "P-256"))[0]
    let root = der(company.rootCertificate)
    for (certificates, words) in [
      ([], "1 to 16"), ([[UInt8]](repeating: root, count: 17), "1 to 16"), ([[1]], "can't be read"),
      ([device], "may not issue others"), ([root + [0]], "can't be read"),
    ] {
      let failure = #expect(throws: SecureChannelFailure.self) { try TrustAnchors(certificates, checksDates: true) }
      #expect(failure?.detail.contains(words) == true, "\(failure?.detail ?? "")")
    }
  }

  @Test("a chain in PEM is taken in any order")
  func pem() throws {
    let key = makeKey("EC", curve: "P-256")
    let chain = company.chain(for: key) + [der(company.rootCertificate)]
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
      let bio = BIO_new(BIO_s_mem())
      defer { BIO_free(bio) }
      for index in order { PEM_write_bio_X509(bio, try CertificateChain.read(chain[index])) }
      PEM_write_bio_PrivateKey(bio, key, nil, nil, 0, nil, nil)
      var start: UnsafePointer<UInt8>?
      let count = piconet_memory_bio_bytes(bio, &start)
      let identity = try DeviceIdentity(anyPEM: Array(UnsafeBufferPointer(start: start, count: count)), passphrase: nil)
      #expect(identity.issuedBytes == chain)
    }
  }
}

private func der(_ certificate: OpaquePointer) -> [UInt8] { PeerCertificate.bytes(of: certificate) }

private func privateKey(_ key: OpaquePointer) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: Int(i2d_PrivateKey(key, nil)))
  bytes.withUnsafeMutableBufferPointer { buffer in
    var cursor = buffer.baseAddress
    i2d_PrivateKey(key, &cursor)
  }
  return bytes
}

private func makeAuthority(
  _ name: String, _ key: OpaquePointer, signer: OpaquePointer, issuer: String, isAuthority: Bool = true,
  dates: (String, String) = ("20000101000000Z", "99991231235959Z"), padding: Int = 0,
  purposes: String? = nil
) -> OpaquePointer {
  let certificate = makeCertificate(key: key, signer: signer, issuer: issuer, subject: name, padding: padding)
  ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), dates.0)
  ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), dates.1)
  let name = { (text: String) in
    let name = X509_NAME_new()
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0)
    return name
  }
  X509_set_issuer_name(certificate, name(issuer))
  let constraints = X509V3_EXT_conf_nid(nil, nil, NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "CA:FALSE")
  X509_add_ext(certificate, constraints, -1)
  X509_EXTENSION_free(constraints)
  if let purposes {
    let usage = X509V3_EXT_conf_nid(nil, nil, NID_ext_key_usage, purposes)
    X509_add_ext(certificate, usage, -1)
    X509_EXTENSION_free(usage)
  }
  X509_sign(certificate, signer, EVP_sha256())
  return certificate
}
