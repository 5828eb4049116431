import PiconetWire

/// The peer that an invitation is for, and where it may be dialled.
struct InvitationDestination {
  /// The node to invite; nil if only its addresses are known.
  let node: NodeID?
  /// The key that must answer.
  let expectedPeer: PeerID?
  var addresses: [TransportAddress]
  /// Where other nodes of the key are said to be, in fair turns of who says so.
  var others: [TransportAddress] = []
  /// Whether one of them will do: an invitation is for a key, and any device can advertise it under any incarnation.
  var takesOthers = false
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
