import CPiconetOpenSSL
import Foundation
import Glibc
import PiconetEngine
import PiconetTLS
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

/// Connections that never become peers, and peers that ask without listening.
@Suite("Connections that are no peers", .timeLimit(.minutes(15)))
struct HostileBytesTests {
  @Test("garbage instead of TLS, and every beginning of it, ends the connection")
  func garbage() async throws {
    try await Host.run { host in
      var random = SeededRandom(seed: 3)
      let junk = (0..<3000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      for bytes in [
        Array("GET / HTTP/1.1\r\n\r\n".utf8), junk, [0], [22, 3, 1, 0xFF, 0xFF] + junk,
        [22, 3, 1, 0, 5, 1, 0, 0, 1, 0], [21, 3, 3, 0, 2, 1, 0], [23, 3, 3, 0, 1, 0], [],
      ] {
        try await blocking {
          let raw = try RawLink(to: host.address)
          try raw.write(raw: bytes)
          // What is not wrong so far ends here.
          shutdown(raw.socket, Int32(SHUT_WR))
          while !(try raw.readRaw().isEmpty) {}
        }
      }
      try await host.servesAnHonestPeer()
    }
  }

  @Test("a node that dials a server without TLS is told so", arguments: ["SSH-2.0-x\r\n", ""])
  func dialsGarbage(greeting: String) async throws {
    let listener = try RawListener()
    async let served: Void = blocking {
      let raw = try listener.accept()
      _ = try raw.readRaw()
      try raw.write(raw: Array(greeting.utf8))
      if greeting.isEmpty { shutdown(raw.socket, Int32(SHUT_RDWR)) }
      while !(try raw.readRaw().isEmpty) {}
    }
    try await Host.client { client in
      let error = await failure { try await client.invite(at: listener.address) }
      #expect(error?.code == .unreachable, "\(String(describing: error))")
      #expect(error?.description.contains("TLS") == true, "\(String(describing: error))")
    }
    try await served
  }

  @Test("TLS without our ALPN is refused with the alert no_application_protocol")
  func noApplicationProtocol() async throws {
    try await Host.run { host in
      let alert = try await blocking { () -> Bool in
        let socket = try RawLink.connect(to: host.address)
        defer { close(socket) }
        let context = SSL_CTX_new(TLS_client_method())
        let ssl = SSL_new(context)
        defer {
          SSL_free(ssl)
          SSL_CTX_free(context)
        }
        SSL_set_fd(ssl, socket)
        ERR_clear_error()
        guard SSL_connect(ssl) != 1 else { return false }
        let error = ERR_peek_error()
        ERR_clear_error()
        // The reason of a received alert is 1000 and its number (RFC 8446, section 6: 120).
        return error & 0x7F_FFFF == 1120
      }
      #expect(alert)
      try await host.servesAnHonestPeer()
    }
  }

  @Test("silence after connecting, after TLS, and a byte now and then end after the time for handshakes")
  func silence() async throws {
    try await Host.run({ $0.patience.handshake = .seconds(3) }) { host in
      async let mute: Void = blocking {
        let raw = try RawLink(to: host.address)
        while !(try raw.readRaw().isEmpty) {}
      }
      async let afterTLS = blocking {
        let raw = try RawLink(to: host.address)
        try raw.secure()
        return try raw.readToEnd()?.reason
      }
      async let slow: Int = blocking {
        let raw = try RawLink(to: host.address)
        raw.channel.start()
        var hello: [UInt8] = []
        raw.channel.drainOutput { bytes in
          hello = Array(bytes)
          return bytes.count
        }
        // A byte every 20 ms: the whole hello would take longer than that.
        var count = 0
        for byte in hello {
          guard (try? raw.write(raw: [byte])) != nil else { break }
          count += 1
          var ready = pollfd(fd: raw.socket, events: Int16(POLLIN), revents: 0)
          if poll(&ready, 1, 20) != 0 { break }
        }
        return count - hello.count
      }
      try await mute
      #expect(try await afterTLS == .timedOut)
      #expect(try await slow < 0)
      try await host.servesAnHonestPeer()
    }
  }

  @Test("a dial that meets silence ends after the time for handshakes, and says so")
  func dialsSilence() async throws {
    let listener = try RawListener()
    try await Host.client("Client", { $0.patience.handshake = .seconds(1) }) { client in
      let error = await failure { try await client.invite(at: listener.address) }
      #expect(error?.code == .unreachable)
      #expect(error?.description.contains("TLS handshake") == true, "\(String(describing: error))")
    }
  }

  @Test("a crowd of silent connections does not push out a dial of our own")
  func crowdAndOurDial() async throws {
    let listener = try RawListener()
    // Our dial waits in its handshake while the crowd comes, however long that takes on this machine.
    try await Host.run({ $0.patience.handshake = .seconds(120) }) { host in
      async let dialling = failure { try await host.node.invite(at: listener.address) }
      let dialled = try await blocking { try listener.accept() }
      // More than are let into their handshake at once; then one peer that shows that all of them were seen.
      let crowd = try await blocking { try (0..<200).map { _ in try RawLink.connect(to: host.address) } }
      try await host.servesAnHonestPeer()
      // Our dial still waits for the other end, which does its TLS handshake only now.
      try await blocking {
        try dialled.associate()
        _ = try dialled.wait(for: "invitation") { if case .invite = $0 { true } else { nil } }
        try dialled.send(.decline(.declined, detail: ""))
      }
      let error = await dialling
      #expect(error?.code == .declined, "\(String(describing: error))")
      for socket in crowd { close(socket) }
    }
  }

  @Test("endless pings whose answers are not read end the link, while little is kept")
  func pings() async throws {
    try await Host.run { host in
      try await blocking {
        let raw = try RawLink(to: host.address)
        // Little room for answers here.
        var size: Int32 = 4096
        setsockopt(raw.socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        try raw.join()
        let many = [UInt8]((0..<1000).flatMap { _ in FrameEncoder.encode(.ping(1 << 40)) })
        var count = 0
        // They would ask for at least 100 MB of answers.
        while count < 10_000, (try? raw.write(many)) != nil { count += 1 }
        #expect(count < 10_000)
      }
      let error = await host.departures.first()
      #expect(error?.code == .limitExceeded && error?.blame == .peer, "\(String(describing: error))")
      try await host.servesAnHonestPeer()
    }
  }

  @Test("2,000 connections that never speak keep no peer out, and leave nothing")
  func silentCrowd() async throws {
    try await inOwnProcess {
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let before = descriptorCount()
      try await Host.run { host in
        let port = host.address
        let crowd = try await blocking { try (0..<2000).map { _ in try RawLink.connect(to: port) } }
        try await host.servesAnHonestPeer()
        // A few of the silent ones are kept; the others the host has closed.
        for socket in crowd { close(socket) }
      }
      try #require(residentBytes() < 256 << 20)
      try expectNothingLeft(since: before)
    }
  }
}
