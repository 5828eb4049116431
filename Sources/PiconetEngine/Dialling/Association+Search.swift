import PiconetWire

/// The search for a link, if there is no link or a better one is wanted.
extension Association {
  /// Takes a fact about the search for another link. Dials and links may outlive their search; facts about those have
  /// no effect on it.
  /// - Returns: how the association ends because of the fact; nil if it continues.
  func search(_ fact: SearchFact, _ surroundings: Surroundings, _ turn: Turn) -> Ending? {
    var hasRoundEnded: Bool?
    switch fact {
    case .linkLost(let wasDialler): return beginSearch(isDialler: wasDialler, surroundings, turn)
    case .dialFailed(let dial, let failure, let address):
      hasRoundEnded = search?.dialFailed(dial, failure, at: address, searchTerms, turn)
      // Other transports may leave their dials unanswered for a long time.
      if configuration.refusalEndsMembers, hasRoundEnded == false {
        askAgain(after: dial, failure, turn.now)
        return endIfGone(surroundings, turn.now)
      }
    case .strangerAnswered(let dial, let address):
      hasRoundEnded = search?.strangerAnswered(dial, at: address, searchTerms, turn)
    case .otherAnswered(let kind):
      search?.otherAnswered(over: kind)
      return endIfRestarted(surroundings)
    case .linkEnded(let link): search?.linkEnded(link, searchTerms, turn)
    case .sighted: sighted(surroundings, turn)
    case .linked: lookForBetter(surroundings, turn)
    case .timePassed: return endOfSuspension(turn.now) ?? continueSearch(surroundings, turn)
    }
    return hasRoundEnded == true ? endOfRound(surroundings, turn.now) : nil
  }

  /// Begins the search. The side that has dialled the lost link begins at once, and the other side a little later. That
  /// way there is nearly always one new link, and not two.
  private func beginSearch(isDialler: Bool, _ surroundings: Surroundings, _ turn: Turn) -> Ending? {
    // The association may have resumed over another link at once. And a search for a better link has dialled already.
    guard suspension != nil, search?.isWaiting != false else { return nil }
    let delay =
      isDialler ? Duration.zero : LinkSearch.pause(after: 1, within: disconnectTimeout, &turn.random)
    search = LinkSearch(for: node, nextRound: turn.now + delay)
    return continueSearch(surroundings, turn)
  }

  private func continueSearch(_ surroundings: Surroundings, _ turn: Turn) -> Ending? {
    guard search != nil, wantsLink(surroundings) else { return nil }
    let addresses = suspension == nil ? betterAddresses(surroundings) : allAddresses(surroundings)
    let hasRoundEnded = search?.proceed(
      to: addresses, unless: { !mayDial($0, surroundings, turn) }, searchTerms, turn)
    return hasRoundEnded == true ? endOfRound(surroundings, turn.now) : nil
  }

  /// Returns whether an address may be dialled now. An address that only members name counts as theirs, like any other
  /// that they make us dial.
  private func mayDial(_ address: TransportAddress, _ surroundings: Surroundings, _ turn: Turn) -> Bool {
    let sources = addresses.hearsay(address, surroundings.addresses(of: node))
    return sources.isEmpty || turn.introduced.pays(for: sources, turn)
  }

  func endSearch(_ turn: Turn) {
    guard search != nil else { return }
    search?.end(turn)
    search = nil
  }

  /// Returns whether another link is wanted now. An unused association is not worth a dial.
  private func wantsLink(_ surroundings: Surroundings) -> Bool {
    guard suspension != nil else { return !comparisons.isOfLink && !betterAddresses(surroundings).isEmpty }
    return link?.phase != .resuming && !isUnused
  }

  private var searchTerms: LinkSearch.Terms {
    LinkSearch.Terms(
      isForBetter: suspension == nil, disconnectTimeout: disconnectTimeout, preference: configuration.transports,
      headStart: configuration.transportHeadStart)
  }

  /// Takes over a link that a dial of the search has opened.
  /// - Returns: false if the link is of no use.
  func claim(_ link: Link, _ turn: Turn) -> Bool {
    guard search != nil, link.opening.peer == node.peer else { return false }
    search?.dialled(link.id, turn)
    link.search(for: node)
    return true
  }

  /// A process that is killed closes one socket after the other. Its listener may take our first dial and end it with
  /// the process. That is no refusal, so the host is asked once more, at the end of the grace.
  private func askAgain(after dial: DialTable.Dial, _ failure: LinkFailure, _ now: Instant) {
    guard let suspension, suspension.cause.reason == .linkFailed, failure.code == .reset,
      dial.kind == addresses.lastKind
    else { return }
    search?.askAgain(over: dial.kind, by: max(now, suspension.since + grace))
  }

  /// How long a member whose host refuses may take to come back on its own.
  private var grace: Duration {
    min(configuration.refusalEndsMembers ? .seconds(1) : .seconds(2), disconnectTimeout / 4)
  }

  /// How the association ends after a round of the search that has led nowhere; nil if it goes on.
  private func endOfRound(_ surroundings: Surroundings, _ now: Instant) -> Ending? {
    endIfGone(surroundings, now) ?? endIfRestarted(surroundings)
  }

  /// Returns the ending if the peer's process has certainly ended. That is the case if the kernel has closed the link
  /// and nothing listens any more where the peer was, on any transport. A peer that only hides would have come back by
  /// itself within the grace time, at the end of which its host is dialled once more.
  private func endIfGone(_ surroundings: Surroundings, _ now: Instant) -> Ending? {
    guard let suspension, suspension.cause.reason == .linkFailed, isNowhere(surroundings), search?.isOtherSeen == false
    else { return nil }
    // If a single transport speaks for all, that transport must be dialled once more.
    let asked = configuration.refusalEndsMembers ? search?.goneAt ?? now : now
    guard suspension.since + grace <= asked else {
      search?.goOn(by: suspension.since + grace)
      return nil
    }
    let detail = "nobody listens any more where the peer was; before, \(suspension.cause)"
    return Ending(.linkFailed, .peer, detail)
  }

  /// Returns the ending if the peer has certainly restarted: nothing listens any more where it was, on any transport,
  /// and another incarnation of it has been seen.
  private func endIfRestarted(_ surroundings: Surroundings) -> Ending? {
    guard suspension != nil, let search, isNowhere(surroundings),
      search.isOtherSeen || surroundings.discovery.seesOnlyOther(than: node)
    else { return nil }
    return Ending(.restarted, .peer, "another run of it answers there")
  }

  private func isNowhere(_ surroundings: Surroundings) -> Bool {
    // The other dialled addresses may never have been this node's.
    if addresses.lastKind == .relay { return false }
    // A member listens on all its transports as long as it lives, so the transport of its last link speaks for the
    // others.
    if configuration.refusalEndsMembers { return search?.goneKinds.contains(addresses.lastKind) == true }
    let kinds = Set(addresses.seen(surroundings.addresses(of: node)).map(\.kind))
    return !kinds.isEmpty && kinds.isSubset(of: search?.goneKinds ?? [])
  }

  // MARK: Time

  /// Returns how a suspended association ends now; nil if it continues.
  private func endOfSuspension(_ now: Instant) -> Ending? {
    guard let suspension, suspension.lastHeard + disconnectTimeout <= now else { return nil }
    if disconnectTimeout == .zero { return suspension.cause }
    return Ending(
      .timedOut, suspension.cause.blame == .peer ? .peer : .link,
      "no way to the peer for \(disconnectTimeout.inWords); before, \(suspension.cause)")
  }

  /// Returns when a suspended association ends, or its search continues.
  func suspensionDeadline(_ surroundings: Surroundings) -> Instant? {
    let end = suspension.map { $0.lastHeard + disconnectTimeout }
    guard let search, let next = search.nextDeadline, wantsLink(surroundings) else { return end }
    return end.map { min($0, next) } ?? next
  }

  // MARK: Better links

  /// Reacts to news about the peer in the discovery table. The search may be waiting for that.
  private func sighted(_ surroundings: Surroundings, _ turn: Turn) {
    if suspension == nil {
      lookForBetter(surroundings, turn)
      // A new name or signal strength leads to no new address.
      guard let search, betterAddresses(surroundings).contains(where: search.isNew) else { return }
    }
    search?.sighted(searchTerms, turn)
  }

  /// Returns the position of a transport in the order of preference. A smaller one is better.
  private func rank(_ kind: TransportKind) -> Int { configuration.transports.firstIndex(of: kind) ?? .max }

  /// Returns whether a link goes over a better transport than the active one.
  ///
  /// Codes on the screens belong to the active link, so that link is kept while they are compared.
  func isBetter(_ link: Link, than current: Link) -> Bool {
    configuration.movesBetweenTransports && !comparisons.isOfLink
      && rank(link.opening.traits.kind) < rank(current.opening.traits.kind)
  }

  /// Returns the addresses at which the peer may be reached over a better transport than the one in use.
  private func betterAddresses(_ surroundings: Surroundings) -> [TransportAddress] {
    guard configuration.movesBetweenTransports, isDurable, isMember, leaving == nil, let link, link.phase == .active
    else { return [] }
    let current = rank(link.opening.traits.kind)
    if current == 0 { return [] }
    let better = addresses.supposed(surroundings.addresses(of: node)).filter { rank($0.kind) < current }
    return search?.worthTrying(better) ?? better
  }

  /// Begins to look for a better transport to a member, if there may be one: soon, and again from time to time.
  func lookForBetter(_ surroundings: Surroundings, _ turn: Turn) {
    guard search == nil, suspension == nil, !betterAddresses(surroundings).isEmpty else { return }
    search = LinkSearch(for: node, nextRound: turn.now + .milliseconds(500))
  }
}
