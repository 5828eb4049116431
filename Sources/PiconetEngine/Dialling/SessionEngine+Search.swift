import PiconetWire

/// The search for a link: for an association that has none, and for one that may get a better one.
extension SessionEngine {
  /// The side that has dialled the lost link begins at once, the other a little later: nearly always there is one new
  /// link then, and not two.
  mutating func beginSearch(
    _ association: Association, isDialler: Bool, _ turn: Turn
  ) {
    turn.deadlinesMoved = true
    // A search for a better link has dialled already.
    if let search = association.search, !search.isWaiting { return }
    let delay =
      isDialler
      ? Duration.zero : LinkSearch.pause(after: 1, within: configuration.disconnectTimeout, &random)
    association.search = LinkSearch(nextRound: turn.now + delay)
    continueSearch(association, turn)
  }

  /// Whether the association wants another link now: one that nobody uses is not worth a dial.
  private func wantsLink(_ association: Association) -> Bool {
    guard shutdown == nil else { return false }
    if association.suspension != nil {
      return association.link?.phase != .resuming && !isUnused(association)
    }
    return !betterAddresses(for: association).isEmpty
  }

  func searchDeadline(of association: Association) -> Instant? {
    guard let search = association.search, search.link == nil, wantsLink(association) else { return nil }
    guard let race = search.race else { return search.nextRound }
    return [race.nextDeadline, search.roundEnds].compactMap { $0 }.min()
  }

  mutating func continueSearch(_ association: Association, _ turn: Turn) {
    guard let search = association.search, search.link == nil, wantsLink(association) else { return }
    if search.race != nil {
      if let end = search.roundEnds, end <= turn.now {
        endRound(association, turn)
      } else {
        dialOn(association, turn)
      }
    } else if search.nextRound <= turn.now {
      beginRound(association, turn)
    }
  }

  private mutating func beginRound(_ association: Association, _ turn: Turn) {
    let addresses =
      association.suspension == nil ? betterAddresses(for: association) : knownAddresses(of: association)
    turn.deadlinesMoved = true
    if association.suspension == nil { association.search?.tried = Set(addresses) }
    association.search?.goneKinds = []
    association.search?.race = ConnectRace(
      addresses: addresses, preference: configuration.transports, headStart: configuration.transportHeadStart)
    association.search?.roundEnds = turn.now + max(configuration.disconnectTimeout / 2, .milliseconds(50))
    dialOn(association, turn)
  }

  private mutating func dialOn(_ association: Association, _ turn: Turn) {
    while let (kind, addresses) = association.search?.race?.next(at: turn.now) {
      let dial = DialID(rawValue: nextDial)
      nextDial += 1
      searchDials[dial] = (association.node, kind)
      turn.deadlinesMoved = true
      turn.add(.dial(dial, kind, addresses))
    }
    if association.search?.race?.isLost == true { endRound(association, turn) }
  }

  private mutating func endRound(_ association: Association, _ turn: Turn) {
    // Who has not answered may be waiting for its user.
    for kind in association.search?.race?.running ?? [] where kind.mayAskUser {
      association.search?.refusing.insert(kind)
    }
    cancelSearchDials(of: association.node, turn)
    association.search?.race = nil
    association.search?.roundEnds = nil
    pauseSearch(association, turn)
    endIfGone(association, turn)
    endIfRestarted(association, turn)
  }

  /// The kernel has closed the link, and nobody listens any more where the peer was, on no transport: its process has
  /// ended. One that only hides would have come back by itself within `graceOfGone`.
  private mutating func endIfGone(_ association: Association, _ turn: Turn) {
    guard let suspension = association.suspension, suspension.cause.reason == .linkFailed,
      let search = association.search, suspension.since + graceOfGone <= turn.now
    else { return }
    let kinds = Set(knownAddresses(of: association).map(\.kind))
    guard !kinds.isEmpty, kinds.isSubset(of: search.goneKinds), !search.isOtherSeen else { return }
    let detail = "nobody listens any more where the peer was; before, \(suspension.cause)"
    end(association, Ending(.linkFailed, .peer, detail), turn)
  }

  private var graceOfGone: Duration { min(.seconds(2), configuration.disconnectTimeout / 4) }

  private mutating func pauseSearch(_ association: Association, _ turn: Turn) {
    turn.deadlinesMoved = true
    guard let rounds = association.search?.rounds else { return }
    association.search?.rounds = rounds + 1
    let pause =
      association.suspension == nil
      ? Duration.seconds(10 << min(rounds, 5))
      : LinkSearch.pause(after: rounds, within: configuration.disconnectTimeout, &random)
    association.search?.nextRound = turn.now + pause
  }

  mutating func endSearch(_ association: Association, _ turn: Turn) {
    guard association.search != nil else { return }
    cancelSearchDials(of: association.node, turn)
    association.search = nil
    turn.deadlinesMoved = true
  }

  private mutating func cancelSearchDials(of remote: NodeID, _ turn: Turn) {
    for dial in searchDials.keys.sorted() where searchDials[dial]?.node == remote {
      searchDials[dial] = nil
      turn.add(.cancelDial(dial))
    }
  }

  // MARK: Answers

  /// - Returns: false if the dial was none of a search.
  mutating func searchDialFailed(
    _ dial: DialID, _ failure: LinkFailure, _ turn: Turn
  ) -> Bool {
    guard let (remote, kind) = searchDials.removeValue(forKey: dial) else { return false }
    guard let association = associations[remote] else { return true }
    turn.deadlinesMoved = true
    // Of one address alone it says nothing: that may be somebody's invention.
    if failure.code == .refused, association.search?.race?.isOneByOne(kind) != true {
      association.search?.goneKinds.insert(kind)
    }
    switch failure.code {
    case .refused, .authentication: association.search?.refusing.insert(kind)
    case .timedOut where kind.mayAskUser: association.search?.refusing.insert(kind)
    case .timedOut, .unreachable, .reset, .busy, .noService, .hostDown, .permission, .notAvailable, .cancelled,
      .tooManyDescriptors, .connectionLimit, .other:
      break
    }
    association.search?.race?.failed(kind, failure)
    dialOn(association, turn)
    return true
  }

  /// A dial of a search has opened a link.
  /// - Returns: false if nobody waits for it, or somebody else has answered; it is closed then.
  mutating func claim(
    _ dial: DialID, for remote: NodeID, _ link: Link, _ turn: Turn
  ) -> Bool {
    guard let association = associations[remote], association.search != nil, link.opening.peer == remote.peer else {
      turn.add(.closeLink(link.id, flush: false))
      strangerAnswered(dial, link.opening.traits, turn)
      return false
    }
    searchDials[dial] = nil
    cancelSearchDials(of: remote, turn)
    association.search?.race = nil
    association.search?.roundEnds = nil
    association.search?.link = link.id
    return true
  }

  /// Somebody else is at one of the addresses, as anybody can make us believe; the others are dialled in the same
  /// round.
  private mutating func strangerAnswered(
    _ dial: DialID, _ traits: LinkTraits, _ turn: Turn
  ) {
    guard let (remote, kind) = searchDials.removeValue(forKey: dial), let association = associations[remote] else {
      return
    }
    turn.deadlinesMoved = true
    association.search?.refusing.insert(kind)
    association.search?.race?.answeredByStranger(
      kind, at: traits.remoteAddress, LinkFailure(.authentication, "another key answers there"))
    dialOn(association, turn)
  }

  /// A link that a search has opened is gone without having been used.
  mutating func searchLinkEnded(_ link: Link, _ turn: Turn) {
    guard let remote = link.searchedFor, let association = associations[remote], association.search?.link == link.id
    else { return }
    association.search?.link = nil
    pauseSearch(association, turn)
  }

  /// Another incarnation of the peer has answered where this one was.
  mutating func otherAnswered(_ remote: NodeID, on link: Link, _ turn: Turn) {
    guard let association = associations[remote] else { return }
    association.search?.isOtherSeen = true
    association.search?.goneKinds.insert(link.opening.traits.kind)
    endIfRestarted(association, turn)
  }

  /// The peer has certainly restarted: nobody listens any more where it was, on no transport, and another incarnation
  /// of it is there.
  private mutating func endIfRestarted(_ association: Association, _ turn: Turn) {
    guard associations[association.node] === association, association.suspension != nil,
      let search = association.search
    else { return }
    let kinds = Set(knownAddresses(of: association).map(\.kind))
    guard !kinds.isEmpty, kinds.isSubset(of: search.goneKinds),
      search.isOtherSeen || discovery.seesOnlyOther(than: association.node)
    else { return }
    end(association, Ending(.restarted, .peer, "another run of it answers there"), turn)
  }

  // MARK: Addresses

  /// What the table has learned may be what a search waits for.
  mutating func lookAgain(_ change: DiscoveryTable.Change, _ turn: Turn) {
    switch change {
    case .found(let summary), .changed(let summary):
      guard let association = associations[summary.node] else { return }
      if association.suspension == nil {
        lookForBetter(association, turn)
        // News of a name or of a signal's strength lead nowhere else.
        guard hasNewAddresses(association) else { return }
      }
      guard let search = association.search, search.isWaiting else { return }
      // Sightings are hints of anybody: they bring a round forward, but not without end.
      let soon = turn.now + LinkSearch.pause(after: 0, within: configuration.disconnectTimeout, &random)
      association.search?.nextRound = min(search.nextRound, soon)
      turn.deadlinesMoved = true
    case .lost: break
    }
  }

  /// Where the peer was dialled, and where it is seen now.
  private func knownAddresses(of association: Association) -> [TransportAddress] {
    merged(discovery.summary(of: association.node)?.addresses ?? [], association.dialled)
      .filter { configuration.transports.contains($0.kind) }
  }

  func merged(_ first: [TransportAddress], _ second: [TransportAddress]) -> [TransportAddress] {
    first + second.filter { !first.contains($0) }
  }

  /// The addresses of the attempt that has made this link, of all its transports: whoever gave them meant one device.
  func addressesDialled(for link: Link) -> [TransportAddress] {
    guard link.isDialler else { return [] }
    let attempted = attempts.filter { $0.phase == .linking(link.id) }.flatMap(\.race.addresses)
    return attempted.isEmpty && link.searchedFor == nil
      ? [TransportAddress(kind: link.opening.traits.kind, text: link.opening.traits.remoteAddress)] : attempted
  }

  // MARK: A better way

  /// The place of a transport in the order of preference: the smaller, the better.
  private func rank(_ kind: TransportKind) -> Int { configuration.transports.firstIndex(of: kind) ?? .max }

  func isBetter(_ link: Link, than current: Link) -> Bool {
    configuration.movesBetweenTransports && rank(link.opening.traits.kind) < rank(current.opening.traits.kind)
  }

  /// Where the peer may be reached over a transport that is better than the one in use.
  private func betterAddresses(for association: Association) -> [TransportAddress] {
    guard configuration.movesBetweenTransports, association.isDurable, association.isMember,
      association.leaving == nil, let link = association.link, link.phase == .active
    else { return [] }
    let current = rank(link.opening.traits.kind)
    if current == 0 { return [] }
    let better = knownAddresses(of: association).filter { rank($0.kind) < current }
    guard let search = association.search, !search.refusing.isEmpty else { return better }
    return better.filter { address in
      !search.refusing.contains(address.kind)
        || better.contains { $0.kind == address.kind && !search.tried.contains($0) }
    }
  }

  /// Whether a better way may lead where none was looked for yet.
  private func hasNewAddresses(_ association: Association) -> Bool {
    guard let search = association.search else { return false }
    return betterAddresses(for: association).contains { !search.tried.contains($0) }
  }

  /// A member may move to a better transport: soon, and again now and then.
  mutating func lookForBetter(_ association: Association, _ turn: Turn) {
    guard association.search == nil, association.suspension == nil, !betterAddresses(for: association).isEmpty
    else { return }
    association.search = LinkSearch(nextRound: turn.now + .milliseconds(500))
    turn.deadlinesMoved = true
  }
}
