/// Looks for the instances of one service type by Multicast DNS (RFC 6762 and 6763), and resolves them.
///
/// A value without clock, dice or socket; see `Responder` for how it is driven.
public struct Browser: Sendable {
  let type: ServiceType
  var cache = RecordCache()
  var interfaces: [InterfaceID: BrowserInterface] = [:]
  var jitter: Jitter
  /// What was reported last, by name.
  private var reported: [DomainName: ResolvedInstance] = [:]
  /// The earliest time at which anything of the cache is due; nil when it must be looked for anew.
  var cachedDeadline: Duration??

  public init(type: ServiceType = .piconet, seed: UInt64) {
    self.type = type
    jitter = Jitter(seed: seed)
  }

  /// All that is resolved at the moment, by name.
  public var instances: [ResolvedInstance] { reported.values.sorted { $0.name < $1.name } }

  public var cachedRecordCount: Int { cache.count }

  /// An interface came up, or changed: it is asked at once.
  public mutating func interfaceAppeared(
    _ id: InterfaceID, _ traits: InterfaceTraits, at now: Duration
  ) -> BrowserOutput {
    if interfaces[id] != nil {
      interfaces[id]?.traits = traits
    } else if interfaces.count < MulticastDNS.interfaces {
      interfaces[id] = BrowserInterface(traits: traits, due: now)
    }
    return deadlineReached(at: now)
  }

  /// What was seen on the interface is gone.
  public mutating func interfaceDisappeared(_ id: InterfaceID, at now: Duration) -> BrowserOutput {
    guard interfaces.removeValue(forKey: id) != nil else { return BrowserOutput() }
    _ = cache.remove { key, _ in key.interface == id }
    cachedDeadline = nil
    return BrowserOutput(reports: reportChanges())
  }

  /// A message arrived. The edge has checked that it comes from the link (RFC 6762, section 11).
  public mutating func received(
    _ message: Message, from source: MessageSource, on id: InterfaceID, at now: Duration
  ) -> BrowserOutput {
    guard message.isStandard, message.isResponse, source.port == MulticastDNS.port, interfaces[id] != nil else {
      return BrowserOutput()
    }
    let records = (message.answers + message.additionals).filter { $0.recordClass == 1 }
    let origin = RecordCache.Source(interface: id, address: source.address)
    // One throw for the whole message, so that what came together is refreshed together.
    let jitter = Int64.random(in: 0...20, using: &self.jitter)
    var stored = false
    let store = { (record: ResourceRecord, browser: inout Browser) in
      stored = true
      _ = browser.cache.store(record, from: origin, jitter: jitter, at: now)
    }
    // Pointers first, then what they lead to: nothing else gets into the cache.
    for record in records where record.type == .ptr && record.name == type.name {
      guard case .pointer(let instance) = record.data, instance.parent == type.name else { continue }
      store(record, &self)
    }
    for record in records where record.type == .srv || record.type == .txt {
      if isKnown(instance: record.name, on: id) { store(record, &self) }
    }
    let targets = Set(cachedTargets(on: id))
    for record in records where record.type == .a || record.type == .aaaa {
      if targets.contains(record.name) { store(record, &self) }
    }
    guard stored else { return BrowserOutput() }
    cachedDeadline = nil
    var output = deadlineReached(at: now)
    output.reports += reportChanges()
    return output
  }

  public var nextDeadline: Duration? {
    let cached = cachedDeadline ?? cacheDeadline()
    return (interfaces.values.map(\.due) + interfaces.values.flatMap { $0.resolutions.values.map(\.due) }
      + (cached.map { [$0] } ?? [])).min()
  }

  public mutating func deadlineReached(at now: Duration) -> BrowserOutput {
    var output = BrowserOutput()
    if cacheDeadline() ?? now <= now {
      let expired = cache.remove { _, entry in entry.expires <= now }
      if !expired.isEmpty { output.reports = reportChanges() }
    }
    for id in interfaces.keys.sorted() { output.transmissions += ask(on: id, at: now) }
    cachedDeadline = .some(cacheDeadline())
    return output
  }

  private func cacheDeadline() -> Duration? {
    var earliest: Duration?
    for entry in cache.sets.values.joined() {
      let due = min(entry.refreshDue ?? entry.expires, entry.expires)
      if earliest.map({ due < $0 }) ?? true { earliest = due }
    }
    return earliest
  }

  // MARK: what is known

  func isKnown(instance: DomainName, on id: InterfaceID) -> Bool {
    guard instance.parent == type.name else { return false }
    return cache.entries(type.name, .ptr, on: id).contains { $0.record.data == .pointer(instance) }
  }

  func cachedInstances(on id: InterfaceID) -> [DomainName] {
    cache.entries(type.name, .ptr, on: id).compactMap {
      if case .pointer(let name) = $0.record.data { name } else { nil }
    }
  }

  func cachedTargets(on id: InterfaceID) -> [DomainName] {
    cachedInstances(on: id).compactMap { newestService(of: $0, on: id)?.target }
  }

  func newestService(of instance: DomainName, on id: InterfaceID) -> (port: UInt16, target: DomainName)? {
    let newest = Self.newest(cache.entries(instance, .srv, on: id))
    guard case .service(_, _, let port, let target) = newest?.record.data else { return nil }
    return (port, target)
  }

  static func newest(_ entries: [RecordCache.Entry]) -> RecordCache.Entry? {
    entries.max { $0.received < $1.received }
  }

  func addresses(of target: DomainName, on id: InterfaceID) -> [IPAddress] {
    (cache.entries(target, .a, on: id) + cache.entries(target, .aaaa, on: id)).compactMap {
      if case .address(let address) = $0.record.data { address } else { nil }
    }
  }

  // MARK: reports

  private mutating func reportChanges() -> [BrowserReport] {
    var reports: [BrowserReport] = []
    let views = currentViews()
    for name in reported.keys.sorted() where views[name] == nil { reports.append(.removed(name)) }
    for (name, view) in views.sorted(by: { $0.key < $1.key }) {
      if let old = reported[name] {
        if old != view { reports.append(.updated(view)) }
      } else {
        reports.append(.resolved(view))
      }
    }
    reported = views
    return reports
  }

  private func currentViews() -> [DomainName: ResolvedInstance] {
    var views: [DomainName: ResolvedInstance] = [:]
    var textReceived: [DomainName: Duration] = [:]
    for id in interfaces.keys.sorted() {
      for name in cachedInstances(on: id) {
        guard let service = newestService(of: name, on: id), service.port != 0,
          let text = Self.newest(cache.entries(name, .txt, on: id)), case .text(let strings) = text.record.data
        else { continue }
        let endpoints = addresses(of: service.target, on: id).sorted().map {
          ResolvedInstance.Endpoint(interface: id, address: $0, port: service.port)
        }
        if endpoints.isEmpty { continue }
        var view = views[name] ?? ResolvedInstance(name: name, text: strings, endpoints: [])
        view.endpoints += endpoints
        if textReceived[name].map({ text.received > $0 }) ?? true {
          view.text = strings
          textReceived[name] = text.received
        }
        views[name] = view
      }
    }
    return views
  }
}
