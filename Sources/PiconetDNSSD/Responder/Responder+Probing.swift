extension Responder {
  /// Probes and announces, as the clock requires (RFC 6762, section 8).
  mutating func advance(_ id: InterfaceID, at now: Duration) -> [Transmission] {
    guard var interface = interfaces[id] else { return [] }
    switch interface.phase {
    case .probing(let sent, let due) where due <= now:
      if sent < MulticastDNS.probes {
        interface.phase = .probing(sent: sent + 1, due: now + MulticastDNS.probeInterval)
        interfaces[id] = interface
        return probe(on: id, isFirst: sent == 0)
      }
      interface.phase = .announcing(sent: 0, due: now)
      interfaces[id] = interface
      return advance(id, at: now)
    case .announcing(let sent, let due) where due <= now:
      let next = sent + 1
      interface.phase =
        next < MulticastDNS.announcements
        ? .announcing(sent: next, due: now + MulticastDNS.announcementInterval) : .established
      interface.lastAnnouncement = now
      interfaces[id] = interface
      let records = records(on: id)
      let isAllowed = { [interface] (record: ResourceRecord) in
        interface.multicastAllowed([record], interval: MulticastDNS.multicastInterval, now: now) <= now
      }
      let answers = (records.shared + records.unique).filter(isAllowed)
      let denials = [records.instanceDenial, records.hostDenial].filter(isAllowed)
      noteMulticast(answers + denials, on: id, at: now)
      return responses(to: .multicast, on: id, answers: answers, additionals: denials)
    default: return []
    }
  }

  /// Returns a probe. Only the first one lets the defender answer by unicast: a process that has come to share the port
  /// meanwhile might get that answer in our place.
  private func probe(on id: InterfaceID, isFirst: Bool) -> [Transmission] {
    guard let interface = interfaces[id] else { return [] }
    let records = records(on: id)
    let questions = [records.instanceName, records.hostName].map {
      Question(name: $0, type: .any, wantsUnicast: isFirst && interface.traits.receivesUnicast)
    }
    let message = DNSMessage(
      questions: questions, authorities: records.unique.map { ResourceRecord(proposing: $0) })
    guard let bytes = message.encoded() else { return [] }
    return [Transmission(interface: id, destination: .multicast, message: bytes)]
  }

  /// Announces again after a change, but no more often than allowed.
  mutating func announceAgain(on id: InterfaceID, at now: Duration) {
    guard var interface = interfaces[id], interface.ownsNames else { return }
    let earliest = interface.lastAnnouncement.map { $0 + MulticastDNS.announcementInterval } ?? now
    interface.phase = .announcing(sent: 0, due: max(now, earliest))
    interfaces[id] = interface
  }

  /// The time of the first probe: random, so that devices switched on together don't speak at once.
  mutating func firstProbe(at now: Duration) -> Duration { now + jitter.milliseconds(0...250) }

  /// Breaks the tie if two hosts probe for one name at the same time: the lexicographically later data win (section
  /// 8.2).
  mutating func breakTie(with query: DNSMessage, on id: InterfaceID, at now: Duration) {
    guard var interface = interfaces[id], !interface.ownsNames else { return }
    let records = records(on: id)
    for (name, ours) in [(records.instanceName, records.instance), (records.hostName, records.host)] {
      let theirs = query.authorities.filter { $0.name == name }
      // Our own probe, perhaps from another interface on the same wire.
      if theirs.isEmpty || theirs.allSatisfy({ isOurs($0, at: now) }) { continue }
      if Self.precedes(ours, theirs) {
        guard yieldsInTie(at: now) else { return }
        interface.phase = .probing(sent: 0, due: now + MulticastDNS.probeDeferral)
        interfaces[id] = interface
        return
      }
    }
  }

  /// Returns whether to yield in a tie. As with conflicts, a device that answers each probe with a winning one must not
  /// silence us. A tie with one host on several interfaces counts once.
  private mutating func yieldsInTie(at now: Duration) -> Bool {
    if let last = recentTies.last, now - last < MulticastDNS.probeDeferral { return true }
    recentTies.removeAll { now - $0 > MulticastDNS.conflictWindow }
    if recentTies.count >= MulticastDNS.conflictsInWindow { return false }
    recentTies.append(now)
    return true
  }

  static func precedes(_ left: [ResourceRecord], _ right: [ResourceRecord]) -> Bool {
    let keys = { (records: [ResourceRecord]) -> [[UInt8]] in
      records.map { record in
        [record.recordClass, record.type.rawValue].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
          + record.data.canonicalBytes
      }.sorted { $0.lexicographicallyPrecedes($1) }
    }
    return keys(left).lexicographicallyPrecedes(keys(right)) { $0.lexicographicallyPrecedes($1) }
  }

  /// Looks for records of others under one of our names (section 9).
  mutating func detectConflicts(in response: DNSMessage, on id: InterfaceID, at now: Duration) {
    guard let interface = interfaces[id] else { return }
    var instanceConflict = false
    var hostConflict = false
    for record in response.answers + response.authorities + response.additionals
    where record.timeToLive > 0 && record.recordClass == 1 {
      let ofInstance = record.name == instanceName && (record.type == .srv || record.type == .txt)
      let ofHost = record.name == hostName && (record.type == .a || record.type == .aaaa)
      guard ofInstance || ofHost, !isOurs(record, at: now) else { continue }
      instanceConflict = instanceConflict || ofInstance
      hostConflict = hostConflict || ofHost
    }
    guard instanceConflict || hostConflict else { return }
    // Our labels contain digits of our key. A device that goes on claiming them is not a neighbour with the same name,
    // and must not silence us.
    recentConflicts.removeAll { now - $0 > MulticastDNS.conflictWindow }
    if recentConflicts.count >= MulticastDNS.conflictsInWindow { return }
    recentConflicts.append(now)
    if !interface.ownsNames {
      if instanceConflict { renameInstance() }
      if hostConflict { renameHost() }
    }
    // A name that we hold is probed again first: the host that defends it then keeps it.
    for (id, var interface) in interfaces.sorted(by: { $0.key < $1.key }) {
      interface.phase = .probing(sent: 0, due: firstProbe(at: now))
      interface.pending = []
      interfaces[id] = interface
    }
  }

  /// Returns whether we have the same record on any interface, now or a moment ago.
  func isOurs(_ record: ResourceRecord, at now: Duration) -> Bool {
    for id in interfaces.keys where records(on: id).unique.contains(where: { $0.isSame(as: record) }) { return true }
    return retired.contains { $0.until > now && $0.record.isSame(as: record) }
  }

  mutating func retire(_ records: [ResourceRecord], at now: Duration) {
    retired.removeAll { $0.until <= now }
    retired += records.map { ($0, now + MulticastDNS.retiredRecordMemory) }
    if retired.count > MulticastDNS.retiredRecords {
      retired.removeFirst(retired.count - MulticastDNS.retiredRecords)
    }
  }
}

extension ResourceRecord {
  /// In a probe the flush bit is clear (RFC 6762, section 10.2).
  init(proposing record: ResourceRecord) {
    self = record
    cacheFlush = false
  }
}
