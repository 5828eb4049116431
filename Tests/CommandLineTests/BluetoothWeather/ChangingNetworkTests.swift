import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite(
  "One imagerecv while networks and adapters come and go", .serialized,
  .machine("--adapters 2", long: true))
struct ChangingNetworkTests {
  /// A network within this machine: what is sent to its address stays here.
  private static let network = "photos0"

  private func network(_ state: String) async throws {
    let result = try await VirtualMachine.shell(
      "ip link set lo \(state) && ip link set \(Self.network) \(state)")
    try #require(result.status == 0, "\(result.output)")
  }

  private func send(_ name: String, _ scene: WeatherScene) async throws -> String? {
    let photo = try scene.scene.photo(name)
    // Neither side is given a transport. Only the adapters have to be told apart, since they are in one machine.
    let sender = try scene.scene.start(
      "imagesend", ["--json", "--to", "Kitchen", "--adapter", WeatherScene.near, photo], state: "sender",
      isLoopbackOnly: false, isOrdinary: true)
    #expect(await sender.end() == 0, "\(sender.error)")
    #expect(try scene.scene.isSame(photo, scene.scene.into + "/" + name))
    return sender.events("connected").first?["transport"] as? String
  }

  @Test("takes a photo over TCP, over Bluetooth when the network is down, and over TCP when Bluetooth is off")
  func transportsTakeTurns() async throws {
    try await WeatherScene.run { scene in
      let added = try await VirtualMachine.shell(
        """
        ip link add \(Self.network) type dummy && ip addr add 192.0.2.1/24 dev \(Self.network) &&
        ip link set \(Self.network) up multicast on
        """)
      try #require(added.status == 0, "\(added.output)")
      do {
        try await takeTurns(scene)
      } catch {
        try await VirtualMachine.shell("ip link del \(Self.network)")
        throw error
      }
      try await VirtualMachine.shell("ip link del \(Self.network)")
    }
  }

  private func takeTurns(_ scene: WeatherScene) async throws {
    let receiver = try scene.scene.start(
      "imagerecv",
      [
        "--json", "--name", "Kitchen", "--directory", scene.scene.into, "--accept", "all", "--adapter",
        WeatherScene.far,
      ], state: "Kitchen", isLoopbackOnly: false, isOrdinary: true)
    try #require(await receiver.shows("\"listening\""), "\(receiver.error)")
    let key = try #require(receiver.fingerprint)
    try await scene.scene.trust("add", "Kitchen", key, state: "sender", isOrdinary: true)
    #expect(try await send("1.jpg", scene) == "tcp")
    try await network("down")
    let second = try await send("2.jpg", scene)
    #expect(second == "l2cap" || second == "rfcomm", "\(String(describing: second))")
    try await network("up")
    for adapter in [WeatherScene.near, WeatherScene.far] { try await Weather.off.begin(at: adapter) }
    #expect(try await send("3.jpg", scene) == "tcp")
    #expect(scene.stored == ["1.jpg", "2.jpg", "3.jpg"])
    #expect(receiver.isRunning && receiver.events("failed").isEmpty, "\(receiver.error)")
    #expect(receiver.events("connected").map { $0["transport"] as? String } == ["tcp", second, "tcp"])
  }
}
