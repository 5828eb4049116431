import PiconetEngine
import PiconetWire

/// A hostile node that takes the space of files that others have begun to send. It uses offers that could never fit,
/// and files that it leaves half sent, under keys that it discards.
extension World {
  /// Makes a key for a connection, usually a new one.
  /// - Returns: nil if it keeps its own.
  func makeKey(of node: HostileNode, on connection: Connection, _ side: Int) -> PeerID? {
    guard node.offerDice.chance(70), let key = PeerID(bytes: node.offerDice.bytes(PeerID.byteCount)) else { return nil }
    connection.ends[side].key = key
    indices[key] = node.index
    names[NodeID(peer: key, incarnation: node.node.incarnation)] = "n\(node.index).key\(connection.number)"
    statistics.hostileKeys += 1
    return key
  }

  /// Offers more than any node has room for, or nearly that. Each offer has another number, name and identity.
  func oversizedOffer(_ node: HostileNode, _ number: Int) {
    guard node.sessions[number].isMember else { return send(.ping(1), node, number) }
    let sizes: [UInt64] = [VariableInteger.max, VariableInteger.max - 1, 1 << 61, 1 << 40, 60_000_000, 2_000_000]
    offerFile(UInt64(node.sessions[number].rounds), size: node.offerDice.pick(sizes), node, number)
  }

  /// Offers a file that may fit, sends a part of it, and disappears.
  func halfFile(_ node: HostileNode, _ number: Int) {
    let session = node.sessions[number]
    guard session.isMember else { return send(.ping(1), node, number) }
    guard let accepted = session.accepted.last else {
      if session.hasOffered { return send(.ping(1), node, number) }
      node.sessions[number].hasOffered = true
      let sizes: [UInt64] = [2_000, 20_000, 200_000]
      return offerFile(0, size: node.offerDice.pick(sizes), node, number)
    }
    send(.chunk(transfer: accepted.number, node.offerDice.bytes(500)[...]), node, number)
    node.sessions[number].isOver = true
    close(connections[session.connection], session.side, flush: true)
  }

  private func offerFile(_ transfer: UInt64, size: UInt64, _ node: HostileNode, _ number: Int) {
    let offer = ResourceOffer(name: node.offerDice.bytes(12), size: size, identity: node.offerDice.bytes(16))
    send(.offer(transfer: transfer, offer), node, number)
  }
}
