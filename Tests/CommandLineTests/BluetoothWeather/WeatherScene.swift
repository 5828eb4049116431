import Foundation
import Testing

@testable import PiconetCommandLine

/// A scene between two adapters of the virtual machine: imagerecv on the second one, imagesend on the first. When the test is over,
/// the weather is good and nothing is left: no process, no partial file, no registration, every adapter as it was.
struct WeatherScene: Sendable {
  let scene: ToolScene
  static let near = VirtualMachine.adapters.first ?? ""
  static let far = VirtualMachine.adapters.dropFirst().first ?? ""

  static func run(_ body: (WeatherScene) async throws -> Void) async throws {
    try VirtualMachine.clear()
    let before = try VirtualMachine.adapters.map { try VirtualMachine.state($0) }
    try await ToolScene.run { scene in
      do {
        try await body(WeatherScene(scene: scene))
        try VirtualMachine.clear()
        await scene.endAll()
      } catch {
        try VirtualMachine.clear()
        await scene.endAll()
        throw error
      }
    }
    for (adapter, old) in zip(VirtualMachine.adapters, before) {
      var new = try VirtualMachine.state(adapter)
      // What a program has asked for at its end may still be on its way.
      for _ in 0..<10 where new != old {
        try VirtualMachine.shell("sleep 0.3")
        new = try VirtualMachine.state(adapter)
      }
      #expect(new == old, "\(adapter) is not as it was")
    }
  }

  /// Listens on the second adapter.
  func receiver(
    _ arguments: String..., name: String = "Kitchen", transport: String = "bluetooth", adapter: String = far,
    into: String? = nil
  ) async throws -> ToolProcess {
    let receiver = try scene.start(
      "imagerecv",
      [
        "--json", "--name", name, "--directory", into ?? scene.into, "--accept", "all", "--transport", transport,
        "--adapter", adapter,
      ] + arguments, state: name)
    try #require(await receiver.shows("\"listening\""), "\(receiver.error)")
    return receiver
  }

  /// Sends from the first adapter.
  func sender(_ arguments: String..., transport: String = "bluetooth", adapter: String = near) throws -> ToolProcess {
    try scene.start(
      "imagesend", ["--json", "--transport", transport, "--adapter", adapter] + arguments, state: "sender")
  }

  /// Sends one photo to a receiver that is found by its name, and looks whether it has come.
  func sendsWell(_ photo: String, to name: String = "Kitchen", into: String? = nil) async throws {
    let path = try scene.photo(photo)
    let sender = try sender("--to", name, path)
    #expect(await sender.end() == 0, "\(sender.error)")
    #expect(try scene.isSame(path, (into ?? scene.into) + "/" + photo))
  }

  /// Names of all that is stored, hidden names too.
  var stored: [String] { (try? scene.received()) ?? ["(can't be read)"] }

  /// The message of the first failure that was told as an event, with its reason.
  static func failure(_ process: ToolProcess) -> (reason: String, message: String)? {
    guard let event = process.events("failed").first else { return nil }
    return (event["reason"] as? String ?? "", event["message"] as? String ?? "")
  }
}

/// What befalls an adapter.
enum Weather: String, Sendable, CaseIterable, CustomStringConvertible {
  /// Switched off as by a laptop's switch.
  case off
  /// Unplugged.
  case gone
  /// Carried away, without a word.
  case mute

  var description: String { rawValue }

  func begin(at adapter: String) throws {
    let number = adapter.dropFirst(3)
    switch self {
    case .off: try VirtualMachine.fault("off \(number)")
    case .gone: try VirtualMachine.fault("gone \(number)")
    case .mute:
      for other in VirtualMachine.adapters where other != adapter {
        try VirtualMachine.fault("mute \(number) \(other.dropFirst(3))")
      }
    }
  }
}
