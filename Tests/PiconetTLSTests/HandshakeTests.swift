import CPiconetOpenSSL
import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetTLS

@Suite struct HandshakeTests {
  @Test("both sides prove the other's key, however the bytes are cut", arguments: [1, 7, 100, 1 << 20])
  func bothSidesAreSecured(chunk: Int) throws {
    let pair = try ChannelPair()
    #expect(pair.client.state == .handshaking && pair.server.state == .handshaking)
    pair.handshake(chunk: chunk)
    #expect(pair.client.state == .secured(peer: bob.peer))
    #expect(pair.server.state == .secured(peer: alice.peer))
    #expect(pair.clientContext.peer == alice.peer)
  }

  @Test("no plaintext before the end of the handshake, and the first record may come glued to it")
  func firstRecordGluedToTheHandshake() throws {
    let pair = try ChannelPair()
    pair.client.start()
    #expect(carry(drain(pair.client), to: pair.server).isEmpty)
    #expect(carry(drain(pair.server), to: pair.client).isEmpty)
    #expect(pair.client.state == .secured(peer: bob.peer) && pair.server.state == .handshaking)
    seal(pattern(100), in: pair.client)
    #expect(carry(drain(pair.client), to: pair.server) == pattern(100))
    #expect(pair.server.state == .secured(peer: alice.peer))
    #expect(pair.server.outputCount == 0)
  }

  @Test("bytes that are sealed before the handshake's end never leave")
  func sealBeforeSecured() throws {
    let pair = try ChannelPair()
    seal(pattern(100), in: pair.client)
    seal(pattern(100), in: pair.server)
    #expect(pair.client.outputCount == 0 && pair.server.outputCount == 0)
    #expect(pair.client.exportedKey(label: "EXPORTER-x").isEmpty)
  }

  @Test("the exported key is the same on both sides, other with another label or another link")
  func exportedKeys() throws {
    let pair = try ChannelPair.secured()
    let key = pair.client.exportedKey(label: "EXPORTER-a")
    #expect(key.count == 32)
    #expect(pair.server.exportedKey(label: "EXPORTER-a") == key)
    #expect(pair.server.exportedKey(label: "EXPORTER-b") != key)
    #expect(try ChannelPair.secured().client.exportedKey(label: "EXPORTER-a") != key)
  }

  @Test(
    "a client without ALPN, or with another protocol, is refused",
    arguments: [nil, [2, 0x68, 0x32], [9] + "piconet/2".utf8])
  func serverWantsALPN(alpn: [UInt8]?) throws {
    let server = try OpenSSLContext(identity: bob).makeChannel(role: .server)
    let peer = RawPeer(.init(alpn: alpn, certificate: (alice.key, alice.certificate)))
    peer.handshake(with: server)
    #expect(server.state.failureCode == .noCommonProtocol)
    _ = peer.read()
    #expect(peer.reasons.contains(SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL))
  }

  @Test("our protocol is found behind others")
  func severalProtocols() throws {
    let server = try OpenSSLContext(identity: bob).makeChannel(role: .server)
    let alpn = [2, 0x68, 0x32, 9] + Array("piconet/1".utf8)
    RawPeer(.init(alpn: alpn, certificate: (alice.key, alice.certificate))).handshake(with: server)
    #expect(server.state == .secured(peer: alice.peer))
  }

  @Test("compact headers are agreed on where both sides take them, and nowhere else", arguments: [true, false])
  func compactHeaders(knows: Bool) throws {
    let options = OpenSSLContext.Options(preference: .shortRecords)
    let server = try OpenSSLContext(identity: bob, options: options).makeChannel(role: .server)
    let names = knows ? ["piconet/1", "piconet/1-compact"] : ["piconet/1"]
    let alpn = names.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    let peer = RawPeer(.init(alpn: alpn, certificate: (alice.key, alice.certificate)))
    peer.handshake(with: server)
    #expect(server.state == .secured(peer: alice.peer))
    seal([1], in: server)
    #expect(drain(server).first == (knows ? 0x80 : 0x17))
  }

  @Test("a server that ignores ALPN is refused")
  func clientWantsALPN() throws {
    let client = try OpenSSLContext(identity: alice).makeChannel(role: .client)
    let peer = RawPeer(.init(isClient: false, alpn: nil, certificate: (bob.key, bob.certificate)))
    peer.handshake(with: client)
    #expect(client.state.failureCode == .noCommonProtocol)
    _ = peer.read()
    #expect(peer.reasons.contains(SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE))
  }

  @Test("a client without a certificate is refused")
  func noClientCertificate() throws {
    let server = try OpenSSLContext(identity: bob).makeChannel(role: .server)
    let peer = RawPeer(.init())
    peer.handshake(with: server)
    #expect(server.state.failureCode == .badCertificate)
    _ = peer.read()
    #expect(peer.reasons.contains(SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED))
  }

  @Test("a server that asks for no certificate gets none, and is told apart by what follows")
  func serverWithoutRequest() throws {
    // The client can't prevent it: the accepting side harms only itself. Here it must work without a failure.
    let client = try OpenSSLContext(identity: alice).makeChannel(role: .client)
    let peer = RawPeer(
      .init(isClient: false, certificate: (bob.key, bob.certificate), requestsCertificate: false))
    peer.handshake(with: client)
    #expect(client.state == .secured(peer: bob.peer))
  }

  @Test("TLS 1.2 is refused on both sides", arguments: [true, false])
  func version12(isClient: Bool) throws {
    let channel = try OpenSSLContext(identity: bob).makeChannel(role: isClient ? .server : .client)
    let peer = RawPeer(
      .init(isClient: isClient, certificate: (alice.key, alice.certificate), version: TLS1_2_VERSION))
    peer.handshake(with: channel)
    // An old server refuses our ClientHello by itself.
    #expect(channel.state.failureCode == (isClient ? .noCommonProtocol : .alert))
  }

  @Test(
    "bytes that are not TLS are refused and dropped",
    arguments: [
      "GET / HTTP/1.1\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "\0\0\0\0\0\0\0\0\0\0\0", "\u{16}\u{3}\u{1}\u{7f}\u{7f}",
    ])
  func garbage(text: String) throws {
    for role in [OpenSSLChannel.Role.server, .client] {
      let channel = try OpenSSLContext(identity: bob).makeChannel(role: role)
      channel.start()
      #expect(carry(Array(text.utf8), to: channel).isEmpty)
      let code = channel.state.failureCode
      #expect(code == .protocolViolation || code == .noCommonProtocol)
      #expect(channel.state.failure?.detail.isEmpty == false)
      let state = channel.state
      #expect(carry(pattern(1000), to: channel, room: 0).isEmpty)
      #expect(channel.state == state)
      #expect(channel.exportedKey(label: "EXPORTER-a").isEmpty)
    }
  }

  @Test("a handshake that is cut short waits; a close_notify ends it")
  func truncatedHandshake() throws {
    let pair = try ChannelPair()
    pair.client.start()
    let hello = drain(pair.client)
    _ = carry(Array(hello.dropLast()), to: pair.server)
    #expect(pair.server.state == .handshaking && pair.server.outputCount == 0)
    _ = carry([hello[hello.count - 1]], to: pair.server)
    #expect(pair.server.outputCount > 0)
    // A close_notify in the clear, as it would come before any key is agreed.
    _ = carry([21, 3, 3, 0, 2, 1, 0], to: pair.client)
    #expect(pair.client.state.failureCode == .alert)
  }

  @Test("the remote side's alert is told with its name")
  func alert() throws {
    let client = try OpenSSLContext(identity: alice).makeChannel(role: .client)
    client.start()
    _ = carry([21, 3, 3, 0, 2, 2, 40], to: client)
    #expect(client.state.failureCode == .alert)
    #expect(client.state.failure?.detail.contains("handshake failure") == true)
  }

  @Test("every byte of a handshake flight, flipped: a failure or no harm, never a trap")
  func flippedHandshakeBytes() throws {
    let context = try OpenSSLContext(identity: bob)
    let dialling = try OpenSSLContext(identity: alice)
    let hello = dialling.makeChannel(role: .client)
    hello.start()
    let flight = drain(hello)
    for index in flight.indices {
      var damaged = flight
      damaged[index] ^= 0x41
      let server = context.makeChannel(role: .server)
      server.start()
      _ = carry(damaged, to: server)
      if case .secured = server.state { Issue.record("secured by half a handshake") }
    }
  }

  @Test("two hundred handshakes leave nothing behind")
  func noLeak() throws {
    let client = try OpenSSLContext(identity: alice)
    let server = try OpenSSLContext(identity: bob)
    weak var last: OpenSSLChannel?
    for _ in 0..<200 {
      let dialler = client.makeChannel(role: .client)
      let acceptor = server.makeChannel(role: .server)
      last = dialler
      dialler.start()
      while dialler.outputCount + acceptor.outputCount > 0 {
        _ = carry(drain(dialler), to: acceptor)
        _ = carry(drain(acceptor), to: dialler)
      }
      #expect(acceptor.state == .secured(peer: alice.peer))
    }
    #expect(last == nil)
  }
}
