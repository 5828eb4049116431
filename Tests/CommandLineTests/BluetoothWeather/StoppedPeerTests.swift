import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

/// A program that is stopped keeps its channels open, and neither bluetoothd nor the kernel sees anything wrong: only
/// our own pings notice.
@Suite(
  "imagesend and imagerecv when the other one stands still", .serialized,
  .machine("--adapters 2", long: true))
struct StoppedPeerTests {
  /// How long the programs may take beyond the disconnect timeout.
  private static let slack = Duration.seconds(1)

  private func midPhoto(
    _ timeout: Int, stored: [String] = [],
    _ body: (WeatherScene, _ sender: ToolProcess, _ receiver: ToolProcess) async throws -> Void
  ) async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver()
      try Air.make("rate 100000")
      // Of a file of at most 1 MiB nothing is kept, however much has come by then.
      let sender = try scene.sender(
        "--to", "Kitchen", "--timeout", "\(timeout)", try scene.scene.photo("a.jpg", size: 1_000_000))
      #expect(await receiver.shows("\"progress\""), "\(sender.error)")
      try await body(scene, sender, receiver)
      #expect(scene.stored == stored)
      try Air.make("rate 0")
      try await scene.sendsWell("next.jpg")
      #expect(scene.stored == stored + ["next.jpg"])
    }
  }

  /// Stops one program, and measures how long the other one takes to tell its failure.
  private func noticed(_ stopped: ToolProcess, by other: ToolProcess) async -> Duration {
    let start = ContinuousClock.now
    stopped.send(signal: SIGSTOP)
    #expect(await other.shows("\"failed\""), "\(other.error)")
    let time = ContinuousClock.now - start
    #expect(
      WeatherScene.failure(other).map { ["timed-out", "link-failed"].contains($0.reason) } == true, "\(other.output)")
    return time
  }

  @Test("a receiver that is stopped in mid-photo ends the sender with 5, which looks for it as long as it has waited")
  func receiverStopped() async throws {
    let timeout = 10
    try await midPhoto(timeout) { _, sender, receiver in
      let time = await noticed(receiver, by: sender)
      print(
        "a stopped receiver was noticed after \(time), the timeout is \(timeout) s: \(WeatherScene.failure(sender)?.message ?? "")"
      )
      // The last attempt to connect begins a second after the first timeout, and has as long.
      let limit = Duration.seconds(2 * timeout + 2)
      #expect(time <= limit)
      #expect(await sender.end() == 5, "\(sender.error)")
      receiver.send(signal: SIGCONT)
      #expect(await receiver.shows("\"failed\""), "\(receiver.error)")
    }
  }

  @Test("a sender that is stopped in mid-photo is given up by the receiver in 21 s, and sends it anew when it goes on")
  func senderStopped() async throws {
    try await midPhoto(60, stored: ["a.jpg"]) { _, sender, receiver in
      let time = await noticed(sender, by: receiver)
      print(
        "a stopped sender was noticed after \(time), the timeout is 20 s: \(WeatherScene.failure(receiver)?.message ?? "")"
      )
      #expect(time <= .seconds(20) + Self.slack)
      sender.send(signal: SIGCONT)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.error.contains("Kitchen is there: going on"), "\(sender.error)")
    }
  }
}
