import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

/// What befalls an adapter in each part of a photo's way: both programs end what they were doing with a reason and in
/// time, nothing half is left, and the receiver takes the next photo once the adapter is back.
/// time, nothing half is left, and the receiver takes the next photo when the adapter is back.
@Suite(
  "imagesend and imagerecv when an adapter is switched off, unplugged or carried away", .serialized,
  .machine("--adapters 2", alone: true, long: true))
struct AdapterWeatherTests {
  /// How long a sender waits for an answer, or for anything to move; and the time within which it must then have ended.
  private static let timeout = "8"
  private static let limit = Duration.seconds(40)

  /// The receiver's address over L2CAP, and its number.
  private func place(_ receiver: ToolProcess) throws -> (text: String, number: Int) {
    let addresses = try #require(receiver.events("listening").first?["addresses"] as? [String])
    let text = try #require(addresses.first { $0.contains("/0x") })
    return (text, try #require(Int(text.suffix(4), radix: 16)))
  }

  private func expectEnd(
    _ sender: ToolProcess, _ codes: Set<Int32>, _ reasons: Set<String>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let status = await sender.end(within: Self.limit)
    #expect(
      status.map(codes.contains) == true, "\(String(describing: status)) \(sender.error)",
      sourceLocation: sourceLocation)
    let failure = WeatherScene.failure(sender)
    #expect(failure.map { reasons.contains($0.reason) } == true, "\(sender.output)", sourceLocation: sourceLocation)
    #expect(failure?.message.isEmpty == false, sourceLocation: sourceLocation)
    #expect(
      sender.events("finished").first?["exitCode"] as? Int == status.map(Int.init), sourceLocation: sourceLocation)
  }

  private func expectNextPhoto(_ scene: WeatherScene, _ receiver: ToolProcess) async throws {
    try await scene.sendsWell("next.jpg")
    #expect(scene.stored == ["next.jpg"])
    #expect(receiver.isRunning)
  }

  @Test(
    "the receiver's adapter, before the search: the sender finds the receiver only once the adapter is back",
    arguments: Weather.allCases)
  func receiverInDiscovery(weather: Weather) async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver()
      try await weather.begin(at: WeatherScene.far)
      let sender = try scene.sender("--to", "Kitchen", "--timeout", Self.timeout, try scene.scene.photo("a.jpg"))
      await expectEnd(sender, [3], ["no-such-peer"])
      #expect(scene.stored == [])
      try await weather.end(at: WeatherScene.far)
      try await expectNextPhoto(scene, receiver)
    }
  }

  @Test("the sender's adapter, while it looks around: the search goes on when it is back", arguments: Weather.allCases)
  func senderInDiscovery(weather: Weather) async throws {
    try await WeatherScene.run { scene in
      let photo = try scene.scene.photo("a.jpg")
      // The sender must know the receiver's key, though it searches before the receiver starts.
      let key = try await scene.scene.fingerprint("Kitchen", isOrdinary: true)
      try await scene.scene.trust("add", "Kitchen", key, state: "sender", isOrdinary: true)
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "80", photo)
      try #require(await VirtualMachine.becomes(VirtualMachine.isDiscovering(WeatherScene.near)), "\(sender.error)")
      try await weather.begin(at: WeatherScene.near)
      _ = try await scene.receiver()
      try await weather.end(at: WeatherScene.near)
      #expect(await sender.end(within: .seconds(100)) == 0, "\(sender.error)")
      #expect(try scene.scene.isSame(photo, scene.scene.into + "/a.jpg"))
    }
  }

  @Test("the receiver's adapter, in dialling: the sender says that it gets no answer", arguments: Weather.allCases)
  func dialling(weather: Weather) async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver(transport: "l2cap")
      let place = try place(receiver)
      // Each of the ten packets that set up a channel takes so long.
      try await VirtualMachine.fault("delay 1000")
      let sender = try scene.sender(
        "--address", place.text, "--fingerprint", try #require(receiver.fingerprint), "--timeout",
        Self.timeout, try scene.scene.photo("a.jpg"), transport: "l2cap")
      #expect(await sender.shows("\"connecting\""), "\(sender.error)")
      try await weather.begin(at: WeatherScene.far)
      await expectEnd(sender, [3, 5], ["unreachable", "timed-out"])
      #expect(sender.events("connected").isEmpty)
      try await VirtualMachine.fault("delay 0")
      try await weather.end(at: WeatherScene.far)
      try await expectNextPhoto(scene, receiver)
    }
  }

  @Test(
    "the receiver's adapter, in the handshake: the sender says so, and the receiver holds no channel open",
    arguments: Weather.allCases)
  func handshake(weather: Weather) async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver(transport: "l2cap")
      let place = try place(receiver)
      // The 1,500 bytes of the handshake take many times as long as a channel.
      try await VirtualMachine.fault("rate 200")
      let sender = try scene.sender(
        "--address", place.text, "--fingerprint", try #require(receiver.fingerprint), "--timeout",
        Self.timeout, try scene.scene.photo("a.jpg"), transport: "l2cap")
      try #require(await VirtualMachine.becomes(VirtualMachine.channel(place.number)), "\(sender.error)")
      try await weather.begin(at: WeatherScene.far)
      await expectEnd(sender, [3, 5], ["unreachable", "timed-out"])
      #expect(sender.events("connected").isEmpty)
      try await VirtualMachine.fault("rate 0")
      #expect(try await VirtualMachine.becomes(within: 40, "! \(VirtualMachine.channel(place.number))"))
      try await weather.end(at: WeatherScene.far)
      try await expectNextPhoto(scene, receiver)
    }
  }

  @Test(
    "an adapter, in mid-photo: both sides say that the link is lost, and no half photo is left",
    arguments: Weather.allCases, Side.allCases)
  func midPhoto(weather: Weather, side: Side) async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver()
      // BlueZ's own patience must play no part in this.
      try await VirtualMachine.fault("supervision 0")
      try await VirtualMachine.fault("rate 100000")
      let sender = try scene.sender(
        "--to", "Kitchen", "--timeout", Self.timeout, try scene.scene.photo("a.jpg", size: 1_500_000))
      #expect(await receiver.shows("\"progress\""), "\(sender.error)")
      try await weather.begin(at: side.adapter)
      await expectEnd(sender, [5], ["link-failed", "timed-out"])
      #expect(await receiver.shows("\"failed\""), "\(receiver.error)")
      #expect(WeatherScene.failure(receiver).map { ["link-failed", "timed-out"].contains($0.reason) } == true)
      #expect(scene.stored == [])
      try await VirtualMachine.fault("rate 0")
      // What the adapters still hold of the link ends, as it would in time.
      try await VirtualMachine.fault("supervision 1000")
      try await weather.end(at: side.adapter)
      try await expectNextPhoto(scene, receiver)
    }
  }

  enum Side: String, CaseIterable, Sendable, CustomStringConvertible {
    case receiver, sender

    var adapter: String { self == .receiver ? WeatherScene.far : WeatherScene.near }
    var description: String { "at the \(rawValue)" }
  }
}
