import PiconetEngine
import PiconetSDP

/// What an answer means.
extension BlueZMachine {
  mutating func conclude(_ action: BlueZAction, _ result: Result<[DBusValue], DBusFailure>, at now: Instant)
    -> [BlueZEffect]
  {
    switch result {
    case .success(let values): return succeeded(action, values, at: now)
    case .failure(let failure):
      if isAsGoodAsDone(action, failure) { return succeeded(action, [], at: now) }
      let count = (failed[action.kind]?.count ?? 0) + 1
      failed[action.kind] = FailedAttempt(
        count: count, retryAt: now + pause(after: count, of: action, failure), failure: failure)
      refused(action, failure)
      if action.isRestoring, count >= BlueZAction.attemptsToRestore {
        giveUp(action)
        failed[action.kind] = nil
      }
      return []
    }
  }

  /// How many UUIDs for the profile are tried without a pause: somebody may already have one of them.
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

  /// "UUID already registered", or something else that is not permitted.
  private static func isTaken(_ failure: DBusFailure) -> Bool {
    failure.name == "org.bluez.Error.AlreadyExists" || failure.name == "org.bluez.Error.NotPermitted"
  }

  /// Refusals which mean that things already are as we want them.
  private func isAsGoodAsDone(_ action: BlueZAction, _ failure: DBusFailure) -> Bool {
    switch action {
    case .startDiscovery: failure.name == "org.bluez.Error.InProgress"
    // "No discovery started", or the adapter is off: nothing of ours is left.
    case .stopDiscovery: failure.name == "org.bluez.Error.Failed" || failure.name == "org.bluez.Error.NotReady"
    case .unregisterProfile, .unregisterAdvertisement: failure.name == "org.bluez.Error.DoesNotExist"
    default: false
    }
  }

  private mutating func succeeded(_ action: BlueZAction, _ values: [DBusValue], at now: Instant) -> [BlueZEffect] {
    failed[action.kind] = nil
    switch action {
    case .list:
      isReady = true
      if let answer = values.first { follow(tree.replace(by: answer), at: now) }
    case .power(let isOn):
      use?.hasPowered = isOn
      use?.mayPower = false
      assume("Powered", .bool(isOn))
    case .enter(.discoverable(let isOn)), .leave(.discoverable(let isOn)):
      use?.isModeUncertain = false
      use?.modeChangedAt = now
      assume("Discoverable", .bool(isOn))
    case .enter(.timeout(let seconds)), .leave(.timeout(let seconds)):
      use?.isTimeoutUncertain = false
      assume("DiscoverableTimeout", .uint32(seconds))
    case .registerProfile(let content): profile = .held(content)
    case .unregisterProfile: profile = .none
    case .registerAdvertisement(let service):
      use?.advertisement = .held(service)
      use?.advertisedAt = now
    case .unregisterAdvertisement: use?.advertisement = .none
    case .setFilter(let service):
      use?.filter = service
      use?.isFilterUncertain = false
    case .clearFilter:
      use?.filter = nil
      use?.isFilterUncertain = false
    case .startDiscovery(let service):
      use?.discovery = .held(service)
      schedule.started(at: now)
      return schedule.window.map { [.scans($0)] } ?? []
    case .stopDiscovery:
      use?.discovery = .none
      if schedule.stopped(at: now) { return scanEnded() }
    }
    return []
  }

  /// What we have set ourselves counts even before the signal says so.
  private mutating func assume(_ property: String, _ value: DBusValue) {
    if let path = use?.path { tree.assume(path, property, value) }
  }

  private mutating func scanEnded() -> [BlueZEffect] {
    book.scanEnded { [tree] path in
      tree.devices[path].map { $0.isConnected || $0.isHeard } ?? false
    }
  }

  private mutating func refused(_ action: BlueZAction, _ failure: DBusFailure) {
    let isTaken = failure.name == "org.bluez.Error.AlreadyExists"
    switch action {
    case .power(true):
      if failure.isUncertain { use?.hasPowered = true }
      // Blocked by rfkill, or not ours to switch: somebody who may will do it.
      if failed[.powerOn]?.count ?? 0 >= 3 { use?.mayPower = false }
    case .registerProfile:
      if failure.isUncertain || isTaken { profile = .uncertain }
      // Perhaps somebody has this UUID: the next attempt takes another one.
      if Self.isTaken(failure) { profileAttempt += 1 }
    case .enter(.discoverable): if failure.isUncertain { use?.isModeUncertain = true }
    case .enter(.timeout): if failure.isUncertain { use?.isTimeoutUncertain = true }
    case .registerAdvertisement: if failure.isUncertain || isTaken { use?.advertisement = .uncertain }
    case .setFilter, .clearFilter: if failure.isUncertain { use?.isFilterUncertain = true }
    case .startDiscovery: if failure.isUncertain { use?.discovery = .uncertain }
    default: break
    }
  }

  /// It can't be taken back: we act as if it had been, since a machine that never ends helps nobody.
  private mutating func giveUp(_ action: BlueZAction) {
    switch action {
    case .power: use?.hasPowered = false
    case .leave: use?.former = nil
    case .unregisterProfile: profile = .none
    case .unregisterAdvertisement: use?.advertisement = .none
    case .clearFilter: use?.filter = nil
    case .stopDiscovery:
      use?.discovery = .none
      schedule.interrupted()
    default: break
    }
  }
}
