/// Looks for the instances of one service type by Multicast DNS (RFC 6762 and 6763), and resolves them.
///
/// A value without a clock, randomness or sockets; see `Responder` for how it is driven.
public struct Browser: Sendable {
  let type: ServiceType
  var cache = RecordCache()
  var interfaces: [InterfaceID: BrowserInterface] = [:]
  var jitter: Jitter
  /// The instances as last reported, by name.
  private var reported: [DomainName: ResolvedInstance] = [:]
  /// No record has to be refreshed or forgotten before this time, which may be too early; nil if the cache is empty.
  private var cacheDeadline: Duration?

  public init(type: ServiceType = .piconet, random: any RandomNumberGenerator & Sendable) {
    self.type = type
    jitter = Jitter(random)
  }

  /// All instances that are resolved at the moment, by name.
  public var instances: [ResolvedInstance] { reported.values.sorted { $0.name < $1.name } }

  /// Returns an instance that is resolved at the moment, by name.
  public func instance(named name: DomainName) -> ResolvedInstance? { reported[name] }

  public var cachedRecordCount: Int { cache.count }

  /// Notes that an interface came up, or changed: it is asked at once.
  public mutating func interfaceAppeared(
    _ id: InterfaceID, _ traits: InterfaceTraits, at now: Duration
  ) -> BrowserOutput {
    if var interface = interfaces[id] {
      interface.traits = traits
      interfaces[id] = interface
    } else if interfaces.count < MulticastDNS.interfaces {
      interfaces[id] = BrowserInterface(traits: traits, due: now)
    }
    return deadlineReached(at: now)
  }

  /// Forgets what was seen on an interface that is gone.
  public mutating func interfaceDisappeared(_ id: InterfaceID, at now: Duration) -> BrowserOutput {
    guard interfaces.removeValue(forKey: id) != nil else { return BrowserOutput() }
    let removed = cache.remove { key, _ in key.interface == id }
    let instances = Set(
      removed.compactMap { if case .pointer(let name) = $0.record.data { name } else { nil } })
    return BrowserOutput(reports: reportChanges(of: instances))
  }

  /// Takes a message. The caller has checked that it comes from the link (RFC 6762, section 11).
  public mutating func received(
    _ message: DNSMessage, from source: MessageSource, on id: InterfaceID, at now: Duration
  ) -> BrowserOutput {
    guard message.isStandard, message.isResponse, source.port == MulticastDNS.port, interfaces[id] != nil else {
      return BrowserOutput()
    }
    let records = (message.answers + message.additionals).filter { $0.recordClass == 1 }
    var arrival = RecordCache.Arrival(
      source: .init(interface: id, address: source.address), time: now,
      jitter: Int64.random(in: 0...20, using: &self.jitter))
    (arrival.instances, arrival.complete) = instances(in: records)
    var changed: Set<DomainName> = []
    // Pointers first, then the records that they lead to: nothing else gets into the cache.
    for record in records where record.type == .ptr && record.name == type.name {
      guard case .pointer(let instance) = record.data, instance.parent == type.name else { continue }
      store(record, arrival, changed: &changed)
    }
    updateIndex(of: changed, on: id, at: now)
    for record in records where record.type == .srv || record.type == .txt {
      if isKnown(instance: record.name, on: id) {
        store(record, arrival, changed: &changed)
      }
    }
    updateIndex(of: changed, on: id, at: now)
    for record in records where record.type == .a || record.type == .aaaa {
      if isTarget(record.name, on: id) {
        store(record, arrival, changed: &changed)
      }
    }
    let evicted = cache.takeEvicted()
    for removed in evicted { changed.formUnion(concerned(by: removed)) }
    for interface in Set(evicted.map(\.interface) + [id]) { updateIndex(of: changed, on: interface, at: now) }
    guard !changed.isEmpty else { return BrowserOutput() }
    var output = deadlineReached(at: now)
    output.reports += reportChanges(of: changed)
    return output
  }

  /// Returns the instances that a message names, and those for which it has everything needed to reach them.
  private func instances(in records: [ResourceRecord]) -> (all: Set<DomainName>, complete: Set<DomainName>) {
    var all: Set<DomainName> = []
    var texts: Set<DomainName> = []
    var hosts: Set<DomainName> = []
    var targets: [DomainName: DomainName] = [:]
    for record in records {
      switch record.data {
      case .pointer(let instance): all.insert(instance)
      case .service(_, _, _, let target): targets[record.name] = target
      case .text: texts.insert(record.name)
      case .address: hosts.insert(record.name)
      default: break
      }
    }
    let complete = all.filter { texts.contains($0) && targets[$0].map(hosts.contains) ?? false }
    return (all.union(targets.keys).union(texts), complete)
  }

  private mutating func store(
    _ record: ResourceRecord, _ arrival: RecordCache.Arrival, changed: inout Set<DomainName>
  ) {
    let now = arrival.time
    guard cache.store(record, arrival) else { return }
    changed.formUnion(concerned(by: .init(interface: arrival.source.interface, record: record)))
    // Either it is new and due at 80 % of its time to live, or it and others of its set have a second left.
    let seconds = min(record.timeToLive, MulticastDNS.longestTimeToLive)
    var due = seconds == 0 ? now + MulticastDNS.flushDelay : now + .milliseconds(Int64(seconds) * 800)
    if record.cacheFlush { due = min(due, now + MulticastDNS.flushDelay) }
    cacheDeadline = cacheDeadline.map { min($0, due) } ?? due
  }

  public var nextDeadline: Duration? {
    var next = cacheDeadline
    for interface in interfaces.values {
      let missing = interface.resolutions.values.lazy.map(\.due).min().map { max($0, interface.mayAskAgain) }
      for due in [interface.due, missing].compactMap({ $0 }) where next.map({ due < $0 }) ?? true { next = due }
    }
    return next
  }

  public mutating func deadlineReached(at now: Duration) -> BrowserOutput {
    var output = BrowserOutput()
    let isCacheDue = cacheDeadline.map { $0 <= now } ?? false
    if isCacheDue {
      let expired = cache.remove { _, entry in entry.lasts <= now }
      var changed: Set<DomainName> = []
      for removed in expired { changed.formUnion(concerned(by: removed)) }
      for id in interfaces.keys { updateIndex(of: changed, on: id, at: now) }
      output.reports = reportChanges(of: changed)
    }
    for id in interfaces.keys.sorted() {
      output.transmissions += ask(on: id, refreshing: isCacheDue, at: now)
    }
    if isCacheDue { cacheDeadline = earliestInCache() }
    return output
  }

  private func earliestInCache() -> Duration? {
    var earliest: Duration?
    for (key, entries) in cache.sets {
      let interface = interfaces[key.interface]
      let mayAsk = (key.type == .ptr ? interface?.mayAskForTypeAgain : interface?.mayAskAgain) ?? .zero
      for entry in entries {
        let due = min(entry.refreshDue.map { max($0, mayAsk) } ?? entry.lasts, entry.lasts)
        if earliest.map({ due < $0 }) ?? true { earliest = due }
      }
    }
    return earliest
  }

  // MARK: Known instances

  func isKnown(instance: DomainName, on id: InterfaceID) -> Bool {
    interfaces[id]?.targets.keys.contains(instance) ?? false
  }

  func isTarget(_ host: DomainName, on id: InterfaceID) -> Bool { interfaces[id]?.instances[host] != nil }

  /// Returns the instances to which a record belongs.
  private func concerned(by removed: RecordCache.Removed) -> Set<DomainName> {
    if case .pointer(let name) = removed.record.data { return [name] }
    if removed.record.name.parent == type.name { return [removed.record.name] }
    return interfaces[removed.interface]?.instances[removed.record.name] ?? []
  }

  /// Updates the index of one interface after records of these instances came or went.
  private mutating func updateIndex(of names: Set<DomainName>, on id: InterfaceID, at now: Duration) {
    guard !names.isEmpty, var interface = interfaces[id] else { return }
    for name in names {
      for target in interface.targets.removeValue(forKey: name) ?? [] {
        interface.instances[target]?.remove(name)
        if interface.instances[target]?.isEmpty == true { interface.instances[target] = nil }
      }
      guard cache.holds(name, on: id) else {
        interface.resolutions[name] = nil
        continue
      }
      let targets = Set(services(of: name, on: id).map(\.target))
      interface.targets[name] = targets
      for target in targets { interface.instances[target, default: []].insert(name) }
      if missing(of: name, on: id).isEmpty {
        interface.resolutions[name] = nil
      } else if interface.resolutions[name] == nil {
        interface.resolutions[name] = .init(due: now, interval: MulticastDNS.firstQueryInterval)
      }
    }
    interfaces[id] = interface
  }

  /// Returns the SRV records of an instance, newest first. Any device can send one for any instance, so all of them
  /// count.
  func services(
    of instance: DomainName, on id: InterfaceID
  ) -> [(port: UInt16, target: DomainName, origin: IPAddress)] {
    let entries = cache.entries(instance, .srv, on: id).enumerated()
    return entries.sorted { ($0.element.received, $0.offset) > ($1.element.received, $1.offset) }.compactMap {
      guard case .service(_, _, let port, let target) = $0.element.record.data else { return nil }
      return (port, target, $0.element.source.address)
    }
  }

  /// Returns the TXT records of an instance. Senders take turns, in the order in which they came, so that many of one
  /// push back none of another. Of each sender the newest is first.
  private func texts(of instance: DomainName, on id: InterfaceID) -> [RecordCache.Entry] {
    let entries = cache.entries(instance, .txt, on: id)
    var sources: [RecordCache.Source] = []
    for entry in entries where !sources.contains(entry.source) { sources.append(entry.source) }
    let told = sources.map { source in
      entries.filter { $0.source == source }.sorted { $0.received > $1.received }
    }
    return (0..<(told.map(\.count).max() ?? 0)).flatMap { turn in
      told.compactMap { turn < $0.count ? $0[turn] : nil }
    }
  }

  func addresses(of target: DomainName, on id: InterfaceID) -> [IPAddress] {
    (cache.entries(target, .a, on: id) + cache.entries(target, .aaaa, on: id)).compactMap {
      if case .address(let address) = $0.record.data { address } else { nil }
    }
  }

  // MARK: reports

  private mutating func reportChanges(of names: Set<DomainName>) -> [BrowserReport] {
    var reports: [BrowserReport] = []
    for name in names.sorted() {
      let view = currentView(of: name)
      switch (reported[name], view) {
      case (nil, let new?): reports.append(.resolved(new))
      case (let old?, let new?) where old != new: reports.append(.updated(new))
      case (.some, nil): reports.append(.removed(name))
      default: break
      }
      reported[name] = view
    }
    return reports
  }

  private func currentView(of name: DomainName) -> ResolvedInstance? {
    var ofInterfaces: [(texts: [[[UInt8]]], received: Duration)] = []
    var all: [ResolvedInstance.Endpoint] = []
    for id in interfaces.keys.sorted() where isKnown(instance: name, on: id) {
      let texts = texts(of: name, on: id)
      guard let first = texts.first else { continue }
      let endpoints = services(of: name, on: id).filter { $0.port != 0 }.flatMap { service in
        addresses(of: service.target, on: id).sorted().map {
          ResolvedInstance.Endpoint(interface: id, address: $0, port: service.port, origin: service.origin)
        }
      }
      if endpoints.isEmpty { continue }
      let strings = texts.compactMap { if case .text(let strings) = $0.record.data { strings } else { nil } }
      ofInterfaces.append((strings, first.received))
      all += endpoints
    }
    // Interfaces take turns: many texts on one push back none of another's.
    let lists = ofInterfaces.sorted { $0.received > $1.received }.map(\.texts)
    let texts = (0..<(lists.map(\.count).max() ?? 0)).flatMap { turn in
      lists.compactMap { turn < $0.count ? $0[turn] : nil }
    }
    return texts.first.map { first in
      var others: [[[UInt8]]] = []
      for text in texts where text != first && !others.contains(text) { others.append(text) }
      return ResolvedInstance(name: name, text: first, endpoints: all, otherTexts: others)
    }
  }
}
