import PiconetDBusValues
import PiconetEngine
import PiconetSDP
import PiconetWire

/// The choice of the next step, and its call.
extension BlueZMachine {
  /// Returns the first step that is not done yet and need not wait. Steps that take things back come before those that
  /// set things up. First of all come those for things that a killed program would leave behind.
  /// - Parameter withTurn: false: no step that only one node of a process takes at a time, and no step that must come
  ///   after such a step.
  ///   only after it.
  func nextAction(at now: Instant, withTurn: Bool = true) -> BlueZAction? {
    if !isReady { return isOver || !mayTry(.list, now) ? nil : .list }
    if let action = restoringAction(at: now) { return withTurn || !action.needsTurn ? action : nil }
    // Nothing is set up while something is about to be taken back.
    if let use, let adapter, isToBeWithdrawn(use, adapter, at: now), !isSettled(use, at: now) { return nil }
    return settingUpAction(at: now, withTurn: withTurn)
  }

  private func mayTry(_ kind: BlueZAction.Kind, _ now: Instant) -> Bool {
    failed[kind].map { $0.retryAt <= now } ?? true
  }

  func isOurs(_ timeout: UInt32) -> Bool {
    timeout == settings.discoverableTimeout || timeout == settings.discoverableTimeout + 1
  }

  private func restoringAction(at now: Instant) -> BlueZAction? {
    if agentVisit.phase == .there, mayTry(.unregisterAgent, now) { return .unregisterAgent }
    if let use, let adapter {
      let scans = schedule.wantsScan(at: now) ? activeSearch?.service : nil
      if use.discovery.isStale(wanted: scans), mayTry(.stopDiscovery, now) { return .stopDiscovery }
      if activeSearch == nil, use.filter != nil, use.discovery.isNone, mayTry(.clearFilter, now) { return .clearFilter }
      // Before the mode: the kernel refuses to change the mode of an adapter that advertises as discoverable.
      if isToBeWithdrawn(use, adapter, at: now), mayTry(.unregisterAdvertisement, now) {
        return isSettled(use, at: now) ? .unregisterAdvertisement : nil
      }
      if let former = use.shared.former, activeOffer == nil, !use.others.needMode, mayTry(.leaveMode, now),
        let change = leavingChange(former)
      {
        return .leave(change)
      }
    }
    if profile.isStale(wanted: wantedProfile), mayTry(.unregisterProfile, now) { return .unregisterProfile }
    if let use, let adapter, use.shared.hasPowered, use.shared.former == nil, activeOffer == nil, activeSearch == nil,
      !activelyExpects, !use.others.needPower, adapter.isPowered, mayTry(.powerOff, now),
      // An adapter with a newly connected device, such as a keyboard, stays on.
      !tree.devices.values.contains(where: { $0.adapterPath == use.path && $0.isConnected })
    {
      return .power(false)
    }
    return nil
  }

  /// Returns whether our advertisement is not the wanted one, or has to be registered again.
  private func isToBeWithdrawn(_ use: AdapterUse, _ adapter: BlueZAdapter, at now: Instant) -> Bool {
    let isStale = use.advertisement.isStale(wanted: adapter.advertisementsLeft == nil ? nil : wantedAdvertisement)
    return isStale || isToBeRenewed(use, at: now)
  }

  /// The wanted advertisement over LE, if the adapter supports it.
  private var wantedAdvertisement: LowEnergyAdvertisement? {
    guard settings.usesLowEnergy else { return nil }
    return activeOffer.map { .session($0.service) } ?? (activelyExpects ? .silent : nil)
  }

  /// Returns whether bluetoothd has had time to renew advertisements since the mode was changed for us.
  private func isSettled(_ use: AdapterUse, at now: Instant) -> Bool {
    use.shared.modeChangedAt.map { $0 + settings.settling <= now } ?? true
  }

  /// Returns whether the advertisement has to be renewed: a silenced one goes on air again when it is registered again.
  private func isToBeRenewed(_ use: AdapterUse, at now: Instant) -> Bool {
    use.isSilenced && !use.advertisement.isNone
      && use.advertisedAt.map { $0 + settings.leastReadvertising <= now } ?? true
  }

  /// Returns the next change back towards the adapter's former state: first the mode, then its timeout.
  func leavingChange(_ former: DiscoverableMode) -> BlueZAction.ModeChange? {
    guard let use, let adapter else { return nil }
    if adapter.isDiscoverable || use.shared.isModeUncertain, !former.isDiscoverable { return .discoverable(false) }
    if adapter.discoverableTimeout != former.timeout || use.shared.isTimeoutUncertain {
      return .timeout(former.timeout)
    }
    // An adapter that was discoverable forever becomes so again; one with a timeout would be off by now.
    if !adapter.isDiscoverable, former.isDiscoverable, former.timeout == 0, adapter.isPowered {
      return .discoverable(true)
    }
    return nil
  }

  private func settingUpAction(at now: Instant, withTurn: Bool) -> BlueZAction? {
    guard let use, let adapter, activeOffer != nil || activeSearch != nil || activelyExpects else { return nil }
    if withTurn, !adapter.isPowered, use.shared.mayPower, settings.powersOn, !adapter.isBlocked, mayTry(.powerOn, now) {
      return .power(true)
    }
    if let content = wantedProfile, profile.isNone, tree.hasProfileManager, mayTry(.registerProfile, now) {
      return .registerProfile(content)
    }
    guard adapter.isPowered else { return nil }
    // Over LE bluetoothd asks no agent.
    if activeOffer != nil, settings.usesClassic, agentVisit.phase == .due, adapter.isPairable == false {
      return .registerAgent
    }
    if withTurn, activeOffer != nil, mayTry(.enterMode, now), let change = enteringChange(use, adapter, now) {
      return .enter(change)
    }
    if withTurn, let content = wantedAdvertisement, use.advertisement.isNone, adapter.advertisementsLeft ?? 0 > 0,
      mayTry(.registerAdvertisement, now)
    {
      return .registerAdvertisement(content)
    }
    if let search = activeSearch, schedule.wantsScan(at: now), use.discovery.isNone, mayTry(.discover, now) {
      return use.filter == search.service && !use.isFilterUncertain
        ? .startDiscovery(search.service) : .setFilter(search.service)
    }
    return nil
  }

  /// Returns the next change towards the discoverable mode. The timeout comes first, so that the adapter is never
  /// discoverable for longer.
  private func enteringChange(_ use: AdapterUse, _ adapter: BlueZAdapter, _ now: Instant) -> BlueZAction.ModeChange? {
    func isDue(_ last: Instant?, after pause: Duration) -> Bool { last.map { $0 + pause <= now } ?? true }
    let ours = settings.discoverableTimeout
    if !isOurs(adapter.discoverableTimeout) {
      return isDue(use.shared.timeoutSetAt, after: settings.leastReassertion) ? .timeout(ours) : nil
    }
    if !adapter.isDiscoverable {
      return isDue(use.shared.modeSetAt, after: settings.leastReassertion) ? .discoverable(true) : nil
    }
    // Only a different timeout restarts the time.
    return isDue(use.shared.timeoutSetAt, after: settings.renewal)
      ? .timeout(adapter.discoverableTimeout == ours ? ours + 1 : ours) : nil
  }

  /// The wanted profile; nil if the record breaks the limits.
  var wantedProfile: ProfileContent? {
    guard let use, let offer = activeOffer else { return nil }
    var content = ProfileContent(service: offer.service, record: offer.record)
    content.record.adapter = use.address
    return content.record.refusal == nil ? content : nil
  }

  /// Returns the UUID under which the profile is registered, which identifies only this node: bluetoothd accepts each
  /// one only once. It is of version 8 (RFC 9562, section 5.8), derived from the service, the incarnation and a number
  /// that changes if another program has the UUID.
  static func profileUUID(_ content: ProfileContent, attempt: UInt64) -> BluetoothUUID {
    func mix(_ value: UInt64) -> UInt64 {
      var random = SeededRandom(seed: value)
      return random.next()
    }
    let incarnation = content.record.incarnation.rawValue
    let high = mix(mix(content.service.high ^ incarnation) ^ attempt)
    let low = mix(mix(content.service.low ^ incarnation) &+ attempt)
    return BluetoothUUID(high: high & ~0xF000 | 0x8000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
  }

  /// Returns the properties. Flags and service take 3 + 18 of the 31 bytes that an advertisement has.
  static func properties(of advertisement: LowEnergyAdvertisement) -> [String: DBusValue] {
    switch advertisement {
    case .session(let service):
      ["Type": .string("peripheral"), "ServiceUUIDs": .strings([service.description]), "Discoverable": .bool(true)]
    case .silent: ["Type": .string("peripheral"), "Discoverable": .bool(false)]
    }
  }

  // MARK: calls

  func call(for action: BlueZAction) -> BlueZCall? {
    switch action {
    case .list:
      return BlueZCall(
        path: "/", interface: BlueZNames.objectManagerInterface, member: "GetManagedObjects", arguments: [],
        timeout: settings.callTimeout)
    case .registerProfile(let content):
      guard let record = try? content.record.attributes(of: content.service) else { return nil }
      let uuid = Self.profileUUID(content, attempt: profileAttempt)
      let options: [String: DBusValue] = [
        "Name": .string("Piconet"), "Role": .string("server"), "AutoConnect": .bool(false),
        "RequireAuthentication": .bool(settings.requiresPairing),
        "RequireAuthorization": .bool(settings.requiresPairing),
        "ServiceRecord": .string(record.xml),
      ]
      return profileCall("RegisterProfile", [.string(uuid.description), .properties(options)])
    case .unregisterProfile: return profileCall("UnregisterProfile", [])
    case .registerAgent: return agentCall("RegisterAgent", [.string("NoInputNoOutput")])
    case .unregisterAgent: return agentCall("UnregisterAgent", [])
    case .power(let isOn): return set("Powered", .bool(isOn))
    case .enter(.discoverable(let isOn)), .leave(.discoverable(let isOn)): return set("Discoverable", .bool(isOn))
    case .enter(.timeout(let seconds)), .leave(.timeout(let seconds)):
      return set("DiscoverableTimeout", .uint32(seconds))
    case .registerAdvertisement:
      return adapterCall(
        BlueZNames.advertisingManagerInterface, "RegisterAdvertisement",
        [.path(BlueZNames.ownAdvertisementPath), .properties([:])])
    case .unregisterAdvertisement:
      return adapterCall(
        BlueZNames.advertisingManagerInterface, "UnregisterAdvertisement", [.path(BlueZNames.ownAdvertisementPath)])
    case .setFilter(let service):
      let transport = settings.usesClassic ? (settings.usesLowEnergy ? "auto" : "bredr") : "le"
      let filter: [String: DBusValue] = [
        "UUIDs": .strings([service.description]), "Transport": .string(transport), "DuplicateData": .bool(false),
      ]
      return adapterCall(BlueZNames.adapterInterface, "SetDiscoveryFilter", [.properties(filter)])
    case .clearFilter:
      return adapterCall(BlueZNames.adapterInterface, "SetDiscoveryFilter", [.properties([:])])
    case .startDiscovery: return adapterCall(BlueZNames.adapterInterface, "StartDiscovery", [])
    case .stopDiscovery: return adapterCall(BlueZNames.adapterInterface, "StopDiscovery", [])
    }
  }

  private func profileCall(_ member: String, _ arguments: [DBusValue]) -> BlueZCall {
    BlueZCall(
      path: BlueZNames.managerPath, interface: BlueZNames.profileManagerInterface, member: member,
      arguments: [.path(BlueZNames.ownProfilePath)] + arguments, timeout: settings.callTimeout)
  }

  private func agentCall(_ member: String, _ arguments: [DBusValue]) -> BlueZCall {
    BlueZCall(
      path: BlueZNames.managerPath, interface: BlueZNames.agentManagerInterface, member: member,
      arguments: [.path(BlueZNames.ownAgentPath)] + arguments, timeout: settings.callTimeout)
  }

  private func adapterCall(_ interface: String, _ member: String, _ arguments: [DBusValue]) -> BlueZCall? {
    use.map {
      BlueZCall(
        path: $0.path, interface: interface, member: member, arguments: arguments, timeout: settings.callTimeout)
    }
  }

  private func set(_ property: String, _ value: DBusValue) -> BlueZCall? {
    adapterCall(
      BlueZNames.propertiesInterface, "Set",
      [.string(BlueZNames.adapterInterface), .string(property), .variant(value)])
  }
}
