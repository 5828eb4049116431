import PiconetEngine
import PiconetSDP
import PiconetWire

/// The devices that have nodes of our session, with their records, and the times to ask them again.
struct RecordBook: Sendable {
  /// The most devices that are remembered at the same time, and the most nodes of one device.
  static let deviceLimit = 128
  static let recordLimit = 8
  /// In dB.
  static let leastChange = 10

  private struct Entry: Sendable {
    var place: BluetoothPlace
    var name: String
    /// Whether the device is known to announce our service.
    var isCertain: Bool
    var isHeard = true
    /// In dBm, as it was last reported; nil: unknown.
    var strength: Int16?
    var missed = 0
    var records: [NodeRecord] = []
    /// The higher, the fresher.
    var freshness: UInt64 = 0
    var reading: BlueZReadID?
    var lastRead: Instant?
    var due: Instant?
    var failures = 0
  }

  private let settings: BlueZSettings
  private var entries: [String: Entry] = [:]
  private var published: [NodeID: Sighting] = [:]
  private var search: BlueZSearch?
  private var isPaused = false
  private var counter: UInt64 = 0
  /// The peer id whose records are our own.
  var ownPeer: PeerID?

  private var random: SeededRandom

  init(settings: BlueZSettings) {
    self.settings = settings
    random = SeededRandom(seed: settings.seed)
  }

  var readCount: Int { entries.values.count { $0.reading != nil } }

  // MARK: facts

  /// Begins again, without reporting that the known nodes are gone.
  mutating func begin(_ search: BlueZSearch?) -> [BlueZEffect] {
    let cancelled = cancelAll()
    entries = [:]
    published = [:]
    self.search = search
    return cancelled
  }

  /// Reports that all known nodes are gone: another adapter is in use, or none.
  mutating func reset() -> [BlueZEffect] {
    let cancelled = cancelAll()
    entries = [:]
    return cancelled + publish()
  }

  mutating func setPaused(_ isPaused: Bool) { self.isPaused = isPaused }

  /// Notes that a scan has heard this device, or that it is connected.
  /// - Parameter isCertain: whether it announces our service; otherwise that is unknown.
  mutating func heard(_ device: BlueZDevice, isCertain: Bool = true, at now: Instant) {
    guard search != nil, let address = device.address else { return }
    let place = BluetoothPlace(device: address, isRandom: device.isRandom)
    if var entry = entries[device.path] {
      let isBack = entry.missed > 0
      entry.isHeard = true
      entry.missed = 0
      entry.isCertain = isCertain
      entry.strength = Self.told(entry.strength, device.measuredStrength)
      if isBack || entry.name != device.name {
        entry.name = device.name
        entry.failures = 0
        entry.due = min(entry.due ?? now, soon(entry, now))
      }
      entries[device.path] = entry
    } else if entries.count < (isCertain ? Self.deviceLimit : Self.deviceLimit / 2) {
      // Two nodes hear each other at the same time, and radios are bad at dialling each other at once.
      entries[device.path] = Entry(
        place: place, name: device.name, isCertain: isCertain, strength: device.measuredStrength,
        due: now + settings.firstDelay * fraction())
    }
  }

  /// Returns the strength to report. It changes with every packet: only large changes are reported.
  private static func told(_ old: Int16?, _ new: Int16?) -> Int16? {
    guard let new else { return old }
    guard let old else { return new }
    return abs(Int(new) - Int(old)) < leastChange ? old : new
  }

  /// Notes that a whole scan is over. `isThere` returns, for the path of a device that was not heard again, whether the
  /// device is still present.
  mutating func scanEnded(isThere: (String) -> Bool) -> [BlueZEffect] {
    var effects: [BlueZEffect] = []
    for path in entries.keys.sorted() {
      guard var entry = entries[path] else { continue }
      if entry.isHeard || isThere(path) {
        entry.missed = 0
      } else {
        entry.missed += 1
      }
      entry.isHeard = false
      entries[path] = entry
      if entry.missed >= settings.missedScans {
        if let id = entry.reading { effects.append(.cancelRead(id)) }
        entries[path] = nil
      }
    }
    return effects + publish()
  }

  mutating func dialFailed(_ address: BluetoothAddress, at now: Instant) {
    for path in entries.keys.sorted() {
      guard var entry = entries[path], entry.place.device == address else { continue }
      entry.due = min(entry.due ?? .distantFuture, soon(entry, now))
      entries[path] = entry
    }
  }

  mutating func read(_ id: BlueZReadID, _ result: Result<[NodeRecord], LinkFailure>, at now: Instant) -> [BlueZEffect] {
    guard let path = entries.first(where: { $0.value.reading == id })?.key, var entry = entries[path] else { return [] }
    entry.reading = nil
    switch result {
    case .success(let records):
      let usable = records.prefix(Self.recordLimit).filter { record in
        record.peer != ownPeer && record.sessionID == search?.sessionID && record.leads(to: entry.place)
      }
      counter += 1
      entry.freshness = counter
      entry.records = Array(usable)
      if usable.isEmpty {
        scheduleRetry(of: &entry, isDefinite: true, now)
      } else {
        entry.failures = 0
        entry.due = now + settings.rereadInterval
      }
    case .failure(let failure):
      // Only a definite answer means that no node is there: other failures may be the radio's.
      if failure.code == .noService { entry.records = [] }
      if failure.code == .cancelled {
        entry.due = now + settings.firstRetry
      } else {
        scheduleRetry(of: &entry, isDefinite: failure.code == .noService, now)
      }
    }
    entries[path] = entry
    return publish()
  }

  /// - Parameter isDefinite: whether the device has answered that it has no node.
  private mutating func scheduleRetry(of entry: inout Entry, isDefinite: Bool, _ now: Instant) {
    entry.failures = min(entry.failures + 1, 30)
    // It may be a stranger's headset, heard because another program scans.
    if !entry.isCertain { entry.failures = max(entry.failures, isDefinite ? settings.retries + 1 : 3) }
    let pause =
      entry.failures > settings.retries ? settings.lateRetry : settings.firstRetry * (1 << (entry.failures - 1))
    entry.due = now + pause * (0.75 + fraction() / 2)
  }

  /// Returns a number from 0 to 1.
  private mutating func fraction() -> Double { Double(random.next() >> 11) / Double(1 << 53) }

  /// Returns the earliest time that politeness permits.
  private func soon(_ entry: Entry, _ now: Instant) -> Instant {
    entry.lastRead.map { max(now, $0 + settings.firstRetry) } ?? now
  }

  // MARK: effects

  /// Begins the readings that are due, as many as there is room for.
  mutating func startReads(at now: Instant, lastID: inout UInt64) -> [BlueZEffect] {
    guard let search, !isPaused else { return [] }
    var effects: [BlueZEffect] = []
    var room = settings.concurrentReads - readCount
    while room > 0, let path = mostDue(at: now), var entry = entries[path] {
      lastID += 1
      let id = BlueZReadID(rawValue: lastID)
      entry.reading = id
      entry.lastRead = now
      entry.due = nil
      entries[path] = entry
      effects.append(.read(id, service: search.service, from: entry.place))
      room -= 1
    }
    return effects
  }

  private func mostDue(at now: Instant) -> String? {
    let due = entries.filter { isWaiting($0.value) && ($0.value.due ?? .distantFuture) <= now }
    let certain = due.filter(\.value.isCertain)
    return (certain.isEmpty ? due : certain).min { ($0.value.due ?? now, $0.key) < ($1.value.due ?? now, $1.key) }?.key
  }

  private func isWaiting(_ entry: Entry) -> Bool { entry.reading == nil && entry.due != nil && entry.missed == 0 }

  var nextDeadline: Instant? {
    if search == nil || isPaused || readCount >= settings.concurrentReads { return nil }
    return entries.values.filter(isWaiting).compactMap(\.due).min()
  }

  private mutating func cancelAll() -> [BlueZEffect] {
    var effects: [BlueZEffect] = []
    for path in entries.keys.sorted() {
      guard var entry = entries[path], let id = entry.reading else { continue }
      effects.append(.cancelRead(id))
      entry.reading = nil
      entries[path] = entry
    }
    return effects
  }

  /// Reports the differences between the known and the reported nodes.
  ///
  /// Any device can claim another's key under any incarnation, so one device's claim hides nothing of another's.
  private mutating func publish() -> [BlueZEffect] {
    var sightings: [NodeID: Sighting] = [:]
    for entry in entries.values.sorted(by: { $0.freshness > $1.freshness }) {
      for record in entry.records {
        let addresses = Self.addresses(record, entry.place)
        if addresses.isEmpty { continue }
        let node = NodeID(peer: record.peer, incarnation: record.incarnation)
        if var known = sightings[node] {
          known.addresses += addresses.filter { !known.addresses.contains($0) }
          known.otherNames = Sighting.otherNames(known.names + [record.name])
          known.signalStrength = [known.signalStrength, entry.strength.map(Int.init)].compactMap { $0 }.max()
          sightings[node] = known
        } else {
          sightings[node] = Sighting(
            peer: record.peer, incarnation: record.incarnation, name: record.name, info: record.info,
            addresses: addresses, signalStrength: entry.strength.map(Int.init))
        }
      }
    }
    var effects: [BlueZEffect] = []
    for node in Set(published.keys).union(sightings.keys).sorted() {
      let (old, new) = (published[node], sightings[node])
      if old == new { continue }
      effects.append(.report(new.map { .seen($0) } ?? .gone(node.peer, node.incarnation)))
    }
    published = sightings
    return effects
  }

  static func addresses(_ record: NodeRecord, _ place: BluetoothPlace) -> [TransportAddress] {
    let ports: [(TransportKind, UInt16?)] = [
      (.l2cap, place.isRandom ? nil : record.l2capPSM),
      (.rfcomm, place.isRandom ? nil : record.rfcommChannel.map(UInt16.init)), (.le, record.lePSM),
    ]
    return ports.compactMap { kind, port in
      guard let port, port != 0 else { return nil }
      let text = BluetoothPlace(device: place.device, isRandom: place.isRandom, port: port).description
      return TransportAddress(kind: kind, text: text)
    }
  }
}

extension Instant {
  static var distantFuture: Instant { Instant(nanoseconds: .max) }
}
