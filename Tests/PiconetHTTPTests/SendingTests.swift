import Foundation
import Piconet
import PiconetHTTP
import Testing

@Suite("Sending a URL", .timeLimit(.minutes(15)))
struct SendingTests {
  /// Two nodes that are connected over 127.0.0.1, and a server.
  private func run(
    _ script: @escaping SmallServer.Script,
    _ body: (_ server: SmallServer, _ toReceiver: Member, _ receiver: Node) async throws -> Void
  ) async throws {
    let server = try SmallServer(script)
    defer { server.close() }
    try await Node.run(configuration("receiver", server)) { receiver in
      try await Node.run(configuration("sender", server)) { sender in
        try await body(server, try await connect(sender, to: receiver), receiver)
      }
    }
  }

  private func configuration(_ name: String, _ server: SmallServer) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: "urls-\(server.port)", name: name)
    configuration.transports = [.tcp]
    configuration.listen = "127.0.0.1:0"
    configuration.discovers = false
    return configuration
  }

  private func connect(_ sender: Node, to receiver: Node) async throws -> Member {
    try await receiver.setAvailable(true)
    async let accepted = first(receiver.invitations)?.accept()
    let member = try await sender.invite(at: receiver.listeningAddresses)
    _ = try await accepted
    return member
  }

  private func first<Sequence: AsyncSequence>(_ sequence: Sequence) async -> Sequence.Element?
  where Sequence.Failure == Never {
    for await element in sequence { return element }
    return nil
  }

  private func failure<Value>(_ body: () async throws -> Value) async -> PiconetError? {
    do {
      _ = try await body()
      return nil
    } catch { return error as? PiconetError }
  }

  private let body = String(repeating: "0123456789abcdef", count: 100_000)

  @Test("what a server gives arrives with its name, its media type and its bytes", arguments: [true, false])
  func whole(sizeIsKnown: Bool) async throws {
    let text = body
    let script: SmallServer.Script = { _, say, _ in
      let header = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n"
      if sizeIsKnown { return say("\(header)Content-Length: \(text.utf8.count)\r\n\r\n\(text)") }
      say("\(header)Transfer-Encoding: chunked\r\n\r\n\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n0\r\n\r\n")
    }
    try await run(script) { server, member, receiver in
      let sending = try await member.startSending(.url(server.address + "/photos/sun%20set.png?size=full"))
      let offer = try #require(await first(receiver.session.offers))
      #expect(offer.displayName == "sun set.png" && offer.mediaType == "image/png")
      let data = try await offer.read(upTo: UInt64(text.utf8.count))
      #expect(data.bytes == Array(text.utf8))
      #expect(try await sending.result.digest == data.digest)
    }
  }

  @Test("what has come is passed on while the rest is on its way")
  func arriving() async throws {
    let text = body
    let script: SmallServer.Script = { _, say, wait in
      say("HTTP/1.1 200 OK\r\nContent-Length: \(2 * text.utf8.count)\r\n\r\n\(text)")
      wait()
      say(text)
    }
    try await run(script) { server, member, receiver in
      let sending = try await member.startSending(.url(server.address + "/a"))
      let offer = try #require(await first(receiver.session.offers))
      let receiving = try await offer.startReading(upTo: .max)
      for await progress in receiving.changes where progress.stored > 500_000 { break }
      // Meanwhile the disk is free for others.
      async let other = first(receiver.session.offers)?.read(upTo: 10)
      _ = try await member.send(.bytes([1, 2], named: "other"))
      #expect(try await other?.bytes == [1, 2])
      server.open()
      #expect(try await receiving.result.bytes == Array((text + text).utf8))
      _ = try await sending.result
    }
  }

  @Test("a file for several members is fetched once, and goes on for the others when one of them gives it up")
  func toSeveral() async throws {
    let text = body
    let server = try SmallServer { _, say, wait in
      say("HTTP/1.1 200 OK\r\nContent-Length: \(2 * text.utf8.count)\r\n\r\n\(text)")
      wait()
      say(text)
    }
    defer { server.close() }
    try await Node.run(configuration("one", server)) { one in
      try await Node.run(configuration("two", server)) { two in
        try await Node.run(configuration("sender", server)) { sender in
          let members = [try await connect(sender, to: one), try await connect(sender, to: two)]
          let transfers = try await sender.session.startSending(.url(server.address + "/a"), to: members)
          let onTwo = try #require(await first(two.session.offers))
          await onTwo.decline()
          #expect(await failure { try await transfers[1].result }?.code == .declined)
          let onOne = try #require(await first(one.session.offers))
          let receiving = try await onOne.startReading(upTo: .max)
          for await progress in receiving.changes where progress.stored > 500_000 { break }
          server.open()
          #expect(try await receiving.result.bytes == Array((text + text).utf8))
          #expect(try await transfers[0].result.storedName.isEmpty)
          #expect(server.paths == ["/a"])
        }
      }
    }
  }

  @Test("a server that breaks off in the middle ends the transfer on both sides, and says why")
  func cutOff() async throws {
    let text = body
    let script: SmallServer.Script = { _, say, _ in
      say("HTTP/1.1 200 OK\r\nContent-Length: \(2 * text.utf8.count)\r\n\r\n\(text)")
    }
    try await run(script) { server, member, receiver in
      let sending = try await member.startSending(.url(server.address + "/a"))
      let offer = try #require(await first(receiver.session.offers))
      let error = await failure { try await offer.read(upTo: .max) }
      #expect(error?.code == .sourceUnreadable && error?.blame == .peer, "\(String(describing: error))")
      #expect(await failure { try await sending.result }?.code == .sourceUnreadable)
    }
  }

  @Test("what a receiver takes at most ends the fetch, and is named; so is the limit for what has no announced end")
  func limits() async throws {
    let script: SmallServer.Script = { path, say, _ in
      say("HTTP/1.1 200 OK\r\n")
      say(path == "/announced" ? "Content-Length: 1000000000000\r\n\r\n" : "Transfer-Encoding: chunked\r\n\r\n")
      for _ in 0..<2000 { say("400\r\n\(String(repeating: "x", count: 1024))\r\n") }
    }
    try await run(script) { server, member, receiver in
      let sending = try await member.startSending(.url(server.address + "/announced"))
      let offer = try #require(await first(receiver.session.offers))
      #expect(await failure { try await offer.read(upTo: 1234) }?.code == .tooLarge)
      let error = await failure { try await sending.result }
      #expect(
        error?.code == .tooLarge && error?.detail.contains("at most 1234") == true, "\(String(describing: error))")
      var settings = HTTPSettings()
      settings.unannouncedSizeLimit = 1_000_000
      let endless = await failure { try await member.send(.url(server.address + "/endless", settings: settings)) }
      #expect(endless?.code == .tooLarge && endless?.blame == .us, "\(String(describing: endless))")
      #expect(endless?.detail.contains("limit of 1000000 bytes") == true, "\(String(describing: endless))")
    }
  }

  @Test("a status, another scheme, and a path without a name are reported before anything is offered")
  func refused() async throws {
    try await run({ _, say, _ in say("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") }) { server, member, _ in
      let missing = await failure { try await member.send(.url(server.address + "/missing.png")) }
      #expect(missing?.code == .sourceUnreadable && missing?.detail.contains("404") == true)
      for url in [
        "file:///etc/passwd", server.address, server.address + "/", server.address + "/%2e%2e",
        server.address + "/a%2fb",
      ] {
        #expect(await failure { try await member.send(.url(url)) }?.code == .invalidArgument, "\(url)")
      }
    }
  }

  @Test("a cancelled task, or the node's end, ends a fetch that waits for its server")
  func ended() async throws {
    try await run({ _, _, wait in wait() }) { server, member, _ in
      let sending = Task { try await member.send(.url(server.address + "/a")) }
      while server.paths.isEmpty { await Task.yield() }
      sending.cancel()
      #expect(await failure { try await sending.value }?.code == .cancelled)
    }
    let script: SmallServer.Script = { _, say, wait in
      say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
      wait()
    }
    let waiting = try await withTransfer(script)
    #expect(await failure { try await waiting.result } != nil)
  }

  /// A transfer whose node has ended.
  private func withTransfer(_ script: @escaping SmallServer.Script) async throws -> OutgoingTransfer {
    var transfer: OutgoingTransfer?
    try await run(script) { server, member, receiver in
      transfer = try await member.startSending(.url(server.address + "/a"))
      let offer = try #require(await first(receiver.session.offers))
      _ = try await offer.startReading(upTo: 100)
    }
    return try #require(transfer)
  }
}
