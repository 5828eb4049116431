import PiconetWire

/// The peer that an invitation is for, and its addresses.
struct InvitationDestination {
  /// The node to invite; nil if only its addresses are known.
  let node: NodeID?
  /// The key that must answer.
  let expectedPeer: PeerID?
  var addresses: [TransportAddress]
  /// The addresses at which other nodes of the key are said to be. The sources that name them take turns.
  var others: [TransportAddress] = []
  /// Whether one of the other nodes is acceptable. An invitation is for a key, and any device can advertise that key
  /// under any incarnation.
  var takesOthers = false
  /// The transports over which it may be dialled if it comes in sight in the meantime; nil if we don't look for it.
  let transports: [TransportKind]?
  /// How an attempt ends if it has to dial and can't; nil if it can.
  let unreachable: Ending?
}

extension InvitationDestination {
  /// - Parameter kinds: the transports of this node.
  init(_ target: InvitationTarget, over kinds: [TransportKind], _ surroundings: Surroundings, _ turn: Turn) {
    switch target {
    case .node(let node, let transports):
      let told = turn.introduced.takeAddresses(
        beyondSightOf: node, over: kinds, surroundings.associations, turn)
      let seen = surroundings.discovery.summary(of: node)?.addresses
      let known = (seen ?? []) + told.filter { seen?.contains($0) != true }
      addresses = known.filter { transports?.contains($0.kind) ?? true }
      self.node = node
      expectedPeer = node.peer
      takesOthers = true
      if !addresses.isEmpty {
        others = surroundings.discovery.addresses(ofOthersThan: node, &turn.random)
          .filter { transports?.contains($0.kind) ?? true }
      }
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
