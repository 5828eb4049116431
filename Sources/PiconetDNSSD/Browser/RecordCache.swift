/// Records heard from others, with their times to live, within limits per source and in all.
struct RecordCache: Sendable {
  struct Key: Sendable, Hashable {
    var interface: InterfaceID
    var name: DomainName
    var type: RecordType
  }

  struct Entry: Sendable {
    var record: ResourceRecord
    /// The sender: only it can end the record, or shorten its life.
    var source: Source
    var received: Duration
    /// The end of its life as its source has stated it.
    var expires: Duration
    /// Other senders of the same record, with the end of its life as each has stated it.
    var holders: [Source: Duration] = [:]
    /// How many of the four refresh queries have been sent (RFC 6762, section 5.2).
    var refreshes: Int
    /// Added to the refresh times: 0 to 2 % of the time to live, in thousandths of it.
    var refreshJitter: Int64

    /// At 80, 85, 90 and 95 % of the time to live; nil when all have been sent.
    var refreshDue: Duration? {
      guard refreshes < 4 else { return nil }
      let thousandths = Int64(800 + 50 * refreshes) + refreshJitter
      return received + .milliseconds(Int64(record.timeToLive) * thousandths)
    }

    private static let holderLimit = 4

    /// The latest end of its life that any sender has stated.
    var lasts: Duration { holders.values.reduce(expires, max) }

    /// Takes a holder's goodbye: one more second is left, in which another holder of the record may speak up (section
    /// 10.1). The statements of others still hold: any device can send any goodbye.
    mutating func part(from holder: Source, at now: Duration) {
      if holder != source {
        if let until = holders[holder] { holders[holder] = min(until, now + MulticastDNS.flushDelay) }
        return
      }
      expires = min(expires, now + MulticastDNS.flushDelay)
      refreshes = 4
    }

    /// Takes a holder's flush: it has sent another record of this name and type, and states that there is no other
    /// (section 10.2). A record older than a second ends in a second; those that came with the new one stay. The
    /// statements of others still hold.
    mutating func flush(by holder: Source, at now: Duration) {
      guard now - received > MulticastDNS.flushDelay else { return }
      if holder == source { return expires = min(expires, now + MulticastDNS.flushDelay) }
      if let until = holders[holder] { holders[holder] = min(until, now + MulticastDNS.flushDelay) }
    }

    /// Notes that the same record has come again.
    /// - Parameter isLouder: whether its source has more in the cache than the former one, which then keeps it.
    mutating func repeated(_ again: Entry, isLouder: Bool) {
      var further = holders.filter { $0.value > again.received }
      guard again.source != source else {
        self = again
        return holders = further
      }
      // No sender shortens the life that another has stated.
      if again.expires < lasts || isLouder, further[again.source] != nil || further.count < Self.holderLimit {
        further[again.source] = again.expires
        return holders = further
      }
      guard again.expires >= lasts else { return }
      further[source] = expires
      further[again.source] = nil
      let former = source
      self = again
      if isLouder { (source, further[former]) = (former, nil) }
      holders = further
    }

    func remainingSeconds(at now: Duration) -> UInt32 {
      UInt32(clamping: max(0, (lasts - now).components.seconds))
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

  /// The properties that all records of one message share.
  struct Arrival: Sendable {
    var source: Source
    var time: Duration
    /// Drawn once for the whole message, so that records that came together are refreshed together.
    var jitter: Int64
    /// The instances in the message: none of them gives way to another.
    var instances: Set<DomainName> = []
    /// The instances that came with everything needed to reach them.
    var complete: Set<DomainName> = []

    func isOfComplete(_ record: ResourceRecord) -> Bool {
      switch record.data {
      case .pointer(let instance): complete.contains(instance)
      case .address: !complete.isEmpty
      default: complete.contains(record.name)
      }
    }
  }

  private(set) var sets: [Key: [Entry]] = [:]
  private(set) var count = 0
  /// Records that had to make room, until the browser has looked at them.
  private(set) var evicted: [Removed] = []
  private var countBySource: [Source: Int] = [:]
  /// How many pointers each source has.
  private(set) var pointersBySource: [Source: Int] = [:]
  private var pointerSets: [InterfaceID: Key] = [:]
  /// The instances that the pointers of each interface lead to.
  private var instances: [InterfaceID: Set<DomainName>] = [:]
  /// For the present message, whether a record of a complete (true) or incomplete (false) instance has found no room:
  /// looking again would be a waste.
  private var crowdedFor: Set<Bool> = []
  /// When an instance of each interface last lost its place to one that is no easier to reach.
  private var displaced: [InterfaceID: Duration] = [:]

  func entries(_ name: DomainName, _ type: RecordType, on interface: InterfaceID) -> [Entry] {
    sets[Key(interface: interface, name: name, type: type)] ?? []
  }

  /// Returns whether a pointer to the instance is cached.
  func holds(_ instance: DomainName, on interface: InterfaceID) -> Bool {
    instances[interface]?.contains(instance) ?? false
  }

  /// Takes a record. Returns false if there was no room.
  mutating func store(_ record: ResourceRecord, _ arrival: Arrival) -> Bool {
    let (source, now) = (arrival.source, arrival.time)
    let key = Key(interface: source.interface, name: record.name, type: record.type)
    if record.cacheFlush {
      change(key) { $0.flush(by: source, at: now) }
    }
    // Most pointers of a flood are new, which can be seen without looking at hundreds of others.
    let isNew = if case .pointer(let instance) = record.data { !holds(instance, on: key.interface) } else { false }
    let known = isNew ? nil : sets[key]?.firstIndex { $0.record.isSame(as: record) }
    if record.timeToLive == 0 {
      if let known { sets[key, default: []][known].part(from: source, at: now) }
      return true
    }
    let record = record.with(timeToLive: min(record.timeToLive, MulticastDNS.longestTimeToLive))
    let entry = Entry(
      record: record, source: source, received: now, expires: now + .seconds(Int64(record.timeToLive)), refreshes: 0,
      refreshJitter: arrival.jitter)
    if let known {
      if var old = sets[key]?[known] {
        released(old)
        // A source that repeats another's record does not become its owner; otherwise the record would go with the rest
        // of a flood.
        old.repeated(entry, isLouder: countBySource[old.source] ?? 0 < countBySource[source] ?? 0)
        sets[key, default: []][known] = old
        added(old)
      }
      return true
    }
    let isComplete = arrival.isOfComplete(record)
    let hasPlace =
      record.type == .ptr
      ? makePlace(in: key, arrival, isComplete: isComplete) : makePlace(inSet: key, arrival)
    guard hasPlace, makeRoom(arrival, isComplete: isComplete) else { return false }
    sets[key, default: []].append(entry)
    if record.type == .ptr { pointerSets[source.interface] = key }
    added(entry)
    return true
  }

  /// Changes every entry of one name and type.
  mutating func change(_ key: Key, _ body: (inout Entry) -> Void) {
    guard var entries = sets[key] else { return }
    for index in entries.indices { body(&entries[index]) }
    sets[key] = entries
  }

  /// Removes the entries that `isGone` names, and returns them in no particular order.
  mutating func remove(where isGone: (Key, Entry) -> Bool) -> [Removed] {
    var removed: [Removed] = []
    for (key, entries) in sets where entries.contains(where: { isGone(key, $0) }) {
      let kept = entries.filter { entry in
        guard isGone(key, entry) else { return true }
        released(entry)
        removed.append(Removed(interface: key.interface, record: entry.record))
        return false
      }
      sets[key] = kept.isEmpty ? nil : kept
    }
    return removed
  }

  /// Ends a message.
  mutating func takeEvicted() -> [Removed] {
    defer { evicted = [] }
    crowdedFor = []
    return evicted
  }

  private mutating func added(_ entry: Entry) {
    count += 1
    countBySource[entry.source, default: 0] += 1
    guard case .pointer(let instance) = entry.record.data else { return }
    pointersBySource[entry.source, default: 0] += 1
    instances[entry.source.interface, default: []].insert(instance)
  }

  private mutating func released(_ entry: Entry) {
    count -= 1
    let left = (countBySource[entry.source] ?? 1) - 1
    countBySource[entry.source] = left > 0 ? left : nil
    guard case .pointer(let instance) = entry.record.data else { return }
    instances[entry.source.interface, default: []].remove(instance)
    let pointers = (pointersBySource[entry.source] ?? 1) - 1
    pointersBySource[entry.source] = pointers > 0 ? pointers : nil
  }

  /// Makes a place in a full set: the record heard longest ago is dropped, of the source with the most in the set, or
  /// of this one if it has as many. A sender that fills a set first, under forged sources too, does not keep later
  /// records from being seen. Records that came in the same message, or are repeated in one, do not push each other
  /// out.
  private mutating func makePlace(inSet key: Key, _ arrival: Arrival) -> Bool {
    guard let entries = sets[key], entries.count >= MulticastDNS.cachedRecordsPerSet else { return true }
    let counts = Dictionary(grouping: entries, by: \.source).mapValues(\.count)
    let own = counts[arrival.source] ?? 0
    let most = counts.values.max() ?? 0
    let candidates = entries.indices.filter { index in
      let entry = entries[index]
      guard entry.received < arrival.time else { return false }
      return most > own ? counts[entry.source] == most : entry.source == arrival.source
    }
    guard let index = candidates.min(by: { entries[$0].received < entries[$1].received }) else { return false }
    released(entries[index])
    evicted.append(Removed(interface: key.interface, record: entries[index].record))
    sets[key]?.remove(at: index)
    return true
  }

  /// Makes a place when all are taken: the source with the most gives one up, first of an instance that was only named.
  /// If all have few, instances that were only named go before those that can be reached. Now and then one that can be
  /// reached makes way for another. No source takes from one that has less than itself.
  private mutating func makePlace(in key: Key, _ arrival: Arrival, isComplete: Bool) -> Bool {
    guard let entries = sets[key], entries.count >= MulticastDNS.instancesPerInterface else { return true }
    if crowdedFor.contains(isComplete) { return false }
    let own = pointersBySource[arrival.source] ?? 0
    var largest = (source: arrival.source, count: own)
    for (source, count) in pointersBySource where source.interface == key.interface {
      if (count, source) > (largest.count, largest.source) { largest = (source, count) }
    }
    if largest.count > own + 1 {
      let oldestNamed = oldestNamed(in: key, arrival, isComplete: true) { $0 == largest.source }
      return forget(oldestNamed ?? entries.firstIndex { $0.source == largest.source }, in: key, isComplete: isComplete)
    }
    let oldestNamed = oldestNamed(in: key, arrival, isComplete: isComplete) { source in
      source == arrival.source || pointersBySource[source] ?? 0 > own
    }
    if oldestNamed == nil, isComplete { return displace(in: key, arrival) }
    return forget(oldestNamed, in: key, isComplete: isComplete)
  }

  /// Displaces the unsettled instance that was heard of longest ago, at most one per `displacementInterval`. The
  /// remains of a flood go that way, since they are not refreshed.
  private mutating func displace(in key: Key, _ arrival: Arrival) -> Bool {
    let (interface, entries) = (key.interface, sets[key] ?? [])
    if let last = displaced[interface], arrival.time - last < MulticastDNS.displacementInterval {
      return forget(nil, in: key, isComplete: true)
    }
    let own = pointersBySource[arrival.source] ?? 0
    // A set keeps the order in which its records came first.
    let candidates = entries.indices.dropFirst(MulticastDNS.settledInstances).filter { index in
      guard case .pointer(let instance) = entries[index].record.data else { return false }
      return !arrival.instances.contains(instance) && pointersBySource[entries[index].source] ?? 0 >= own
    }
    let oldest = candidates.min { entries[$0].received < entries[$1].received }
    let hosts = oldest.map { self.hosts(of: entries[$0], on: interface) } ?? []
    guard forget(oldest, in: key, isComplete: true) else { return false }
    displaced[interface] = arrival.time
    // The addresses go too: they would fill the cache, one displaced instance after another.
    let others = Set(sets[key, default: []].flatMap { self.hosts(of: $0, on: interface) })
    for host in hosts where !others.contains(host) {
      for type in [RecordType.a, .aaaa] { remove(Key(interface: interface, name: host, type: type)) }
    }
    return true
  }

  /// Returns the hosts where the instance of a pointer can be reached.
  private func hosts(of pointer: Entry, on interface: InterfaceID) -> [DomainName] {
    guard case .pointer(let instance) = pointer.record.data else { return [] }
    return entries(instance, .srv, on: interface).compactMap { entry in
      if case .service(_, _, _, let target) = entry.record.data { target } else { nil }
    }
  }

  private mutating func remove(_ key: Key) {
    for entry in sets.removeValue(forKey: key) ?? [] {
      released(entry)
      evicted.append(Removed(interface: key.interface, record: entry.record))
    }
  }

  /// Returns the pointer that has waited longest to be resolved. One that was not even asked about goes only for a
  /// complete instance: otherwise instances that are only named would push each other out endlessly.
  private func oldestNamed(
    in key: Key, _ arrival: Arrival, isComplete: Bool, where isOf: (Source) -> Bool
  ) -> Int? {
    sets[key]?.firstIndex { entry in
      guard isOf(entry.source), isComplete || arrival.time - entry.received >= MulticastDNS.firstQueryInterval,
        case .pointer(let instance) = entry.record.data
      else { return false }
      return !arrival.instances.contains(instance) && !isResolved(instance, on: key.interface)
    }
  }

  /// Forgets a pointer, and the records of its instance.
  private mutating func forget(_ index: Int?, in key: Key, isComplete: Bool) -> Bool {
    guard let index, let pointer = sets[key]?.remove(at: index) else {
      crowdedFor.insert(isComplete)
      return false
    }
    var gone = [pointer]
    if case .pointer(let instance) = pointer.record.data {
      for type in [RecordType.srv, .txt] {
        gone += sets.removeValue(forKey: Key(interface: key.interface, name: instance, type: type)) ?? []
      }
    }
    if sets[key]?.isEmpty == true { sets[key] = nil }
    for entry in gone {
      released(entry)
      evicted.append(Removed(interface: key.interface, record: entry.record))
    }
    return true
  }

  private func isResolved(_ instance: DomainName, on interface: InterfaceID) -> Bool {
    !entries(instance, .txt, on: interface).isEmpty
      && entries(instance, .srv, on: interface).contains { entry in
        guard case .service(_, _, _, let target) = entry.record.data else { return false }
        return !entries(target, .a, on: interface).isEmpty || !entries(target, .aaaa, on: interface).isEmpty
      }
  }

  /// Makes room in a full cache: it takes from the source that has the most in it, so that one loud source can't push
  /// the others out. Within a source, which may be many processes of a host, instances that were only named go first.
  private mutating func makeRoom(_ arrival: Arrival, isComplete: Bool) -> Bool {
    let own = countBySource[arrival.source] ?? 0
    if own >= MulticastDNS.cachedRecordsPerSource {
      guard !crowdedFor.contains(isComplete), let key = pointerSets[arrival.source.interface] else { return false }
      return forget(
        oldestNamed(in: key, arrival, isComplete: isComplete) { $0 == arrival.source }, in: key, isComplete: isComplete)
    }
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
      released(entry)
      evicted.append(Removed(interface: victim.key.interface, record: entry.record))
    }
    if sets[victim.key]?.isEmpty == true { sets[victim.key] = nil }
    return true
  }
}
