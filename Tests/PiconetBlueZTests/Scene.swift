import PiconetDBusValues
import PiconetEngine
import PiconetSDP
import PiconetWire

@testable import PiconetBlueZ

/// A machine, a daemon and a clock. Calls are answered in order; the test says when.
struct Scene {
  static let service = BluetoothUUID(high: 0x1111_2222_3333_5444, low: 0x8555_6666_7777_8888)
  static let sessionID = "photos"

  var machine: BlueZMachine
  let user: AdapterUser
  var daemon = Daemon()
  var now = Instant(nanoseconds: 1_000_000_000_000)
  var calls: [(id: BlueZCallID, call: BlueZCall)] = []
  var log: [String] = []
  var reads: [BlueZReadID: BluetoothPlace] = [:]
  var reports: [DiscoveryReport] = []
  var pauses: [Bool] = []
  /// The scans that other nodes are told of.
  var scans: [ScanWindow] = []
  /// What it shares with other nodes of its process.
  var shared = SharedAdapters()
  var ends = 0
  var mostCalls = 0
  var mostReads = 0
  var adapters: [BluetoothAddress?] = []
  /// What the advertisement object shows.
  var shown: [String: DBusValue] = [:]

  init(
    _ settings: BlueZSettings = BlueZSettings(), settling: Duration = .zero, user: AdapterUser? = nil
  ) {
    var settings = settings
    let only = shared.join()
    self.user = user ?? only
    settings.firstDelay = .zero
    settings.settling = settling
    machine = BlueZMachine(settings: settings, user: self.user)
  }

  static func peer(_ number: UInt8) -> PeerID {
    guard let peer = PeerID(bytes: [UInt8](repeating: number, count: 32)) else { preconditionFailure("32 bytes") }
    return peer
  }

  static func record(
    _ number: UInt8 = 1, incarnation: UInt64 = 7, sessionID: String = Scene.sessionID, adapter: BluetoothAddress? = nil
  ) -> NodeRecord {
    NodeRecord(
      peer: peer(number), incarnation: Incarnation(rawValue: incarnation), name: "node \(number)", sessionID: sessionID,
      adapter: adapter, l2capPSM: 0x1005, rfcommChannel: 5)
  }

  static let offer = BlueZOffer(service: service, record: record())
  static let search = BlueZSearch(service: service, sessionID: sessionID)

  mutating func tell(_ fact: BlueZFact) {
    for effect in machine.handle(fact, at: now, sharing: &shared) {
      switch effect {
      case .call(let id, let call):
        calls.append((id, call))
        let value = call.member == "Set" ? " \(call.arguments[1].text ?? "") \(call.arguments[2].plain)" : ""
        log.append(call.member + value)
      case .read(let id, _, let place): reads[id] = place
      case .cancelRead(let id): reads[id] = nil
      case .report(let report): reports.append(report)
      case .showAdvertisement(let properties): shown = properties
      case .scanPaused(let isPaused): pauses.append(isPaused)
      case .scans(let window): scans.append(window)
      case .adapter(_, let address): adapters.append(address)
      case .ended: ends += 1
      }
    }
    mostCalls = max(mostCalls, calls.count)
    mostReads = max(mostReads, reads.count)
  }

  /// The daemon answers the oldest call.
  mutating func answerOne() {
    guard !calls.isEmpty else { return }
    let (id, call) = calls.removeFirst()
    let (result, signals) = daemon.answer(call, at: now)
    tell(.replied(id, result))
    for signal in signals { tell(signal) }
  }

  mutating func answerAll() {
    for _ in 0..<100 where !calls.isEmpty { answerOne() }
  }

  /// Lets time pass, with every deadline met and every call answered.
  mutating func pass(_ duration: Duration) {
    let end = now + duration
    answerAll()
    for _ in 0..<10_000 {
      guard let next = machine.nextDeadline, next <= end else { break }
      now = max(now, next)
      for fact in daemon.expire(at: now) { tell(fact) }
      tell(.deadlineReached)
      answerAll()
    }
    now = end
    for fact in daemon.expire(at: now) { tell(fact) }
    answerAll()
  }

  static func device(_ number: Int) -> String { "\(Daemon.path)/dev_\(number)" }
  static func address(_ number: Int) -> BluetoothAddress { BluetoothAddress(rawValue: 0xBB_0000_0000 + UInt64(number)) }

  /// A scan hears a device with our service.
  mutating func hear(
    _ number: Int, name: String = "phone", strength: Int16? = -50, isPaired: Bool = false, isConnected: Bool = false,
    services: [String] = [Scene.service.description], isRandom: Bool = false
  ) {
    var properties: [String: DBusValue] = [
      "Address": .string(Self.address(number).description), "Alias": .string(name),
      "UUIDs": .strings(services), "Paired": .bool(isPaired), "Connected": .bool(isConnected),
      "AddressType": .string(isRandom ? "random" : "public"),
    ]
    if let strength { properties["RSSI"] = .int16(strength) }
    tell(.interfacesAdded(path: Self.device(number), [BlueZNames.deviceInterface: properties]))
  }

  /// What BlueZ does at the end of a scan.
  mutating func forgetStrength(_ number: Int) {
    tell(
      .propertiesChanged(
        path: Self.device(number), interface: BlueZNames.deviceInterface, changed: [:], invalidated: ["RSSI"]))
  }

  mutating func answerReads(_ result: Result<[NodeRecord], LinkFailure>) {
    for id in reads.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      reads[id] = nil
      tell(.recordsRead(id, result))
    }
  }

  mutating func start(offer: Bool = true, search: Bool = false) {
    tell(.daemonAppeared)
    if offer { tell(.advertise(Self.offer)) }
    if search { tell(.search(Self.search)) }
    answerAll()
  }
}
