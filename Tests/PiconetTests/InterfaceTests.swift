import Foundation
import Piconet
import Testing

@Suite("The interface, as a program uses it", .timeLimit(.minutes(15)))
struct InterfaceTests {
  @Test("`catch PiconetError.declined` catches that code and no other, typed or not")
  func catching() async throws {
    func caught(_ code: PiconetError.Code) -> String {
      do throws(PiconetError) {
        throw PiconetError(code, blame: .peer)
      } catch PiconetError.declined {
        return "declined"
      } catch PiconetError.full, PiconetError.timedOut {
        return "full or late"
      } catch {
        return error.code.rawValue
      }
    }
    #expect(caught(.declined) == "declined" && caught(.full) == "full or late" && caught(.left) == "left")
    #expect(caught(PiconetError.notWanted) == "notWanted")
    do {
      throw CancellationError()
    } catch PiconetError.declined {
      Issue.record("an error of somebody else's has no code")
    } catch is CancellationError {}
    try await NodePair.run { pair in
      let declining = Task { await pair.server.invitations.first()?.decline() }
      do {
        _ = try await pair.client.invite(at: pair.address())
        Issue.record("it was declined")
      } catch PiconetError.declined {}
      await declining.value
    }
  }

  @Test("a peer in sight is found by its id, and nothing by another one")
  func peerByID() async throws {
    let session = UUID().uuidString
    func seeing(_ configuration: inout NodeConfiguration) {
      configuration.sessionID = session
      configuration.interfaces = ["lo"]
      configuration.discovers = true
    }
    try await NodePair.run(server: seeing, client: seeing) { pair in
      try await pair.client.setAvailable(true)
      for await peers in pair.client.peers where !peers.isEmpty {
        #expect(pair.client.peer(peers[0].id) == peers[0])
        break
      }
      #expect(pair.client.peer(pair.client.id) == nil)
    }
  }

  @Test("ids have a text form that is read back, and go through JSON")
  func ids() throws {
    let peer = try #require(PeerID(hexadecimal: String(repeating: "0f", count: 32)))
    let node = NodeID(peer: peer, incarnation: Incarnation(rawValue: 0xAB))
    #expect(node.text == String(repeating: "0f", count: 32) + "/00000000000000ab")
    #expect(NodeID(text: node.text) == node && NodeID(text: node.text.uppercased()) == node)
    for text in [
      "", "/", "\(peer)", "\(peer)/", "\(peer)/ab", "\(peer)/+0000000000000ab", "\(peer)/00000000000000ab/",
      node.description,
    ] {
      #expect(NodeID(text: text) == nil, "\(text)")
    }
    let json = try JSONEncoder().encode(["a": node])
    #expect(try JSONDecoder().decode([String: NodeID].self, from: json) == ["a": node])
    #expect(try JSONDecoder().decode([PeerID].self, from: JSONEncoder().encode([peer])) == [peer])
    for text in [#"["0f"]"#, "[1]"] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode([NodeID].self, from: Data(text.utf8)) }
      #expect(throws: DecodingError.self) { try JSONDecoder().decode([PeerID].self, from: Data(text.utf8)) }
    }
  }

  @Test("a message's text is its bytes as UTF-8, with a replacement character for invalid ones")
  func text() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      try await onClient.send("Grüße, \u{1F44B}".utf8)
      try await onClient.send([0x61, 0xFF, 0x62])
      try await onClient.send([])
      var texts: [String] = []
      for await message in pair.server.session.messages.prefix(3) { texts.append(message.text) }
      #expect(texts == ["Grüße, \u{1F44B}", "a\u{FFFD}b", ""])
    }
  }

  @Test("`trySend` sends what there is room for, never waits, and says why a member that has left takes nothing")
  func trySend() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      #expect(
        await failure { _ = try onClient.trySend([UInt8](repeating: 0, count: 100 << 20)) }?.code == .messageTooLarge)
      let message = [UInt8](repeating: 7, count: 60_000)
      var count = 0
      // The peer reads nothing: its window and ours fill up.
      while try onClient.trySend(message) { count += 1 }
      #expect(count > 10 && count < 100)
      for try await message in pair.server.session.messages.prefix(count) { #expect(message.bytes.count == 60_000) }
      await onClient.disconnect()
      #expect(await failure { _ = try onClient.trySend([1]) }?.code == .left)
    }
  }

  @Test("`trySend` to several sends to all of them or, where one has no room or has left, to none")
  func trySendToSeveral() async throws {
    try await NodePair.run(client: { $0.listen = "127.0.0.1:0" }) { pair in
      let (onClient, _) = try await pair.connect()
      var other = NodeConfiguration(sessionID: "test", name: "Other")
      other.discovers = false
      other.mode = .client
      try await Node.run(other) { other in
        // The client hides: it expects the one that is to join it.
        try await pair.client.expect(other.id.peer, for: .seconds(60))
        let address = try #require(await pair.client.listeningAddresses.first)
        async let accepted: Member? = {
          for await invitation in pair.client.invitations { return try await invitation.accept() }
          return nil
        }()
        _ = try await other.invite(at: [address])
        let second = try #require(try await accepted)
        let session = pair.client.session
        // The server's program reads nothing. A message that lacks room there does not go to the other member either.
        let message = [UInt8](repeating: 7, count: 60_000)
        var count = 0
        while try session.trySend(message, to: [second, onClient]) { count += 1 }
        #expect(count > 10 && count < 100)
        #expect(try second.trySend([1]))
        for try await message in other.session.messages.prefix(count) { #expect(message.bytes.count == 60_000) }
        for try await message in other.session.messages.prefix(1) { #expect(message.bytes == [1]) }
        await onClient.disconnect()
        #expect(await failure { _ = try session.trySend([2], to: [second, onClient]) }?.code == .left)
        #expect(try session.trySend([3], to: [second]))
        // A member that has left no longer counts as one of all, and a channel has room of its own.
        #expect(try session.trySend("4".utf8) && session.trySend([5], in: 7))
        #expect(try session.trySend([6], to: [second], in: 8))
        var came: [MessageChannel: [UInt8]] = [:]
        for try await message in other.session.messages.prefix(4) {
          came[message.channel, default: []] += message.bytes
        }
        #expect(came == [0: [3, 0x34], 7: [5], 8: [6]])
      }
    }
  }

  @Test("an invitation to an address goes over the transports that it names; where none leads there, that is the rule")
  func transportsOfAddress() async throws {
    try await NodePair.run(client: { $0.transports = [.tcp, .relay] }) { pair in
      let address = try await pair.address()
      async let accepted = pair.server.invitations.first()?.accept()
      let member = try await pair.client.invite(at: address, transports: [.tcp])
      _ = try #require(try await accepted)
      #expect("\(member)" == "\(member.name) (\(member.id))" && "\(member.proven)" == "\(member)")
      let elsewhere: [(String, Set<TransportKind>)] = [(address, [.relay]), ("00:11:22:33:44:55", [.tcp])]
      for (address, transports) in elsewhere {
        let refusal = await failure { _ = try await pair.client.invite(at: address, transports: transports) }
        #expect(refusal?.code == .invalidArgument)
        #expect(refusal?.detail.contains("which the transports of this invitation leave out") == true)
      }
      let none = await failure { _ = try await pair.client.invite(at: address, transports: [.le]) }
      #expect(none?.detail == "none of the transports is one of the node's: le")
    }
  }

  @Test("a peer is found by its name; one that does not come is said to be late, and a stop says that it is one")
  func firstPeer() async throws {
    var configuration = NodeConfiguration(sessionID: "test", name: "Ann")
    configuration.discovers = false
    try await Node.run(configuration) { node in
      #expect(
        await failure { _ = try await node.firstPeer(named: "Ben", timeout: .milliseconds(1)) }?.code == .timedOut)
      let cancelled = Task { await failure { _ = try await node.firstPeer(named: "Ben") } }
      cancelled.cancel()
      #expect(await cancelled.value?.code == .cancelled)
      let stopped = Task { await failure { _ = try await node.firstPeer(named: "Ben") } }
      await node.stop()
      #expect(await stopped.value?.code == .shuttingDown)
    }
  }

  @Test("a run whose body throws nothing but `PiconetError` throws nothing else, and stops its node")
  func typedRun() async {
    var configuration = NodeConfiguration(sessionID: "test", name: "Ann")
    configuration.discovers = false
    var stopped: Node?
    do throws(PiconetError) {
      try await Node.run(configuration) { node throws(PiconetError) in
        stopped = node
        _ = try await node.invite(at: "127.0.0.1:1")
      }
      Issue.record("nobody is there")
    } catch {
      #expect(error.code == .unreachable)
    }
    #expect(await failure { try await stopped?.setAvailable(true) }?.code == .shuttingDown)
    configuration.sessionID = ""
    let refused: PiconetError.Code?
    do throws(PiconetError) {
      try await Node.run(configuration) { _ throws(PiconetError) in }
      refused = nil
    } catch {
      refused = error.code
    }
    #expect(refused == .invalidArgument)
  }
}
