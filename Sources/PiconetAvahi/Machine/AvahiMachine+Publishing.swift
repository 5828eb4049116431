import PiconetDBusValues
import PiconetDNSSD

/// Our services in Avahi's entry groups.
extension AvahiMachine {
  /// Updates Avahi's groups to the errand.
  mutating func updatePublications(at now: Duration) {
    let places = AvahiPlace.all(of: errand)
    // Avahi takes no empty group.
    let services = places.isEmpty ? [:] : errand.services
    for (id, publication) in publications.sorted(by: { $0.key < $1.key }) where services[id] == nil {
      publications[id] = nil
      if let path = publication.path { call(.none, path, AvahiNames.entryGroup, "Free") }
    }
    for (id, wanted) in services.sorted(by: { $0.key < $1.key }) {
      if publications[id] == nil {
        publications[id] = AvahiPublication(wanted, places)
        askForGroup(id)
      } else {
        revise(id, wanted, places, at: now)
      }
    }
  }

  private mutating func askForGroup(_ id: Int) {
    publications[id]?.stage = .asked
    publications[id]?.deadline = nil
    call(.group(id), AvahiNames.serverPath, AvahiNames.server, "EntryGroupNew")
  }

  private mutating func revise(_ id: Int, _ wanted: ServiceRegistration, _ places: [AvahiPlace], at now: Duration) {
    guard var publication = publications[id] else { return }
    let before = publication
    if wanted.label != before.wanted.label { publication.attempt = 1 }
    publication.wanted = wanted
    publication.places = places
    publication.failures = before.failures.filter { errand.families.contains($0.key) }
    publications[id] = publication
    switch publication.stage {
    case .asked, .pausing: break
    case .empty: fill(id, at: now)
    case .filled, .established:
      if wanted.label != before.wanted.label || wanted.port != before.wanted.port || places != before.places {
        fill(id, at: now)
      } else if wanted.text != before.wanted.text {
        updateText(publication, id)
      }
    }
  }

  /// Gives Avahi the entries of a publication that has a group.
  private mutating func fill(_ id: Int, at now: Duration) {
    guard var publication = publications[id] else { return }
    guard let path = publication.path else { return askForGroup(id) }
    let hadEntries = publication.hasEntries
    publication.filling += 1
    publication.hasEntries = true
    publication.stage = .filled
    publication.proven = []
    publication.deadline = now + Self.probingPatience
    publications[id] = publication
    let purpose = AvahiCall.Purpose.entries(id, filling: publication.filling)
    if hadEntries { call(purpose, path, AvahiNames.entryGroup, "Reset") }
    for place in publication.places {
      call(
        purpose, path, AvahiNames.entryGroup, "AddService",
        Self.name(of: publication, at: place) + [
          // Avahi's own host, whose addresses it publishes.
          .string(""), .uint16(publication.wanted.port), Self.text(publication.wanted.text),
        ])
    }
    call(purpose, path, AvahiNames.entryGroup, "Commit")
  }

  private mutating func updateText(_ publication: AvahiPublication, _ id: Int) {
    guard let path = publication.path else { return }
    for place in publication.places {
      call(
        .entries(id, filling: publication.filling), path, AvahiNames.entryGroup, "UpdateServiceTxt",
        Self.name(of: publication, at: place) + [Self.text(publication.wanted.text)])
    }
  }

  /// Returns the first arguments of each method for an entry.
  private static func name(of publication: AvahiPublication, at place: AvahiPlace) -> [DBusValue] {
    [
      .int32(place.interface), .int32(place.proto), .uint32(AvahiNames.publishFlags),
      .string(String(decoding: publication.label, as: UTF8.self)), .string(AvahiNames.type),
      .string(AvahiNames.domain),
    ]
  }

  private static func text(_ strings: [[UInt8]]) -> DBusValue { .array(of: "ay", strings.map(DBusValue.bytes)) }

  /// Empties the groups because Avahi's server is not ready. It gets our services again when it is.
  mutating func emptyPublications() {
    for id in publications.keys.sorted() where publications[id]?.stage != .asked {
      publications[id]?.stage = .empty
      publications[id]?.filling += 1
      publications[id]?.deadline = nil
      publications[id]?.hasEntries = false
      if let path = publications[id]?.path { call(.none, path, AvahiNames.entryGroup, "Reset") }
    }
  }

  // MARK: answers

  mutating func groupAnswered(_ id: Int, _ result: Result<[DBusValue], DBusFailure>, at now: Duration) {
    let path = try? result.get().first?.text
    guard let publication = publications[id], publication.stage == .asked, publication.path == nil else {
      // It was withdrawn meanwhile.
      if let path { call(.none, path, AvahiNames.entryGroup, "Free") }
      return
    }
    guard let path else {
      if case .failure(let failure) = result { giveUp(id, Self.failure(failure), at: now) }
      return
    }
    publications[id]?.path = path
    publications[id]?.hasEntries = false
    publications[id]?.stage = .empty
    if phase == .running { fill(id, at: now) }
  }

  mutating func entriesAnswered(
    _ id: Int, _ filling: Int, _ result: Result<[DBusValue], DBusFailure>, at now: Duration
  ) {
    guard publications[id]?.filling == filling, case .failure(let failure) = result else { return }
    if failure.name == AvahiNames.collision { collide(id, at: now) } else { giveUp(id, Self.failure(failure), at: now) }
  }

  mutating func groupChanged(_ path: String, _ arguments: [DBusValue], at now: Duration) {
    guard let (id, publication) = publications.first(where: { $0.value.path == path }),
      publication.stage == .filled || publication.stage == .established
    else { return }
    switch arguments.first?.integer {
    case AvahiNames.groupEstablished where publication.stage == .filled:
      publications[id]?.stage = .established
      prove(id)
    case AvahiNames.groupCollision: collide(id, at: now)
    case AvahiNames.groupFailure:
      let words = arguments.count > 1 ? arguments[1].text ?? "" : ""
      giveUp(id, .refused(InstanceLabel.displayable(words)), at: now)
    default: break
    }
  }

  /// Asks Avahi for the service over each family, since Avahi reports nothing about families or interfaces that it
  /// doesn't use.
  private mutating func prove(_ id: Int) {
    guard let publication = publications[id] else { return }
    publications[id]?.deadline = nil
    for isIPv6 in errand.families.sorted(by: { !$0 && $1 }) where !publication.proven.contains(isIPv6) {
      let proto = DBusValue.int32(AvahiNames.proto(isIPv6: isIPv6))
      call(
        .proof(id, filling: publication.filling, isIPv6: isIPv6), AvahiNames.serverPath, AvahiNames.server,
        "ResolveService",
        [
          .int32(AvahiNames.anyInterface), proto, .string(String(decoding: publication.label, as: UTF8.self)),
          .string(AvahiNames.type), .string(AvahiNames.domain), proto, .uint32(0),
        ])
    }
  }

  mutating func proofAnswered(
    _ id: Int, _ filling: Int, _ isIPv6: Bool, _ result: Result<[DBusValue], DBusFailure>, at now: Duration
  ) {
    guard publications[id]?.filling == filling, publications[id]?.stage == .established else { return }
    switch result {
    case .success:
      publications[id]?.proven.insert(isIPv6)
      publications[id]?.failures[isIPv6] = nil
    case .failure(let failure):
      publications[id]?.failures[isIPv6] = failure.name == AvahiNames.timeout ? .unpublished : Self.failure(failure)
      publications[id]?.deadline = now + Self.retryInterval
    }
  }

  // MARK: Failures

  /// Handles a name that is another's. The next one is tried; if names go on being taken, after a pause.
  private mutating func collide(_ id: Int, at now: Duration) {
    guard var publication = publications[id] else { return }
    publication.attempt += 1
    publication.conflicts = publication.conflicts.filter { $0 > now - MulticastDNS.conflictWindow } + [now]
    publications[id] = publication
    guard publication.conflicts.count > MulticastDNS.conflictsInWindow else { return fill(id, at: now) }
    publications[id]?.stage = .pausing
    publications[id]?.filling += 1
    publications[id]?.deadline = now + MulticastDNS.conflictWindow
  }

  private mutating func giveUp(_ id: Int, _ failure: AvahiFailure, at now: Duration) {
    if let path = publications[id]?.path { call(.none, path, AvahiNames.entryGroup, "Free") }
    publications[id]?.path = nil
    publications[id]?.stage = .pausing
    publications[id]?.filling += 1
    publications[id]?.deadline = now + Self.retryInterval
    for isIPv6 in errand.families { publications[id]?.failures[isIPv6] = failure }
  }

  mutating func publicationTimes(at now: Duration) {
    for (id, publication) in publications.sorted(by: { $0.key < $1.key }) {
      guard let deadline = publication.deadline, deadline <= now else { continue }
      switch publication.stage {
      case .asked, .empty: publications[id]?.deadline = nil
      case .filled: giveUp(id, .silent, at: now)
      case .established: prove(id)
      case .pausing: fill(id, at: now)
      }
    }
  }
}
