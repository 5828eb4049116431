import PiconetEngine
import PiconetWire

/// Checks on groups with fewer places than there are nodes that want one.
extension World {
  private func capacity(of group: [Int]) -> Int { group.map { scenario.configurations[$0].capacity }.min() ?? 0 }

  /// Checks that no group has more members than any of them has room for.
  func checkPlaces() {
    guard scenario.isCrowded else { return }
    for group in groups where group.count > 1 && group.count > capacity(of: group) {
      // Two members that a hostile member has separated do not know of each other's places.
      let members = Set(group.map { nodes[$0].node })
      if causes.partedByHostile.contains(where: { $0.isSubset(of: members) }) { continue }
      finding("\(describe(group)) are one group, with \(capacity(of: group)) places")
    }
  }

  /// Makes each node without members ask all others again, one after the other, since a place may have become free. In
  /// the end no node is alone beside a free place.
  func fillPlaces() {
    guard scenario.isCrowded, scenario.hostileCount == 0 else { return }
    if let end = nodes.map(\.pausedUntil).max(), end > now { advance(to: end) }
    // A second time for nodes that have lost their last member meanwhile.
    for _ in 0..<2 {
      for node in nodes where node.record.members.isEmpty { fillPlace(node) }
      settle()
    }
  }

  private func fillPlace(_ node: SimulatedNode) {
    for target in nodes.indices where target != node.index && node.record.members.isEmpty {
      guard findings.first == nil, !Set(transports(of: node.index)).isDisjoint(with: transports(of: target)) else {
        continue
      }
      ask(target, for: node)
    }
    advance(to: now + 4_000_000_000)
  }

  /// Sends one invitation and waits for its end: it leads to a membership, or there is no place. The other side may end
  /// an association at that moment because it has been unused for too long. In that case the invitation is repeated
  /// once.
  private func ask(_ target: Int, for node: SimulatedNode, isSecond: Bool = false) {
    let id = command(
      .invite(
        .addresses(addresses(of: target), expected: nodes[target].peer), context: [], timeout: .seconds(10), code: nil),
      of: node)
    let end = now + 12_000_000_000
    while findings.first == nil, now < end, node.record.pending[id] != nil { advance(to: now + 20_000_000) }
    if findings.first != nil || !node.record.members.isEmpty { return }
    guard let ending = node.record.attemptEnds[id], ending.reason != .full else { return }
    if ending.reason == .idle, !isSecond { return ask(target, for: node, isSecond: true) }
    finding("n\(node.index) is alone and gets no place beside n\(target), but not because it is full: \(ending)")
  }

  /// Returns whether a hostile member has the last place beside one of two nodes. It may be a member of any node. The
  /// two nodes have as many places as the smaller of their sessions. A hostile member that tells only one of them that
  /// it is in the group counts for both.
  func isTakenByHostile(_ one: Int, _ other: Int) -> Bool {
    guard scenario.isCrowded else { return false }
    let capacity = min(scenario.configurations[one].capacity, scenario.configurations[other].capacity)
    let hostile = [one, other].map { nodes[$0].record.members.keys.count(where: isOfHostile) }
    let counted = [
      nodes[one].record.members.count + 1 + hostile[1], nodes[other].record.members.count + 1 + hostile[0],
    ]
    return hostile != [0, 0] && counted.contains { $0 >= capacity }
  }

  func checkNobodyIsLeftOut() {
    guard scenario.isCrowded, scenario.hostileCount == 0 else { return }
    let groups = groups
    for alone in groups where alone.count == 1 {
      for group in groups where group != alone && group.count < capacity(of: group + alone) {
        let isNear = group.contains {
          !Set(transports(of: $0)).isDisjoint(with: transports(of: alone[0]))
        }
        if isNear { finding("n\(alone[0]) is alone, and \(describe(group)) have a place for it") }
      }
    }
  }

  /// Checks that frames about places and introductions cease when nothing changes any more.
  func checkCalm() {
    guard scenario.isCrowded, scenario.hostileCount == 0, seed.family == .groups, seed.number % 4 == 0 else { return }
    wordsAboutMembers = 0
    advance(to: now + 40_000_000_000)
    if wordsAboutMembers > 0 { finding("\(wordsAboutMembers) words about members were said in calm") }
  }

  /// Counts frames about members. Also notes which members a node leaves because there is no place, and when it gives
  /// up a link for another one.
  func heed(wordsIn bytes: Bytes, on link: LinkID, _ node: SimulatedNode) {
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    decoder.push(bytes)
    while let frame = try? decoder.next() {
      switch frame {
      case .introduce, .introduced, .introductionFailed, .withdrawIntroduction, .askToIntroduce, .groupView:
        wordsAboutMembers += 1
      case .leave(let reason, _):
        if reason == .full, let remote = remote(on: link, node) { causes.partedForPlace(node.node, remote) }
      case .close(let reason, _):
        if reason == .duplicateLink, let remote = remote(on: link, node) { causes.gaveLinkUp(node.node, remote) }
      case .hello, .associate, .associated, .ping, .pong, .acknowledge, .messageCredit, .unreliableMessage,
        .codeNonce, .codeReveal, .listening, .channelCredit, .chunk, .position, .transferCredit, .end, .streamCredit,
        .tunnelCredit, .message, .fragment, .channelMessage, .channelFragment, .invite, .accept, .decline, .withdraw,
        .admit, .inviteByCode, .codeAnswer, .codeConfirm, .comparison, .removeMember, .removed, .openTunnel,
        .offerTunnel,
        .tunnelOpened, .tunnelData, .closeTunnel, .offer, .acceptOffer, .declineOffer, .stored, .present, .restart,
        .comparing, .abandon, .refuse, .senderPaused, .receiverPaused, .openStream, .streamData, .endStream,
        .resetStream, .stopStream, .streamDone, .unknownOptional:
        break
      }
    }
  }

  private func remote(on link: LinkID, _ node: SimulatedNode) -> NodeID? {
    if let (number, side) = node.links[link] { return nodes[connections[number].ends[1 - side].node].node }
    guard let tunnel = node.tunnelLinks[link], let remote = node.tunnels[tunnel]?.remote else { return nil }
    return nodes[remote].node
  }

  /// Returns whether one of two nodes has left the other because there was no place. Also true if two of those over
  /// which they were linked have separated for that reason.
  func isPartedForPlace(_ one: NodeID, _ other: NodeID) -> Bool {
    guard let first = indices[one.peer], let second = indices[other.peer] else { return false }
    let pair: Set = [first, second]
    return causes.partedForPlaces.contains { parted in
      parted.allSatisfy { node in
        indices[node.peer].map { pair.contains($0) || causes.mayRelay($0, pair) } ?? false
      }
    }
  }

  /// Makes a node leave all members, to come back a little later.
  func depart(_ node: SimulatedNode) {
    guard !isCalm else { return }
    node.application.isAway = true
    causes.departed.insert(node.index)
    for member in node.application.members { command(.leave(member, .left), of: node) }
    plan(.comeBack, of: node, in: applicationDice.milliseconds(100...800))
  }

  func comeBack(_ node: SimulatedNode) {
    node.application.isAway = false
    guard !isCalm, let invitation = persona(node).invitations.first else { return }
    plan(
      .invite(target: invitation.target, byAddress: invitation.byAddress, timeout: 10_000_000_000), of: node, in: 0)
  }
}
