import PiconetDNSSD

/// The choice of the found instances that are resolved and kept. A value.
///
/// Avahi doesn't say which device has sent a record, so places are shared by the address that an instance leads to.
/// While all are taken, the address with the most gives one up. If each address has one, the oldest goes, once a
/// second. The first 256 stay.
struct AvahiInstances: Sendable {
  typealias Key = AvahiInstance.Key

  enum Step: Sendable, Hashable {
    case resolve(Key, number: Int)
    case free(path: String)
  }

  /// The end of an instance's wait. Of equal times the smaller number came first.
  private struct Wait: Comparable {
    var until: Duration
    var number: Int

    static func < (left: Wait, right: Wait) -> Bool { (left.until, left.number) < (right.until, right.number) }
  }

  /// The most instances that are known, on all interfaces: beyond it the one that would be tried last is forgotten.
  /// Avahi keeps 4096 records of an interface.
  static let knownLimit = MulticastDNS.cachedRecords
  /// The most that are kept resolved. Avahi allows a program 1024 objects.
  static let placeLimit = MulticastDNS.instancesPerInterface
  static let settledPlaces = MulticastDNS.settledInstances
  /// The most that are being resolved.
  static let resolvingLimit = 64
  /// The time after which an unfinished attempt is postponed, so that others have their turn.
  static let patience = Duration.seconds(1)

  private var known: [Key: AvahiInstance] = [:]
  /// Instances that wait.
  private var waiting: [Key: Wait] = [:]
  /// Instances that are being resolved, with the start of each attempt.
  private var resolving: [Key: Duration] = [:]
  private var keys: [String: Key] = [:]
  /// The number of known instances on each interface.
  private var interfaces: [InterfaceID: Int] = [:]
  /// The number of places that lead to each address.
  private var shares: [IPAddress: Int] = [:]
  private(set) var placeCount = 0
  private var lastNumber = 0
  private var takesNewest = false
  private var mayDisplace = Duration.zero
  private var steps: [Step] = []
  private var changed: Set<[UInt8]> = []

  var knownCount: Int { known.count }

  // MARK: facts

  mutating func appeared(_ key: Key, isLocal: Bool, at now: Duration) {
    if known[key] != nil {
      known[key]?.isLocal = isLocal
      return
    }
    if known.count >= Self.knownLimit {
      guard let last = waiting.max(by: { $0.value < $1.value })?.key else { return }
      disappeared(last)
    }
    known[key] = AvahiInstance(isLocal: isLocal, at: now)
    wait(key, until: now)
    interfaces[key.interface, default: 0] += 1
  }

  mutating func disappeared(_ key: Key) {
    leaveStage(key)
    guard known.removeValue(forKey: key) != nil, let count = interfaces[key.interface] else { return }
    interfaces[key.interface] = count > 1 ? count - 1 : nil
  }

  /// Removes the instances of one family, or of interfaces that are no longer wanted.
  mutating func removeAll(where isGone: (InterfaceID) -> Bool) {
    for key in known.keys.sorted() where isGone(key.interface) { disappeared(key) }
  }

  /// - Parameter path: the path of the resolver; nil: Avahi gave none.
  mutating func answered(_ key: Key, number: Int, path: String?, at now: Duration) {
    guard let instance = known[key], instance.stage == .asked(number: number) else {
      if let path { steps.append(.free(path: path)) }
      return
    }
    guard let path else { return postpone(key, at: now) }
    known[key]?.stage = .resolving(path: path)
    keys[path] = key
  }

  /// - Parameter finding: nil: the result can't be used.
  mutating func found(_ finding: AvahiInstance.Finding?, path: String, at now: Duration) {
    guard let key = keys[path], let instance = known[key] else { return }
    guard let finding else {
      known[key]?.pause = AvahiInstance.longestPause
      return postpone(key, at: now)
    }
    var place: Int?
    if case .found(_, let before, let number) = instance.stage {
      release(before.address)
      place = number
    }
    guard place != nil || makeRoom(for: finding.address, at: now) else {
      known[key]?.pause = AvahiInstance.longestPause
      return postpone(key, at: now)
    }
    lastNumber += 1
    known[key]?.stage = .found(path: path, finding, place: place ?? lastNumber)
    known[key]?.pause = AvahiInstance.firstPause
    resolving[key] = nil
    placeCount += 1
    shares[finding.address, default: 0] += 1
    changed.insert(key.label)
  }

  /// Notes that Avahi has given up on a resolver.
  mutating func failed(path: String, at now: Duration) {
    if let key = keys[path] { postpone(key, at: now) }
  }

  // MARK: places

  /// - Returns: whether there is a place for an instance that leads to this address.
  private mutating func makeRoom(for address: IPAddress, at now: Duration) -> Bool {
    if placeCount < Self.placeLimit { return true }
    let share = shares[address, default: 0]
    let isOutdone = shares.values.contains { $0 > share + 1 }
    guard isOutdone || share == 0 && now >= mayDisplace else { return false }
    let held = known.compactMap { key, instance -> (key: Key, address: IPAddress, place: Int)? in
      guard case .found(_, let finding, let place) = instance.stage else { return nil }
      return (key, finding.address, place)
    }
    let unsettled = held.sorted { $0.place < $1.place }.dropFirst(Self.settledPlaces)
    let most = unsettled.max {
      (shares[$0.address, default: 0], $0.place) < (shares[$1.address, default: 0], $1.place)
    }
    if isOutdone, let most, shares[most.address, default: 0] > share + 1,
      let last = unsettled.last(where: { $0.address == most.address })
    {
      giveUp(last.key, at: now)
      return true
    }
    guard share == 0, now >= mayDisplace, let first = unsettled.first else { return false }
    mayDisplace = now + MulticastDNS.displacementInterval
    giveUp(first.key, at: now)
    return true
  }

  private mutating func giveUp(_ key: Key, at now: Duration) {
    known[key]?.pause = AvahiInstance.longestPause
    postpone(key, at: now)
  }

  private mutating func release(_ address: IPAddress) {
    placeCount -= 1
    let left = shares[address, default: 1] - 1
    shares[address] = left > 0 ? left : nil
  }

  private mutating func postpone(_ key: Key, at now: Duration) {
    leaveStage(key)
    guard var instance = known[key] else { return }
    instance.stage = .waiting(until: now + instance.pause)
    wait(key, until: now + instance.pause)
    instance.pause = min(instance.pause * 2, AvahiInstance.longestPause)
    known[key] = instance
  }

  private mutating func wait(_ key: Key, until time: Duration) {
    lastNumber += 1
    waiting[key] = Wait(until: time, number: lastNumber)
  }

  private mutating func leaveStage(_ key: Key) {
    waiting[key] = nil
    resolving[key] = nil
    switch known[key]?.stage {
    case .resolving(let path): free(path)
    case .found(let path, let finding, _):
      free(path)
      release(finding.address)
      changed.insert(key.label)
    // The answer to one that was asked finds nothing, and frees the path.
    case .asked, .waiting, nil: break
    }
  }

  private mutating func free(_ path: String) {
    keys[path] = nil
    steps.append(.free(path: path))
  }

  // MARK: steps

  /// Returns the steps to take now. Call it after each fact, and at `nextDeadline`.
  mutating func takeSteps(at now: Duration) -> [Step] {
    let late = resolving.filter { $0.value + Self.patience <= now }.keys
    for key in late.sorted() { postpone(key, at: now) }
    while resolving.count < Self.resolvingLimit, let key = nextToResolve(at: now) {
      lastNumber += 1
      waiting[key] = nil
      resolving[key] = now
      known[key]?.stage = .asked(number: lastNumber)
      steps.append(.resolve(key, number: lastNumber))
    }
    defer { steps = [] }
    return steps
  }

  /// Returns alternately the instance that has waited longest and the one that came last. So a newcomer is resolved in
  /// a moment even after a flood, and newcomers don't keep the others waiting for ever.
  private mutating func nextToResolve(at now: Duration) -> Key? {
    let due = waiting.lazy.filter { $0.value.until <= now }
    takesNewest.toggle()
    return takesNewest ? due.max { $0.value < $1.value }?.key : due.min { $0.value < $1.value }?.key
  }

  var nextDeadline: Duration? {
    var next = resolving.values.min().map { $0 + Self.patience }
    if resolving.count < Self.resolvingLimit, let due = waiting.values.min()?.until { next = min(next ?? due, due) }
    return next
  }

  /// Returns the names whose findings have changed since the last call.
  mutating func takeChanged() -> [[UInt8]] {
    defer { changed = [] }
    return changed.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Returns the findings for one name, on each interface.
  func found(_ label: [UInt8]) -> [(interface: InterfaceID, isLocal: Bool, finding: AvahiInstance.Finding)] {
    interfaces.keys.sorted().compactMap { interface in
      guard let instance = known[Key(interface: interface, label: label)],
        case .found(_, let finding, _) = instance.stage
      else { return nil }
      return (interface, instance.isLocal, finding)
    }
  }
}
