import Foundation
import Testing

@testable import PiconetCommandLine

/// A scene between two adapters of the virtual machine: imagerecv on the second one, imagesend on the first. Both run
/// as an ordinary user, since what root may do without bluetoothd would hide what others can't. When the test is over,
/// the weather is good and nothing is left: no process, no partial file, no registration, every adapter as it was.
struct WeatherScene: Sendable {
  let scene: ToolScene
  static let near = VirtualMachine.adapters.first ?? ""
  static let far = VirtualMachine.adapters.dropFirst().first ?? ""

  static func run(
    _ controllers: VirtualMachine.Controllers = .classic, _ body: (WeatherScene) async throws -> Void
  ) async throws {
    try await VirtualMachine.clear()
    try await VirtualMachine.setControllers(controllers)
    let before = try await VirtualMachine.state()
    try await ToolScene.run { scene in
      do {
        try scene.openToAll()
        try await body(WeatherScene(scene: scene))
        try await VirtualMachine.clear()
        await scene.endAll()
      } catch {
        try await VirtualMachine.clear()
        await scene.endAll()
        throw error
      }
    }
    var after = try await VirtualMachine.state()
    // What a program asked for at its end may still be on its way.
    for _ in 0..<10 where after != before {
      try await VirtualMachine.shell("sleep 0.3")
      after = try await VirtualMachine.state()
    }
    #expect(after == before, "an adapter is not as it was")
  }

  /// A receiver on the second adapter, which `sender` knows from then on.
  func receiver(
    _ arguments: String..., name: String = "Kitchen", transport: String = "bluetooth", adapter: String = far,
    into: String? = nil, isOrdinary: Bool = true
  ) async throws -> ToolProcess {
    let receiver = try scene.start(
      "imagerecv",
      [
        "--json", "--name", name, "--directory", into ?? scene.into, "--accept", "all", "--transport", transport,
        "--adapter", adapter,
      ] + arguments, state: name, isOrdinary: isOrdinary)
    try #require(await receiver.shows("\"listening\""), "\(receiver.error)")
    try await scene.trust("add", name, try #require(receiver.fingerprint), state: "sender", isOrdinary: true)
    return receiver
  }

  /// A sender on the first adapter.
  func sender(_ arguments: String..., transport: String = "bluetooth", adapter: String = near) throws -> ToolProcess {
    try scene.start(
      "imagesend", ["--json", "--transport", transport, "--adapter", adapter] + arguments, state: "sender",
      isOrdinary: true)
  }

  /// Sends one photo to a receiver that is found by its name, and checks that it has come.
  func sendsWell(_ photo: String, to name: String = "Kitchen", into: String? = nil) async throws {
    let path = try scene.photo(photo)
    let sender = try sender("--to", name, path)
    #expect(await sender.end() == 0, "\(sender.error)")
    #expect(try scene.isSame(path, (into ?? scene.into) + "/" + photo))
  }

  /// Names of all that is stored, hidden names too.
  var stored: [String] { (try? scene.received()) ?? ["(can't be read)"] }

  /// The message and the reason of the first failure that was told as an event.
  static func failure(_ process: ToolProcess) -> (reason: String, message: String)? {
    guard let event = process.events("failed").first else { return nil }
    return (event["reason"] as? String ?? "", event["message"] as? String ?? "")
  }
}
