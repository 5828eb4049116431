import Foundation
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

@Suite("Nodes of one host", .timeLimit(.minutes(15)))
struct NodeHostTests {
  /// A hidden node, in a session of its own.
  private func configuration(_ name: String, session: String = "test") -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: session, name: name)
    configuration.listen = "127.0.0.1:0"
    configuration.discovers = false
    configuration.transports = [.tcp]
    return configuration
  }

  @Test("have one identity, each its own incarnation, and are members of one another like strangers")
  func siblings() async throws {
    try await NodeHost.run { host in
      let (server, client) = (try await host.node(configuration("A")), try await host.node(configuration("B")))
      #expect(server.id.peer == host.fingerprint && client.id.peer == host.fingerprint && server.id != client.id)
      try await server.setAvailable(true)
      let address = try #require(await server.listeningAddresses.first).text
      async let accepted = server.invitations.first()?.accept()
      let member = try await client.invite(at: address)
      let onServer = try #require(try await accepted)
      try await member.send([1, 2, 3])
      #expect(await server.session.messages.first()?.bytes == [1, 2, 3])
      #expect(onServer.proven.known == nil && member.id == server.id)
    }
  }

  @Test("are refused if their settings of the device are not the host's, and the error names the difference")
  func contradictions() async throws {
    try await NodeHost.run { host in
      var wrong = configuration("A")
      wrong.identity = .directory("/nowhere")
      wrong.bluetooth.requiresPairing = true
      wrong.interfaces = ["lo"]
      let error = await failure { try await host.node(wrong) }
      #expect(error?.code == .invalidArgument)
      #expect(error?.detail.contains("identity, interfaces, bluetooth") == true, "\(String(describing: error))")

      var same = configuration("A")
      same.identity = .ephemeral
      same.interfaces = nil
      same.bluetooth = BluetoothSettings()
      try await host.node(same).stop()
    }
  }

  @Test("have what the host has settled where they say nothing of it")
  func settled() async throws {
    let folder = try TemporaryFolder()
    var settings = NodeHostConfiguration()
    settings.identity = .directory(folder.path + "/state")
    settings.interfaces = ["lo"]
    try await NodeHost.run(settings) { host in
      // What it needs is an identity that is kept.
      var hidden = configuration("A")
      hidden.visibility = .knownPeers
      let node = try await host.node(hidden)
      #expect(try node.id.peer == settings.identity.fingerprint())
      #expect(node.core.configuration.interfaces == ["lo"])
    }
  }

  @Test("a wrong setting of the host is refused when it starts, one of a node when that starts: the host goes on")
  func wrongSettings() async throws {
    var settings = NodeHostConfiguration()
    settings.bluetooth.adapter = "wlan0"
    #if Bluetooth
      #expect(await failure { try await NodeHost(settings) }?.code == .invalidArgument)
    #endif
    try await NodeHost.run { host in
      #expect(await failure { try await host.node(configuration("")) }?.code == .invalidArgument)
      var unwritable = configuration("A")
      unwritable.trace = TraceSettings(path: "/nowhere/trace")
      #expect(await failure { try await host.node(unwritable) }?.code == .invalidArgument)
      let name = try await host.run(configuration("A")) { node in node.name }
      #expect(name == "A")
    }
  }

  @Test("a host that stops stops all its nodes, and takes no other; a second call waits for the first")
  func stop() async throws {
    let host = try await NodeHost()
    let nodes = [try await host.node(configuration("A")), try await host.node(configuration("B"))]
    async let first: Void = host.stop()
    async let second: Void = host.stop()
    async let late = failure { try await host.node(configuration("C")) }
    _ = await (first, second)
    #expect(nodes.allSatisfy { $0.core.isClosed })
    let error = await late
    #expect(error == nil || error?.code == .shuttingDown, "\(String(describing: error))")
    #expect(await failure { try await host.node(configuration("D")) }?.code == .shuttingDown)
  }

  @Test("a node that is stopped leaves the others and the host alone; a host that is dropped ends with its last node")
  func ends() async throws {
    try await inOwnProcess {
      let test = NodeHostTests()
      let before = descriptorCount()
      var host: NodeHost? = try await NodeHost()
      let first = try #require(try await host?.node(test.configuration("A")))
      let second = try #require(try await host?.node(test.configuration("B")))
      try await second.setAvailable(true)
      await first.stop()
      try #require(nodeThreadCount() == 2)
      let third = try #require(try await host?.node(test.configuration("C")))
      let address = try #require(await second.listeningAddresses.first).text
      host = nil
      async let accepted = second.invitations.first()?.accept()
      _ = try await third.invite(at: address)
      try #require(try await accepted != nil)
      await second.stop()
      try #require(nodeThreadCount() == 2)
      await third.stop()
      try expectNothingLeft(since: before)

      host = try await NodeHost()
      host = nil
      while nodeThreadCount() > 0 { await Task.yield() }
      try expectNothingLeft(since: before)
    }
  }
}
