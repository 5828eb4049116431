import PiconetEngine
import PiconetWire

/// Bytes on their way, and the ends of connections.
extension World {
  func transmit(_ bytes: Bytes, over connection: Connection, _ side: Int) {
    guard connection.ends[side].state == .open else { return }
    connection.pipes[side].wait(bytes)
    pump(connection, side)
  }

  func pump(_ connection: Connection, _ side: Int) {
    let moved = connection.pipes[side].pump(at: now, dice: &networkDice)
    let surplus = min(moved, connection.ends[side].surplus)
    connection.ends[side].surplus -= surplus
    if moved > surplus, connection.ends[side].state == .open, let link = connection.ends[side].link,
      !scenario.faults.contains(.transmittedForgotten)
    {
      reportTransmitted(moved - surplus, link, connection.ends[side])
    }
    enterArrival(connection, side)
  }

  /// Returns the bytes that a tampering relay sends over one of its links.
  func relayTampered(_ bytes: Bytes, over number: Int, _ side: Int, _ link: LinkID, of node: SimulatedNode) -> Bytes {
    guard !scenario.tampering.isEmpty else { return bytes }
    let sent = relayTampered(bytes, link, of: node)
    if sent.count < bytes.count {
      post(.fact(.transmitted(link, byteCount: bytes.count - sent.count)), to: node)
    } else {
      connections[number].ends[side].surplus += sent.count - bytes.count
    }
    return sent
  }

  private func reportTransmitted(_ count: Int, _ link: LinkID, _ end: Connection.End) {
    guard !isHostile(end.node), nodes[end.node].isAlive, nodes[end.node].life == end.life else { return }
    let node = nodes[end.node]
    if hoards(link, of: node) {
      node.record.transmitted(count, on: link)
    } else if case .fact(.transmitted(link, let before))? = node.mailbox.last {
      node.mailbox[node.mailbox.count - 1] = .fact(.transmitted(link, byteCount: before + count))
    } else {
      post(.fact(.transmitted(link, byteCount: count)), to: node)
    }
  }

  private func enterArrival(_ connection: Connection, _ side: Int) {
    let pipe = connection.pipes[side]
    guard !pipe.isArrivalEntered, !pipe.isDead, let next = pipe.nextArrival else { return }
    connection.pipes[side].isArrivalEntered = true
    agenda.enter(.arrival(connection: connection.number, side: side), at: max(now, next, pipe.stalledUntil))
  }

  func arrive(_ connection: Connection, _ side: Int) {
    connection.pipes[side].isArrivalEntered = false
    let pipe = connection.pipes[side]
    guard !pipe.isDead else { return }
    // Healing checks all pipes again.
    if isParted(connection) { return }
    if pipe.stalledUntil > now || (pipe.nextArrival ?? 0) > now { return enterArrival(connection, side) }
    guard let cargo = connection.pipes[side].popArrived() else { return }
    let remote = 1 - side
    switch cargo {
    case .bytes(let bytes): receive(bytes, connection, remote)
    case .end: lose(connection, remote, .ended)
    case .reset: lose(connection, remote, .failed(LinkFailure(.reset)))
    }
    pump(connection, side)
  }

  private func receive(_ bytes: Bytes, _ connection: Connection, _ side: Int) {
    guard connection.ends[side].state == .open else { return answerWithReset(connection, side) }
    let end = connection.ends[side]
    if isHostile(end.node) { return hostileReceived(bytes, connection, side) }
    guard let link = end.link, nodes[end.node].isAlive, nodes[end.node].life == end.life else { return }
    for piece in damaged(bytes, connection, side) { deliver(piece, link, nodes[end.node], connection.pipes[1 - side]) }
  }

  private func deliver(_ bytes: Bytes, _ link: LinkID, _ node: SimulatedNode, _ pipe: Pipe) {
    if networkDice.chance(pipe.conditions.glueChance), case .fact(.received(link, let before))? = node.mailbox.last {
      node.mailbox[node.mailbox.count - 1] = .fact(.received(link, before + bytes))
      return
    }
    var rest = bytes
    if networkDice.chance(pipe.conditions.cutChance) {
      for _ in 0..<networkDice.number(1...4) where rest.count > 1 {
        let cut = networkDice.skewed(1...(rest.count - 1))
        post(.fact(.received(link, rest.prefix(cut))), to: node)
        rest = rest.dropFirst(cut)
      }
    }
    post(.fact(.received(link, rest)), to: node)
  }

  /// Answers bytes for a socket that its owner has closed with a reset.
  private func answerWithReset(_ connection: Connection, _ side: Int) {
    guard nodes[connection.ends[side].node].life == connection.ends[side].life else { return }
    if networkDice.chance(scenario.lossyCloseChance) {
      connection.pipes[side].dropFlight()
      troubled(connection)
    }
    dropWaiting(connection, side)
    connection.pipes[side].closing = .reset
    connection.pipes[1 - side].isDead = true
    pump(connection, side)
  }

  /// Drops bytes that have not even left, perhaps with a goodbye among them.
  private func dropWaiting(_ connection: Connection, _ side: Int) {
    if connection.pipes[side].hasWaiting { troubled(connection) }
    connection.pipes[side].dropWaiting()
  }

  /// Closes the connection for the engine of `side`.
  func close(_ connection: Connection, _ side: Int, flush: Bool) {
    guard connection.ends[side].state == .open else { return }
    note(.network("close", connection.number, side, flush ? 1 : 0))
    connection.ends[side].state = .closed
    if flush {
      connection.pipes[side].closing = .end
    } else {
      dropWaiting(connection, side)
      if networkDice.chance(50) {
        connection.pipes[side].dropFlight()
        troubled(connection)
      }
      connection.pipes[side].closing = .reset
      connection.pipes[1 - side].isDead = true
    }
    pump(connection, side)
  }

  /// Tells the driver of `side` that the connection is gone.
  func lose(_ connection: Connection, _ side: Int, _ end: LinkEnd) {
    guard connection.ends[side].state == .open else {
      connection.ends[side].state = .closed
      return
    }
    note(.network("lost", connection.number, side, 0))
    connection.ends[side].state = .closed
    dropWaiting(connection, side)
    if case .ended = end { connection.pipes[side].closing = .end } else { connection.pipes[side].isDead = true }
    pump(connection, side)
    let owner = connection.ends[side]
    if isHostile(owner.node) { return hostileLost(connection, side) }
    guard let link = owner.link, nodes[owner.node].isAlive, nodes[owner.node].life == owner.life else { return }
    post(.fact(.linkClosed(link, end)), to: nodes[owner.node])
  }

  func isParted(_ connection: Connection) -> Bool {
    if outages.contains(connection.kind) { return true }
    guard let partition else { return false }
    return partition[connection.ends[0].node] != partition[connection.ends[1].node]
  }

  /// Returns what a planted fault makes of the bytes. Without a fault, they are unchanged.
  private func damaged(_ bytes: Bytes, _ connection: Connection, _ side: Int) -> [Bytes] {
    guard !scenario.faults.isEmpty, faultDice.chance(5) else { return [bytes] }
    if scenario.faults.contains(.linkDropsByte), bytes.count > 1 { return [bytes.dropLast()] }
    if scenario.faults.contains(.linkDuplicatesBytes) { return [bytes, bytes] }
    if scenario.faults.contains(.linkSwapsBytes), bytes.count > 1 {
      let middle = bytes.startIndex + bytes.count / 2
      return [bytes[middle...], bytes[..<middle]]
    }
    return [bytes]
  }
}
