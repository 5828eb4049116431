import CPiconetOpenSSL
import Foundation
import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetTLS

@Suite struct PeerCertificateTests {
  /// The state of our own server after a handshake with a client that has this certificate.
  private func outcome(_ key: OpaquePointer, _ certificate: OpaquePointer, chain: [OpaquePointer] = []) throws
    -> SecureChannelState
  {
    let server = try OpenSSLContext(identity: bob).makeChannel(role: .server)
    let peer = RawPeer(.init(certificate: (key, certificate), chain: chain))
    peer.handshake(with: server)
    return server.state
  }

  @Test("a self-signed Ed25519 certificate is taken, its dates don't matter")
  func ed25519() throws {
    let key = makeKey("ED25519")
    let certificate = makeCertificate(key: key, digest: nil)
    #expect(try outcome(key, certificate) == .secured(peer: PeerCertificate.fingerprint(of: certificate)))
  }

  @Test("a self-signed P-256 certificate of another maker is taken")
  func p256() throws {
    let key = makeKey("EC", curve: "P-256")
    let certificate = makeCertificate(key: key)
    #expect(try outcome(key, certificate) == .secured(peer: PeerCertificate.fingerprint(of: certificate)))
  }

  @Test("a certificate that its own key has signed is taken, whatever issuer it names")
  func issuer() throws {
    for key in [makeKey("EC", curve: "P-256"), makeKey("ED25519")] {
      let digest = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? nil : EVP_sha256()
      let certificate = makeCertificate(key: key, issuer: "Somebody else", digest: digest)
      #expect(try outcome(key, certificate) == .secured(peer: PeerCertificate.fingerprint(of: certificate)))
    }
  }

  @Test("other key types are refused")
  func otherKeys() throws {
    for key in [makeKey("EC", curve: "P-384"), makeKey("RSA")] {
      #expect(try outcome(key, makeCertificate(key: key)).failureCode != nil)
    }
    let rsa = makeKey("RSA")
    #expect(throws: SecureChannelFailure.self) {
      try PeerCertificate.check(makeCertificate(key: rsa), chainCount: 1)
    }
  }

  @Test("a certificate that another key signed is refused")
  func notSelfSigned() throws {
    let key = makeKey("EC", curve: "P-256")
    let other = makeKey("EC", curve: "P-256")
    #expect(try outcome(key, makeCertificate(key: key, signer: other)).failureCode == .badCertificate)
    #expect(try outcome(key, makeCertificate(key: key, signer: other, issuer: "CA")).failureCode == .badCertificate)
  }

  @Test("two certificates are refused")
  func chain() throws {
    let key = makeKey("EC", curve: "P-256")
    let state = try outcome(key, makeCertificate(key: key), chain: [alice.certificate])
    #expect(state.failureCode == .badCertificate)
    #expect(state.failure?.detail.contains("2 certificates") == true)
  }

  @Test("a large certificate is refused, a very large one before it is read")
  func large() throws {
    let key = makeKey("EC", curve: "P-256")
    #expect(try outcome(key, makeCertificate(key: key, padding: 1024)).failureCode == .badCertificate)
    #expect(try outcome(key, makeCertificate(key: key, padding: 20 << 10)).failureCode == .protocolViolation)
  }

  @Test("an identity made by another program must meet what peers require, and its error says what is wrong")
  func given() throws {
    let ed25519 = makeKey("ED25519")
    let certificate = makeCertificate(key: ed25519, digest: nil)
    let identity = try DeviceIdentity(key: der(ed25519), certificate: PeerCertificate.bytes(of: certificate))
    #expect(try identity.peer == PeerCertificate.fingerprint(of: certificate))
    let (p256, p384, rsa) = (makeKey("EC", curve: "P-256"), makeKey("EC", curve: "P-384"), makeKey("RSA"))
    let wrong: [(OpaquePointer, OpaquePointer, String)] = [
      (rsa, makeCertificate(key: rsa), "neither P-256 nor Ed25519"),
      (p384, makeCertificate(key: p384), "neither P-256 nor Ed25519"),
      (p256, makeCertificate(key: p256, signer: p384, issuer: "CA"), "not self-signed"),
      (p256, makeCertificate(key: p256, padding: 2048), "larger than 2048 bytes"),
      (p256, makeCertificate(key: makeKey("EC", curve: "P-256")), "not of this key"),
    ]
    for (key, certificate, words) in wrong {
      let failure = #expect(throws: SecureChannelFailure.self) {
        try DeviceIdentity(key: der(key), certificate: PeerCertificate.bytes(of: certificate))
      }
      #expect(failure?.code == .badCertificate && failure?.detail.contains(words) == true, "\(words)")
    }
  }

  private func der(_ key: OpaquePointer) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(i2d_PrivateKey(key, nil)))
    bytes.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      i2d_PrivateKey(key, &cursor)
    }
    return bytes
  }

  @Test("the peer id is what the openssl command says of the key")
  func fingerprintByCommand() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c", "openssl x509 -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -r | cut -c1-64",
    ]
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(alice.pem()))
    try input.fileHandleForWriting.close()
    let digits = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let text = String(decoding: digits, as: UTF8.self)
    #expect(text.trimmingCharacters(in: .whitespacesAndNewlines) == alice.peer.description)
  }
}
