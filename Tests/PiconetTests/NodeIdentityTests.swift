import CPiconetOpenSSL
import PiconetTLS
import Testing

@testable import Piconet

@Suite("Identities that the program keeps", .timeLimit(.minutes(15)))
struct NodeIdentityTests {
  @Test("a node is who its program says, and both sides see the certificate that the other has shown")
  func certificates() async throws {
    let (server, client) = (try NodeIdentity(), try NodeIdentity())
    try await NodePair.run(server: { $0.identity = .given(server) }, client: { $0.identity = .given(client) }) { pair in
      #expect(pair.server.id.peer == server.fingerprint && pair.client.id.peer == client.fingerprint)
      async let invitation = pair.server.invitations.first()
      async let invited = pair.client.invite(at: pair.address())
      let accepted = try #require(await invitation)
      #expect(accepted.peer.certificate == client.certificate)
      let onServer = try await accepted.accept()
      #expect(try await invited.proven.certificate == server.certificate)
      #expect(onServer.proven.certificate == client.certificate)
      #expect(server.certificate != client.certificate && !server.certificate.isEmpty)
    }
  }

  @Test("key and certificate are taken in PEM in any order, with a passphrase where they have one, and in DER")
  func forms() throws {
    let device = try DeviceIdentity.generate()
    let certificate = device.certificateBytes
    let plain = try device.pem()
    let parts = String(decoding: plain, as: UTF8.self).split(separator: "-----BEGIN CERTIFICATE-----")
    let turned = "-----BEGIN CERTIFICATE-----\(parts[1])\(parts[0])"
    let forms = [
      try NodeIdentity(pem: plain), try NodeIdentity(pem: Array(turned.utf8)),
      try NodeIdentity(pem: device.pem(passphrase: [1]), passphrase: [1]),
      try NodeIdentity(key: derKey(of: plain), certificate: certificate),
    ]
    for form in forms { #expect(form.fingerprint == device.peer && form.certificate == certificate) }
    let another = try NodeIdentity()
    #expect(Set(forms).count == 1 && forms[0] != another)
    #expect(try IdentityStorage.given(forms[0]).fingerprint() == device.peer)
    #expect("\(forms[0])" == "\(device.peer)")
  }

  @Test("an identity that no peer would take, or whose key does not fit, is refused with what is wrong")
  func refused() throws {
    let (one, other) = (try DeviceIdentity.generate(), try DeviceIdentity.generate())
    let (pem, encrypted) = (try one.pem(), try one.pem(passphrase: [1]))
    let certificate = Array(String(decoding: try other.pem(), as: UTF8.self).utf8.drop { $0 != 0x2D })
    let ownKey = String(decoding: pem, as: UTF8.self).components("-----BEGIN CERTIFICATE-----")[0]
    let otherCertificate = String(decoding: certificate, as: UTF8.self).components("-----BEGIN CERTIFICATE-----")[1]
    let mixed = Array((ownKey + "-----BEGIN CERTIFICATE-----" + otherCertificate).utf8)
    let key = try derKey(of: pem)
    let attempts: [(String, () throws -> NodeIdentity)] = [
      ("is not of this key", { try NodeIdentity(pem: mixed) }),
      ("is not of this key", { try NodeIdentity(key: key, certificate: other.certificateBytes) }),
      (
        "has not issued certificate 1",
        { try NodeIdentity(pem: pem + Array(("-----BEGIN CERTIFICATE-----" + otherCertificate).utf8)) }
      ),
      ("there is no key", { try NodeIdentity(pem: Array("nothing".utf8)) }),
      ("no certificate", { try NodeIdentity(pem: Array(ownKey.utf8)) }),
      ("encrypted", { try NodeIdentity(pem: encrypted) }),
      ("passphrase is another one", { try NodeIdentity(pem: encrypted, passphrase: [2]) }),
      ("passphrase has 1 to", { try NodeIdentity(pem: encrypted, passphrase: []) }),
      ("key can't be read", { try NodeIdentity(key: [1, 2], certificate: one.certificateBytes) }),
      ("key can't be read", { try NodeIdentity(key: key + [0], certificate: one.certificateBytes) }),
      ("certificate can't be read", { try NodeIdentity(key: key, certificate: []) }),
    ]
    for (words, attempt) in attempts {
      do {
        _ = try attempt()
        Issue.record("taken: \(words)")
      } catch let error as PiconetError {
        #expect(error.code == .invalidArgument && error.detail.contains(words), "\(error)")
      }
    }
  }
}

/// A private key in DER, as PKCS #8.
private func derKey(of pem: [UInt8]) throws -> [UInt8] {
  let bio = try #require(BIO_new_mem_buf(pem, Int32(pem.count)))
  defer { BIO_free(bio) }
  let key = try #require(PEM_read_bio_PrivateKey(bio, nil, nil, nil))
  defer { EVP_PKEY_free(key) }
  let info = try #require(EVP_PKEY2PKCS8(key))
  defer { PKCS8_PRIV_KEY_INFO_free(info) }
  var bytes = [UInt8](repeating: 0, count: Int(i2d_PKCS8_PRIV_KEY_INFO(info, nil)))
  bytes.withUnsafeMutableBufferPointer { buffer in
    var cursor = buffer.baseAddress
    i2d_PKCS8_PRIV_KEY_INFO(info, &cursor)
  }
  return bytes
}

extension String {
  fileprivate func components(_ separator: String) -> [String] { split(separator: separator).map(String.init) }
}
