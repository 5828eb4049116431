import PiconetWire

/// The peer that an invitation is for, and where it may be dialled.
struct InvitationDestination {
  /// The node to invite; nil if only its addresses are known.
  let node: NodeID?
  /// The key that must answer.
  let expectedPeer: PeerID?
  var addresses: [TransportAddress]
  /// The transports over which it may be dialled if it comes in sight in the meantime; nil if it is not looked for.
  let transports: [TransportKind]?
  /// How an attempt ends if it has to dial and can't; nil if it can.
  let unreachable: Ending?
}

extension InvitationDestination {
  /// - Parameter kinds: the transports of this node.
  init(_ target: InvitationTarget, over kinds: [TransportKind], _ surroundings: Surroundings, _ turn: Turn) {
    switch target {
    case .node(let node, let transports):
      let others = turn.introduced.takeAddresses(
        beyondSightOf: node, over: kinds, surroundings.associations, turn)
      let seen = surroundings.discovery.summary(of: node)?.addresses
      let known = (seen ?? []) + others.filter { other in seen?.contains(other) != true }
      addresses = known.filter { transports?.contains($0.kind) ?? true }
      self.node = node
      expectedPeer = node.peer
      self.transports = transports ?? TransportKind.allCases
      let names = transports.map { $0.isEmpty ? "no transport" : $0.map(\.rawValue).joined(separator: ", ") }
      let words = known.isEmpty ? nil : names.map { " over \($0)" }
      unreachable =
        addresses.isEmpty ? Ending(.unreachable, .link, "the peer is not in sight\(words ?? "")") : nil
    case .addresses(let addresses, let peer):
      node = nil
      expectedPeer = peer
      transports = nil
      self.addresses = addresses
      unreachable = addresses.isEmpty ? Ending(.unreachable, .us, "no address was given") : nil
    }
  }
}
