import Glibc
import PiconetBlueZ
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import PiconetWire
import Synchronization

@testable import PiconetBluetooth

/// The discovery of one node on one adapter, as a test sees it.
final class BlueZBench: @unchecked Sendable {
  // Sendable is right: the discovery is touched on the loop only; the rest is constant or in the mutex.
  static let adapters: [String] =
    getenv("PICONET_ADAPTERS").map { String(cString: $0).split(separator: ",").map(String.init) } ?? []

  let loop: EventLoop
  private let worker: WorkerThread
  private var discovery: BlueZDiscovery?
  private let reports = Mutex<[DiscoveryReport]>([])

  /// - Parameter readsEveryWay: reads records in every way, as nodes do, not by SDP alone.
  init(
    adapter: String, readsEveryWay: Bool = false, change: (inout BlueZSettings) -> Void = { _ in }
  ) async throws {
    loop = try EventLoop(name: "bluez-test")
    worker = try WorkerThread(name: "sdp-test")
    var settings = BlueZSettings()
    settings.adapter = .named(adapter)
    change(&settings)
    let options = BlueZDiscovery.Options(settings: settings)
    await loop.perform { [self] in
      let discovery = BlueZDiscovery(loop: loop, options: options) { [loop, worker] address, pause in
        if readsEveryWay { return DeviceRecordReader(loop: loop, adapter: address, sessionID: nil, pause: pause) }
        return DirectRecordReader(loop: loop, adapter: address, worker: worker)
      }
      discovery.setHandler { [weak self] report in self?.reports.withLock { $0.append(report) } }
      self.discovery = discovery
    }
  }

  func on<Value: Sendable>(_ body: @escaping @Sendable (BlueZDiscovery) -> Value) async -> Value? {
    await loop.perform { [self] in discovery.map(body) }
  }

  static func peer(_ number: UInt8) -> PeerID? { PeerID(bytes: [UInt8](repeating: number, count: 32)) }

  func advertise(
    _ number: UInt8, incarnation: UInt64 = 1, name: String = "node", sessionID: String = "bench", lePSM: UInt16 = 0x81
  ) async {
    guard let peer = Self.peer(number) else { return }
    let advertisement = NodeAdvertisement(
      peer: peer, incarnation: Incarnation(rawValue: incarnation), name: name, info: ["seat": "\(number)"],
      sessionID: sessionID, ports: [.l2cap: 0x1005, .rfcomm: UInt16(number), .le: lePSM])
    _ = await on { $0.advertise(advertisement) }
  }

  var seen: [Sighting] {
    reports.withLock { $0.compactMap { if case .seen(let sighting) = $0 { sighting } else { nil } } }
  }

  var gone: [Incarnation] {
    reports.withLock { $0.compactMap { if case .gone(_, let incarnation) = $0 { incarnation } else { nil } } }
  }

  /// Waits until `condition` holds; false if it does not within the limit.
  func wait(
    _ limit: Duration = .seconds(20), for condition: @escaping @Sendable (BlueZBench) async -> Bool
  ) async -> Bool {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while clock.now < end {
      if await condition(self) { return true }
      try? await clock.sleep(for: .milliseconds(20))
    }
    return await condition(self)
  }

  func shutDown() async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      loop.execute { [self] in
        guard let discovery else { return done.resume() }
        discovery.shutDown { done.resume() }
        self.discovery = nil
      }
    }
  }

  /// Ends as if the program were killed: the connection ends without a goodbye.
  func kill() async {
    await loop.perform { [self] in
      discovery?.close()
      discovery = nil
    }
  }

  func stop() {
    worker.stop()
    loop.stop()
  }

  func status() async -> BlueZStatus {
    await withCheckedContinuation { done in
      loop.execute { [loop] in BlueZStatus.read(loop: loop) { done.resume(returning: $0) } }
    }
  }

  func adapter(_ name: String) async -> BlueZAdapter? {
    await status().adapters.first { $0.kernelName == name }
  }

  /// Runs a command of the machine, and gives its exit status.
  static func run(_ command: String) -> Int32 {
    var process: pid_t = 0
    let words = ["/bin/sh", "-c", command]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    guard posix_spawn(&process, "/bin/sh", nil, nil, &arguments, environ) == 0 else { return -1 }
    var status: Int32 = 0
    waitpid(process, &status, 0)
    return status >> 8 & 0xFF
  }
}
