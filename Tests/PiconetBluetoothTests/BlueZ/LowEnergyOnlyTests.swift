import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import TestSupport
import Testing

@testable import PiconetBlueZ
@testable import PiconetBluetooth

@Suite(
  "Finding nodes over LE alone", .serialized,
  .machine("--adapters 2", alone: true))
struct LowEnergyOnlyTests {
  static let first = BlueZBench.adapters.first ?? ""
  static let second = BlueZBench.adapters.dropFirst().first ?? ""

  static func number(_ name: String) throws -> UInt16 { try #require(UInt16(name.dropFirst(3))) }

  /// The kernel makes these changes only to an adapter that is off.
  private static func whileOff(_ adapter: UInt16, _ change: () throws -> Void) throws {
    try ManagementInterface.set(.powered, false, of: adapter)
    try change()
    try ManagementInterface.set(.powered, true, of: adapter)
  }

  /// One node that is advertised on the second adapter, and one that searches on the first. What it sees is dialled
  /// over LE.
  private static func found(within limit: Duration) async throws -> (sighting: Sighting, time: Duration) {
    let searching = try await BlueZBench(adapter: first, readsEveryWay: true)
    let told = try await BlueZBench(adapter: second)
    let listening = try await Listening.begin(on: told.loop, adapter: second)
    await told.advertise(2, lePSM: listening.port)
    let isTold = await told.wait { await $0.on { $0.isAdvertising && $0.recordPSM != nil } == true }
    let failures = await told.on { $0.failures }
    #expect(isTold, "\(failures ?? [])")
    let clock = ContinuousClock()
    let start = clock.now
    _ = await searching.on { $0.search(sessionID: "bench") }
    let isSeen = await searching.wait(limit) { !$0.seen.isEmpty }
    let time = clock.now - start
    let sighting = searching.seen.first
    if let place = sighting?.addresses.first(where: { $0.kind == .le }) {
      // Done as the engine does it when it dials.
      _ = await searching.on { $0.setRadioBusy(true) }
      let failure = await Listening.dial(place, from: first, on: searching.loop)
      #expect(failure == nil, "\(String(describing: failure))")
    }
    await listening.end()
    for bench in [searching, told] {
      await bench.shutDown()
      bench.stop()
    }
    #expect(isSeen)
    return (try #require(sighting), time)
  }

  /// A listener over LE, and a dial to it.
  struct Listening: Sendable {
    let loop: EventLoop
    let transport: LoopBox<BluetoothTransport>
    let port: UInt16

    static func make(_ adapter: String, _ loop: EventLoop) -> BluetoothTransport {
      var configuration = BluetoothTransportConfiguration()
      configuration.adapter = .named(adapter)
      return BluetoothTransport(.le, loop: loop, configuration: configuration)
    }

    static func begin(on loop: EventLoop, adapter: String) async throws -> Listening {
      let made = await loop.perform { () -> (LoopBox<BluetoothTransport>, UInt16?) in
        let transport = make(adapter, loop)
        try? transport.listen { $0.close(abort: true) }
        return (LoopBox(transport), transport.listeningPort)
      }
      return Listening(loop: loop, transport: made.0, port: try #require(made.1))
    }

    static func dial(_ place: TransportAddress, from adapter: String, on loop: EventLoop) async -> LinkFailure? {
      await withCheckedContinuation { done in
        loop.execute {
          let transport = make(adapter, loop)
          _ = transport.dial([place]) { result in
            transport.closeNow()
            switch result {
            case .success(let link):
              link.close(abort: true)
              done.resume(returning: nil)
            case .failure(let failure): done.resume(returning: failure)
            }
          }
        }
      }
    }

    func end() async { await loop.perform { transport.value.closeNow() } }
  }

  @Test("an adapter without BR/EDR is found, by its record over LE")
  func withoutClassic() async throws {
    let second = try Self.number(Self.second)
    try Self.whileOff(second) { try ManagementInterface.set(.classic, false, of: second) }
    defer { try? Self.whileOff(second) { try ManagementInterface.set(.classic, true, of: second) } }
    let (sighting, time) = try await Self.found(within: .seconds(30))
    print("an adapter of LE alone was found after", time)
    #expect(sighting.peer == BlueZBench.peer(2))
    #expect(sighting.info == ["seat": "2"])
    #expect(sighting.addresses.contains { $0.kind == .le })
  }

  @Test("an adapter that hides its address is found under the random one, and is to be dialled over LE there")
  func privateAddress() async throws {
    let second = try Self.number(Self.second)
    try Self.whileOff(second) {
      try ManagementInterface.setPrivacy(true, of: second)
      try ManagementInterface.set(.classic, false, of: second)
    }
    defer {
      try? Self.whileOff(second) {
        try ManagementInterface.setPrivacy(false, of: second)
        try ManagementInterface.set(.classic, true, of: second)
      }
    }
    let (sighting, time) = try await Self.found(within: .seconds(30))
    print("a random address was found after", time)
    #expect(sighting.peer == BlueZBench.peer(2))
    #expect(sighting.addresses.map(\.kind) == [.le])
    let place = try #require(sighting.addresses.first.flatMap { BluetoothPlace($0.text) })
    #expect(place.isRandom)
    #expect(0x80...0xFF ~= place.port ?? 0)
  }
}
