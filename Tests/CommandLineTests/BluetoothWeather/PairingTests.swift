import Foundation
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

/// Nodes that ask BlueZ for pairing, which TLS does not need.
@Suite(
  "Nodes that require pairing", .serialized, .machine("--adapters 2", long: true))
struct PairingTests {
  private func configuration(_ scene: WeatherScene, _ name: String, _ adapter: String, _ kind: TransportKind)
    -> NodeConfiguration
  {
    var configuration = NodeConfiguration(sessionID: scene.scene.session, name: name)
    configuration.transports = [kind]
    configuration.bluetooth.adapter = adapter
    configuration.bluetooth.finder = .daemon
    configuration.bluetooth.requiresPairing = true
    return configuration
  }

  @Test(
    "adapters that have never met pair without a question, and a message goes over the encrypted link",
    arguments: [TransportKind.l2cap, .rfcomm])
  func message(kind: TransportKind) async throws {
    try await WeatherScene.run { scene in
      try await VirtualMachine.forgetDevices()
      var waiting = configuration(scene, "Waiting", WeatherScene.far, kind)
      waiting.mode = .server
      var greeter = configuration(scene, "Greeter", WeatherScene.near, kind)
      greeter.mode = .client
      try await Node.run(waiting) { server in
        try await server.setAvailable(true)
        let accepting = Task { for await invitation in server.invitations { _ = try? await invitation.accept() } }
        defer { accepting.cancel() }
        try await Node.run(greeter) { client in
          try await client.setAvailable(true)
          let peer: Peer? = await limited(to: .seconds(60)) {
            for await peers in client.peers { if let peer = peers.first { return peer } }
            return nil
          }
          let member = try await client.invite(try #require(peer), timeout: .seconds(30))
          #expect(member.proven.transport == kind)
          try await member.send("hello".utf8)
          let heard: String? = await limited(to: .seconds(20)) {
            for await message in server.session.messages { return String(decoding: message.bytes, as: UTF8.self) }
            return nil
          }
          #expect(heard == "hello")
          let links = try await VirtualMachine.shell(
            "hcitool -i \(WeatherScene.near) con; hcitool -i \(WeatherScene.far) con")
          #expect(
            links.output.split(separator: "\n").count { $0.contains("ACL") && $0.contains("ENCRYPT") } == 2,
            "\(links.output)")
          await member.disconnect()
        }
      }
    }
  }
}
