import PiconetEngine
import PiconetWire

/// Dials, from the effect to two open links.
extension World {
  /// Returns the addresses at which a node listens, over every transport of the scenario.
  func addresses(of index: Int) -> [TransportAddress] {
    transports(of: index).map { TransportAddress(kind: $0, text: Self.address($0, of: index, port: Self.port)) }
  }

  /// Returns the scenario's transports over which a node can be reached, and reach others.
  func transports(of index: Int) -> [TransportKind] {
    scenario.transports.filter { scenario.configurations[index].transports.contains($0) }
  }

  static let port: UInt16 = 7

  /// Returns the number of a node as a host, and a port in the form of the transport.
  private static func address(_ kind: TransportKind, of index: Int, port: UInt16) -> String {
    switch kind {
    case .l2cap, .le: "00:00:00:00:00:\(twoDigits(index + 1))/0x000\(port)"
    case .rfcomm: "00:00:00:00:00:\(twoDigits(index + 1))/\(port)"
    case .tcp, .relay, .simulated: "10.0.0.\(index + 1):\(port)"
    }
  }

  private static func twoDigits(_ number: Int) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return digits.count < 2 ? "0" + digits : digits
  }

  /// Returns the node at an address. All other addresses lead nowhere.
  private func target(_ address: TransportAddress) -> Int? {
    (0..<scenario.nodeCount).first { Self.address(address.kind, of: $0, port: Self.port) == address.text }
  }

  func startDial(_ dial: DialID, _ kind: TransportKind, _ addresses: [TransportAddress], by node: SimulatedNode) {
    if kind == .relay { return dialOverRelay(dial, addresses, by: node, nil) }
    let index = pendingDials.count
    pendingDials.append(PendingDial(node: node.index, life: node.life, dial: dial, kind: kind))
    node.dials[dial] = index
    statistics.dials += 1
    let delay = conditions().latency * 2 + networkDice.microseconds(10...500)
    let mayFail = !isCalm && !scenario.fairLinks
    if mayFail && networkDice.chance(scenario.dialHangChance) {
      return enter(.dialDone(index: index, .failed(LinkFailure(.timedOut))), in: 3_000_000_000)
    }
    if mayFail && (networkDice.chance(scenario.dialFailChance) || dialsRefusedUntil > now) {
      return enter(.dialDone(index: index, .failed(LinkFailure(.refused))), in: delay)
    }
    guard let answering = addresses.lazy.compactMap({ self.target($0) }).first else {
      return enter(.dialDone(index: index, .failed(LinkFailure(.unreachable, "no such address"))), in: delay)
    }
    guard transports(of: answering).contains(kind) else {
      return enter(.dialDone(index: index, .failed(LinkFailure(.unreachable))), in: delay)
    }
    enter(.dialDone(index: index, .answered(by: answering)), in: delay)
  }

  private func conditions() -> LinkConditions {
    scenario.fairLinks ? .quiet : LinkConditions.drawn(&networkDice)
  }

  func cancelDial(_ dial: DialID, by node: SimulatedNode) {
    guard let index = node.dials[dial], !pendingDials[index].isOver else { return }
    pendingDials[index].isOver = true
    answer(node, .dialFailed(dial, LinkFailure(.cancelled)), within: 1_000)
  }

  func dialDone(_ index: Int, _ outcome: DialOutcome) {
    let pending = pendingDials[index]
    guard !pending.isOver else { return }
    pendingDials[index].isOver = true
    let dialler = nodes[pending.node]
    guard dialler.life == pending.life, dialler.isAlive || isHostile(pending.node) else { return }
    switch outcome {
    case .failed(let failure): post(.fact(.dialFailed(pending.dial, failure)), to: dialler)
    case .answered(let remote):
      let isParted = outages.contains(pending.kind) || (partition.map { $0[remote] != $0[pending.node] } ?? false)
      guard isHostile(remote) || (nodes[remote].listens && nodes[remote].isAlive && !nodes[remote].isFinished),
        !isParted
      else {
        return post(.fact(.dialFailed(pending.dial, LinkFailure(isParted ? .unreachable : .refused))), to: dialler)
      }
      let connection = connect(pending.node, remote, over: pending.kind)
      open(connection, 0, dial: pending.dial)
      enterAccepted(connection)
    }
  }

  /// Enters the accepted side. The dialling side finishes the handshake first; its bytes can't overtake the last flight
  /// of its handshake.
  func enterAccepted(_ connection: Connection) {
    let delay = connection.pipes[0].conditions.latency
    connection.pipes[0].lastArrival = now + delay
    connection.pipes[1].lastArrival = now
    enter(.accepted(connection: connection.number), in: delay)
  }

  func connect(_ dialler: Int, _ acceptor: Int, over kind: TransportKind = .tcp) -> Connection {
    let connection = Connection(
      number: connections.count, kind: kind,
      ends: [dialler, acceptor].map { Connection.End(node: $0, life: nodes[$0].life) },
      pipes: [Pipe(conditions: conditions()), Pipe(conditions: conditions())])
    connections.append(connection)
    statistics.connections += 1
    note(.network("connection", connection.number, dialler, acceptor))
    return connection
  }

  func accepted(_ connection: Connection) {
    let end = connection.ends[1]
    let node = nodes[end.node]
    guard end.state == .opening, isHostile(end.node) || (node.isAlive && node.life == end.life && !node.isFinished)
    else {
      connection.ends[1].state = .closed
      connection.pipes[1].closing = .reset
      return pump(connection, 1)
    }
    open(connection, 1, dial: nil)
  }

  /// Returns the traits of a link. L2CAP behaves as in its basic mode, which holds little.
  private func traits(of kind: TransportKind, to remote: Int, port: UInt16) -> LinkTraits {
    LinkTraits(
      kind: kind, remoteAddress: Self.address(kind, of: remote, port: port),
      transmitWindow: kind == .l2cap ? 20_000 : nil,
      unreadLimit: kind == .l2cap ? 50_000 : nil)
  }

  func open(_ connection: Connection, _ side: Int, dial: DialID?) {
    let end = connection.ends[side]
    connection.ends[side].state = .open
    if isHostile(end.node) { return hostileOpened(connection, side) }
    let node = nodes[end.node]
    let link = LinkID(rawValue: node.nextLink)
    node.nextLink += 1
    connection.ends[side].link = link
    node.links[link] = (connection.number, side)
    let remote = connection.ends[1 - side].node
    // The dialler has another port, at which no node listens.
    let traits = traits(of: connection.kind, to: remote, port: dial == nil ? 9 : Self.port)
    let peer = connection.ends[1 - side].key ?? nodes[remote].peer
    let opening = LinkOpening(dial: dial, peer: peer, traits: traits)
    post(.fact(.linkOpened(link, opening)), to: node)
  }
}
