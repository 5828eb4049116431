/// Records heard from others, with their time to live, within limits per source and in all.
struct RecordCache: Sendable {
  struct Key: Sendable, Hashable {
    var interface: InterfaceID
    var name: DomainName
    var type: RecordType
  }

  struct Entry: Sendable {
    var record: ResourceRecord
    var source: Source
    var received: Duration
    var expires: Duration
    /// How many of the four refresh queries were sent (RFC 6762, section 5.2).
    var refreshes: Int
    /// Added to the refresh times, 0 to 2 % of the time to live, in thousandths of it.
    var refreshJitter: Int64

    /// At 80, 85, 90 and 95 % of the time to live; nil when all were sent.
    var refreshDue: Duration? {
      guard refreshes < 4 else { return nil }
      let thousandths = Int64(800 + 50 * refreshes) + refreshJitter
      return received + .milliseconds(Int64(record.timeToLive) * thousandths)
    }

    func remainingSeconds(at now: Duration) -> UInt32 {
      UInt32(clamping: max(0, (expires - now).components.seconds))
    }
  }

  struct Removed: Sendable {
    var interface: InterfaceID
    var record: ResourceRecord
  }

  struct Source: Sendable, Hashable, Comparable {
    var interface: InterfaceID
    var address: IPAddress
    static func < (left: Source, right: Source) -> Bool {
      (left.interface, left.address) < (right.interface, right.address)
    }
  }

  private(set) var sets: [Key: [Entry]] = [:]
  private(set) var count = 0
  /// Records that went to make room, until the browser has looked at them.
  private(set) var evicted: [Removed] = []
  private var countBySource: [Source: Int] = [:]

  func entries(_ name: DomainName, _ type: RecordType, on interface: InterfaceID) -> [Entry] {
    sets[Key(interface: interface, name: name, type: type)] ?? []
  }

  /// Takes a record. Returns false if there was no room.
  mutating func store(_ record: ResourceRecord, from source: Source, jitter: Int64, at now: Duration) -> Bool {
    let key = Key(interface: source.interface, name: record.name, type: record.type)
    if record.cacheFlush {
      // Section 10.2: what is older than a second goes in a second; what came with this record stays.
      change(key) { entry in
        if now - entry.received > MulticastDNS.flushDelay {
          entry.expires = min(entry.expires, now + MulticastDNS.flushDelay)
        }
      }
    }
    let known = sets[key]?.firstIndex { $0.record.isSame(as: record) }
    if record.timeToLive == 0 {
      // A goodbye: one more second, in which another holder of the record may speak up (section 10.1).
      if let known, let entry = sets[key]?[known] {
        sets[key]?[known].expires = min(entry.expires, now + MulticastDNS.flushDelay)
        sets[key]?[known].refreshes = 4
      }
      return true
    }
    let record = record.with(timeToLive: min(record.timeToLive, MulticastDNS.longestTimeToLive))
    let entry = Entry(
      record: record, source: source, received: now, expires: now + .seconds(Int64(record.timeToLive)), refreshes: 0,
      refreshJitter: jitter)
    if let known {
      if let old = sets[key]?[known].source { released(old) }
      sets[key]?[known] = entry
      count += 1
      countBySource[source, default: 0] += 1
      return true
    }
    let setLimit = record.type == .ptr ? MulticastDNS.instancesPerInterface : MulticastDNS.cachedRecordsPerSet
    guard sets[key]?.count ?? 0 < setLimit, makeRoom(for: source) else { return false }
    sets[key, default: []].append(entry)
    count += 1
    countBySource[source, default: 0] += 1
    return true
  }

  /// Changes every entry of one name and type.
  mutating func change(_ key: Key, _ body: (inout Entry) -> Void) {
    guard var entries = sets[key] else { return }
    for index in entries.indices { body(&entries[index]) }
    sets[key] = entries
  }

  /// Forgets what `isGone` names, and returns it in no order.
  mutating func remove(where isGone: (Key, Entry) -> Bool) -> [Removed] {
    var removed: [Removed] = []
    for (key, entries) in sets where entries.contains(where: { isGone(key, $0) }) {
      let kept = entries.filter { entry in
        guard isGone(key, entry) else { return true }
        released(entry.source)
        removed.append(Removed(interface: key.interface, record: entry.record))
        return false
      }
      sets[key] = kept.isEmpty ? nil : kept
    }
    return removed
  }

  mutating func takeEvicted() -> [Removed] {
    defer { evicted = [] }
    return evicted
  }

  private mutating func released(_ source: Source) {
    count -= 1
    let left = (countBySource[source] ?? 1) - 1
    countBySource[source] = left > 0 ? left : nil
  }

  /// A full cache takes from whoever has most in it, so that one loud source can't push the others out.
  private mutating func makeRoom(for source: Source) -> Bool {
    let own = countBySource[source] ?? 0
    if own >= MulticastDNS.cachedRecordsPerSource { return false }
    if count < MulticastDNS.cachedRecords { return true }
    guard let largest = countBySource.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }), largest.value > own + 1
    else {
      return false
    }
    var victim: (key: Key, index: Int, expires: Duration)?
    for (key, entries) in sets {
      for (index, entry) in entries.enumerated() where entry.source == largest.key {
        if let best = victim,
          (best.expires, best.key.name, best.key.type, best.index) <= (entry.expires, key.name, key.type, index)
        {
          continue
        }
        victim = (key, index, entry.expires)
      }
    }
    guard let victim else { return false }
    if let entry = sets[victim.key]?.remove(at: victim.index) {
      evicted.append(Removed(interface: victim.key.interface, record: entry.record))
    }
    if sets[victim.key]?.isEmpty == true { sets[victim.key] = nil }
    released(largest.key)
    return true
  }
}
