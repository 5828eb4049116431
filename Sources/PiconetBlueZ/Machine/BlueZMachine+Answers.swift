import PiconetDBusValues
import PiconetEngine
import PiconetSDP

/// The handling of answers.
extension BlueZMachine {
  mutating func conclude(_ action: BlueZAction, _ result: Result<[DBusValue], DBusFailure>, at now: Instant)
    -> [BlueZEffect]
  {
    // A refusal may have come too late.
    if action.changesMode { changeUse { $0.shared.modeChangedAt = now } }
    switch result {
    case .success(let values): return succeeded(action, values, at: now)
    case .failure(let failure):
      if isAsGoodAsDone(action, failure) { return succeeded(action, [], at: now) }
      let count = (failed[action.kind]?.count ?? 0) + 1
      failed[action.kind] = FailedAttempt(
        count: count, retryAt: now + pause(after: count, of: action, failure), failure: failure)
      refused(action, failure, at: now)
      if action.isRestoring, count >= BlueZAction.attemptsToRestore {
        giveUp(action, at: now)
        failed[action.kind] = nil
      }
      return []
    }
  }

  /// The number of UUIDs for the profile that are tried without a pause: another program may already have one of them.
  static let profileAttempts = 16

  private func pause(after count: Int, of action: BlueZAction, _ failure: DBusFailure) -> Duration {
    if isOver { return .milliseconds(100) }
    var count = count
    if case .registerProfile = action, Self.isTaken(failure) {
      count -= Self.profileAttempts - 1
      if count <= 0 { return .zero }
    }
    return min(.milliseconds(500 << Int64(min(count, 7))), settings.longestRetry)
  }

  /// Whether the failure is "UUID already registered", or another one of a forbidden action.
  private static func isTaken(_ failure: DBusFailure) -> Bool {
    failure.name == "org.bluez.Error.AlreadyExists" || failure.name == "org.bluez.Error.NotPermitted"
  }

  /// Whether the refusal means that the wanted state is reached already.
  private func isAsGoodAsDone(_ action: BlueZAction, _ failure: DBusFailure) -> Bool {
    switch action {
    case .startDiscovery: failure.name == "org.bluez.Error.InProgress"
    // "No discovery started", or the adapter is off: nothing of this node is left.
    case .stopDiscovery: failure.name == "org.bluez.Error.Failed" || failure.name == "org.bluez.Error.NotReady"
    case .unregisterProfile, .unregisterAgent, .unregisterAdvertisement:
      failure.name == "org.bluez.Error.DoesNotExist"
    case .registerAgent: failure.name == "org.bluez.Error.AlreadyExists"
    case .list, .power, .enter, .leave, .registerProfile, .registerAdvertisement, .setFilter, .clearFilter: false
    }
  }

  private mutating func succeeded(_ action: BlueZAction, _ values: [DBusValue], at now: Instant) -> [BlueZEffect] {
    failed[action.kind] = nil
    changeUse { $0.succeeded(action, at: now) }
    switch action {
    case .list:
      isReady = true
      if let answer = values.first { follow(tree.replace(by: answer), at: now) }
    case .power(let isOn): assume("Powered", .bool(isOn))
    case .enter(.discoverable(let isOn)), .leave(.discoverable(let isOn)): assume("Discoverable", .bool(isOn))
    case .enter(.timeout(let seconds)), .leave(.timeout(let seconds)):
      assume("DiscoverableTimeout", .uint32(seconds))
    case .registerProfile(let content): profile = .held(content)
    case .unregisterProfile: profile = .none
    case .registerAgent: agentVisit.began()
    case .unregisterAgent: agentVisit.ended(at: now)
    case .registerAdvertisement, .unregisterAdvertisement, .setFilter, .clearFilter: break
    case .startDiscovery:
      schedule.started(at: now)
      return schedule.window.map { [.scans($0)] } ?? []
    case .stopDiscovery: if schedule.stopped(at: now) { return scanEnded() }
    }
    return []
  }

  /// Changes the use of the adapter. Without one there is nothing to note: answers about a former adapter are ignored.
  private mutating func changeUse(_ change: (inout AdapterUse) -> Void) {
    guard var changed = use else { return }
    change(&changed)
    use = changed
  }

  /// Notes a value that we have set even before its signal comes, for the other nodes of this process as well.
  private mutating func assume(_ property: String, _ value: DBusValue) {
    if let path = use?.path { tree.assume(path, property, value) }
    changeUse { used in
      used.shared.set(property, value)
      used.knownSettings = used.shared.settingCount
    }
  }

  private mutating func scanEnded() -> [BlueZEffect] {
    book.scanEnded { [tree] path in
      tree.devices[path].map { $0.isConnected || $0.isHeard } ?? false
    }
  }

  private mutating func refused(_ action: BlueZAction, _ failure: DBusFailure, at now: Instant) {
    let isUncertain = failure.isUncertain || failure.name == "org.bluez.Error.AlreadyExists"
    switch action {
    case .power(true):
      // Blocked by rfkill, or not permitted: that is left to a user who may switch it.
      let isHopeless = failed[.powerOn]?.count ?? 0 >= 3
      changeUse { use in
        if failure.isUncertain { use.shared.hasPowered = true }
        if isHopeless { use.shared.mayPower = false }
      }
    case .registerProfile:
      if isUncertain { profile = .uncertain }
      // Perhaps another program has this UUID: the next attempt takes another one.
      if Self.isTaken(failure) { profileAttempt += 1 }
    case .registerAgent:
      // If this user may not register agents, the adapter stays as it is.
      if isUncertain { agentVisit.began() } else { agentVisit.ended(at: now) }
    case .registerAdvertisement: if isUncertain { changeUse { $0.advertisement = .uncertain } }
    case .enter(.discoverable): if failure.isUncertain { changeUse { $0.shared.isModeUncertain = true } }
    case .enter(.timeout): if failure.isUncertain { changeUse { $0.shared.isTimeoutUncertain = true } }
    case .setFilter, .clearFilter: if failure.isUncertain { changeUse { $0.isFilterUncertain = true } }
    case .startDiscovery: if failure.isUncertain { changeUse { $0.discovery = .uncertain } }
    case .list, .power(false), .leave, .unregisterProfile, .unregisterAgent, .unregisterAdvertisement, .stopDiscovery:
      break
    }
  }

  /// Gives up taking something back. The machine acts as if it had succeeded, since a machine that never ends helps no
  /// one.
  private mutating func giveUp(_ action: BlueZAction, at now: Instant) {
    switch action {
    case .power: changeUse { $0.shared.hasPowered = false }
    case .leave: changeUse { $0.shared.former = nil }
    case .unregisterProfile: profile = .none
    case .unregisterAgent: agentVisit.ended(at: now)
    case .unregisterAdvertisement: changeUse { $0.advertisement = .none }
    case .clearFilter: changeUse { $0.filter = nil }
    case .stopDiscovery:
      changeUse { $0.discovery = .none }
      schedule.interrupted()
    case .list, .enter, .registerProfile, .registerAgent, .registerAdvertisement, .setFilter, .startDiscovery: break
    }
  }
}

extension AdapterUse {
  /// Notes the effect of an action on the adapter.
  fileprivate mutating func succeeded(_ action: BlueZAction, at now: Instant) {
    switch action {
    case .power(let isOn):
      shared.hasPowered = isOn
      // An adapter that this process has switched off may be switched on again.
      shared.mayPower = !isOn
    case .enter(.discoverable): shared.isModeUncertain = false
    case .enter(.timeout): shared.isTimeoutUncertain = false
    // The node that advertises next need not wait: no user has switched it off.
    case .leave(.discoverable):
      shared.isModeUncertain = false
      shared.modeSetAt = nil
    case .leave(.timeout):
      shared.isTimeoutUncertain = false
      shared.timeoutSetAt = nil
    case .registerAdvertisement(let content):
      advertisement = .held(content)
      advertisedAt = now
    case .unregisterAdvertisement: advertisement = .none
    case .setFilter(let service):
      filter = service
      isFilterUncertain = false
    case .clearFilter:
      filter = nil
      isFilterUncertain = false
    case .startDiscovery(let service): discovery = .held(service)
    case .stopDiscovery: discovery = .none
    case .list, .registerProfile, .unregisterProfile, .registerAgent, .unregisterAgent: break
    }
  }
}
