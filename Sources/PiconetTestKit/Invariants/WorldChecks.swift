import PiconetEngine
import PiconetWire

/// Checks after each fact, at quiet, and at the end.
extension World {
  /// The bytes of waiting control frames (answers, credits, offers) that may go out at once when there is room. The
  /// engine ends a link on which more of them wait.
  var controlSlack: Int { 256 << 10 }

  /// Returns how many effects are allowed. Effects beyond a constant must be paid for with incoming bytes, or with
  /// things that end.
  func bearableEffects(of fact: Fact, _ node: SimulatedNode) -> Int {
    let things =
      node.record.pending.count + node.record.links.count + node.record.incoming.count
      + node.record.read.count + node.record.written.count
    // Bytes that arrived while the driver was judging are decoded after it: at most this many.
    if case .trustJudged = fact { return 64 + 8 * things + 2 * (64 << 10) }
    guard case .received(_, let bytes) = fact else { return 64 + 8 * things }
    return 64 + 8 * things + 2 * bytes.count
  }

  func checkStorm(_ count: Int, _ allowed: Int) {
    if count > allowed { finding("\(count) effects after one fact: \(allowed) are bearable") }
  }

  func checkCensus(_ node: SimulatedNode) {
    let census = node.engine.census
    let configuration = scenario.configurations[node.index]
    if census.links != node.record.links.count {
      finding("n\(node.index) counts \(census.links) links, the world \(node.record.links.count)")
    }
    if census.dials != node.record.dials.count {
      finding("n\(node.index) counts \(census.dials) dials, the world \(node.record.dials.count)")
    }
    if census.members != node.record.members.count { finding("n\(node.index) counts other members than it told") }
    if let next = census.nextDeadline, node.engine.nextDeadline.map({ $0 > next }) ?? true {
      finding("n\(node.index) waits until \(node.engine.nextDeadline as Any), and something in it until \(next)")
    }
    if node.engine.expectsAnybody != (node.engine.expectsPeers || node.engine.expectsMembers) {
      finding("n\(node.index) says \(node.engine.expectsAnybody) of whether anybody may dial it, which is not so")
    }
    if census.links > configuration.handshakeLimit + configuration.associationLimit {
      finding("n\(node.index) has \(census.links) links")
    }
    // A link without an association may cost as much as a stranger.
    let strangers = census.associations - census.members + census.links
    let bound = census.members * configuration.memberMemory + strangers * configuration.strangerMemory
    if census.retainedBytes > bound {
      finding("n\(node.index) holds \(census.retainedBytes) bytes for its peers: \(census)")
    }
    let perPeer =
      scenario.channels.count * (configuration.messageWindow + 2 * configuration.messageLimit) + controlSlack
    if census.keptBytes > (configuration.unacknowledgedLimit + controlSlack) * census.associations {
      finding("n\(node.index) keeps \(census.keptBytes) bytes that are not acknowledged")
    }
    let ofStreams = node.record.written.count * configuration.streamWindow
    let ofTunnels = census.tunnels * (256 << 10)
    if census.queuedBytes > perPeer * max(1, census.links, census.associations) + ofStreams + ofTunnels {
      finding("n\(node.index) queues \(census.queuedBytes) bytes")
    }
  }

  /// Checks that a deadline that has been handled is not due again at once.
  func checkSpin(_ node: SimulatedNode) {
    guard let deadline = node.engine.nextDeadline, deadline <= instant else {
      node.record.spins = 0
      return
    }
    node.record.spins = node.record.lastDeadline == deadline.nanoseconds ? node.record.spins + 1 : 0
    node.record.lastDeadline = deadline.nanoseconds
    if node.record.spins > 20 { finding("n\(node.index) has a deadline that stays due") }
  }

  /// Whether everything that was begun has ended.
  var isQuiet: Bool {
    findings.areDropped = true
    findings.isAny = false
    checkQuiet()
    findings.areDropped = false
    // A link may be dead before any node notices it.
    return !findings.isAny
      && connections.allSatisfy { $0.isOver || ($0.isOpen && $0.pipes.allSatisfy { !$0.isDead }) }
  }

  /// Checks, long after the end of all trouble, that everything that was begun has ended and both sides agree.
  func checkQuiet() {
    checkCallsQuiet()
    let honest = nodes.prefix(scenario.engineCount)
    for node in honest {
      for peer in node.record.members.keys.sorted() {
        guard let index = indices[peer.peer], !isHostile(index) else { continue }
        let remote = nodes[index]
        if remote.node != peer { return finding("n\(node.index) is connected with a former life of n\(index)") }
        guard let theirs = remote.record.members[node.node] else {
          return finding("n\(node.index) is connected with n\(index), but not the other way round")
        }
        if theirs != node.record.members[peer] { finding("n\(node.index) and n\(index) have different associations") }
      }
      checkNothingPending(node)
      checkStates(node)
    }
    if let wrong = flows.compare(isQuiet: true) ?? lostAltogether() { finding(wrong) }
    if seed.family == .glare { checkGlare() }
    if scenario.isGroup { checkGroups() }
    checkConfirmed()
    checkPlaces()
  }

  private func lostAltogether() -> String? {
    scenario.hostileCount == 0 || scenario.isFair ? flows.lostAltogether() : nil
  }

  private func checkNothingPending(_ node: SimulatedNode) {
    for id in node.record.pending.keys.sorted() {
      switch node.record.pending[id] {
      case .offer(let transfer, let peer, _):
        // An unanswered offer stays open, and so do all offers that wait behind it.
        let isHostilePeer = indices[peer.peer].map { isHostile($0) } ?? true
        let isIgnored = nodes.contains { !$0.application.ignoredOffers.isEmpty }
        if !isIgnored && !isHostilePeer { finding("offer \(transfer.rawValue) of n\(node.index) does not end") }
      case .finishStream(let stream):
        let peer = node.record.written[stream].map { streams.truths[$0].to.peer }
        let isHostilePeer = peer.flatMap { indices[$0] }.map { isHostile($0) } ?? true
        if !isHostilePeer { finding("stream \(stream.rawValue) of n\(node.index) is not read to its end") }
      case .some(let command): finding("n\(node.index): command \(id.rawValue) has no reply: \(command)")
      case nil: break
      }
    }
    if let peer = node.record.invitations.sorted().first {
      finding("the invitation of \(name(peer)) to n\(node.index) does not end")
    }
    // A hostile node may leave its own introduction unanswered, or introduce an absent node, for as long as an
    // introduction stands.
    let introduced = node.record.introduced.union(node.record.wanted).filter {
      // The introduction of a node that can't be reached does not end either.
      !isOfHostile($0) && !node.record.introducedByHostile.contains($0) && !isOutOfReach($0, of: node)
        && !mayStand(introductionOf: $0, to: node)
    }
    if let peer = introduced.min() {
      finding("the introduction of \(name(peer)) to n\(node.index) does not end")
    }
    if let peer = node.record.suspended.sorted().first {
      finding("n\(node.index) stays without a link to \(name(peer))")
    }
    // A hostile node may leave a tunnel unanswered too.
    if !node.record.dials.isSubset(of: node.record.dialsByHostile) { finding("a dial of n\(node.index) does not end") }
  }

  /// Checks two nodes that have both invited: they are connected once, over one link.
  private func checkGlare() {
    for node in nodes {
      if node.record.connectedCount != 1 { finding("n\(node.index) was connected \(node.record.connectedCount) times") }
      if node.record.members.count != 1 { finding("n\(node.index) has \(node.record.members.count) members") }
      if node.record.links.count != 1 { finding("n\(node.index) has \(node.record.links.count) links") }
    }
    let open = connections.count { $0.isOpen }
    if open != 1 { finding("\(open) connections are open") }
  }

  /// Checks that nothing is left after all nodes have shut down.
  func checkEnd() {
    for node in nodes.prefix(scenario.engineCount) {
      let census = node.engine.census
      if node.record.finishedCount != 1 { finding("n\(node.index) does not finish: \(census)") }
      if census.links + census.dials + census.associations + census.transfersIncoming + census.transfersOutgoing
        + census.streams + census.tunnels + census.attempts + census.introductions + census.queuedBytes != 0
      {
        finding("n\(node.index) has something left: \(census)")
      }
      if let peer = node.application.calls.keys.min() {
        finding("n\(node.index) never ends its calls with \(name(peer))")
      }
      if let id = node.record.pending.keys.min() { finding("n\(node.index): command \(id.rawValue) has no reply") }
      if let peer = node.record.members.keys.min() { finding("n\(node.index) never loses \(name(peer))") }
      if let peer = node.record.invitations.min() { finding("the invitation of \(name(peer)) never ends") }
      if let transfer = node.record.incoming.keys.min() { finding("transfer \(transfer.rawValue) never ends") }
      checkNoStreamLeft(node)
      if let transfer = node.sources.keys.min() { finding("source \(transfer.rawValue) of n\(node.index) stays open") }
      for transfer in node.stores.keys.sorted() {
        switch node.stores[transfer]?.phase {
        case .committed, .discarded, nil: break
        case .some(let phase): finding("store \(transfer.rawValue) of n\(node.index) stays \(phase)")
        }
      }
      if let deadline = node.engine.nextDeadline { finding("n\(node.index) waits for \(deadline.nanoseconds)") }
    }
    checkCallsEnded()
    if let wrong = flows.compare(isQuiet: false) { finding(wrong) }
  }
}
