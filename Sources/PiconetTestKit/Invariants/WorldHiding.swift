import PiconetEngine
import PiconetWire

/// Checks on nodes that hide: which peers are let in, and which are refused.
extension World {
  /// Checks that the node has a reason to let in a link of the other side. The link comes in unless the trust policy
  /// objects.
  func checkAdmission(of remote: NodeID, _ node: SimulatedNode) {
    guard !node.record.isOpen else { return }
    let isExpected = expects(remote.peer, node) || node.record.wanted.contains(remote)
    if isExpected { statistics.expectedLinks += 1 }
    if !isExpected, node.engine.statistics(of: remote, at: instant) != nil { statistics.membersBack += 1 }
    if isExpected || node.engine.statistics(of: remote, at: instant) != nil || invites(remote, node) { return }
    finding("n\(node.index) hides, does not expect \(name(remote)), and lets it in")
  }

  /// Checks that an expected peer is not refused as if this node were not available.
  func checkRefusal(_ bytes: Bytes, on link: LinkID, _ node: SimulatedNode) {
    guard let peer = node.record.accepted[link], bytes.count < 400 else { return }
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    decoder.push(bytes)
    while let frame = try? decoder.next() {
      guard case .close(.notAvailable, _) = frame else { continue }
      statistics.hiddenRefusals += 1
      if expects(peer, node) { finding("n\(node.index) expects \(peer.shortDescription), and refuses it") }
    }
  }

  private func expects(_ peer: PeerID, _ node: SimulatedNode) -> Bool {
    node.record.expected[peer].map { instant < $0 } ?? false
  }

  private func invites(_ remote: NodeID, _ node: SimulatedNode) -> Bool {
    node.record.pending.values.contains { command in
      switch command {
      case .invite(.node(remote, _), _, _, _): true
      case .invite(.addresses(let addresses, _), _, _, _):
        indices[remote.peer].map { addresses.contains(where: self.addresses(of: $0).contains) } ?? false
      case .invite, .setCode, .cancelInvitation, .showCode, .answerInvitation, .confirm, .ping, .cancelPing,
        .compareCodes,
        .cancelComparison, .answerComparison, .leave,
        .remove, .offer, .acceptOffer, .declineOffer, .tellCompared, .cancelTransfer, .setDisconnectTimeout, .setName,
        .expect, .stopExpecting, .introduce, .cancelIntroduction, .answerIntroduction, .pauseTransfer, .openStream,
        .finishStream, .cancelStream, .shutDown:
        false
      }
    }
  }
}
