import PiconetEngine
import PiconetWire

/// Trouble: connections cut and stalled, nodes partitioned, paused and crashed.
extension World {
  func strike(_ weather: Weather) {
    note(.world("\(weather)"))
    switch weather {
    case .cut: cutOne()
    case .stall(let length): stallOne(length)
    case .partition(let length):
      partition = (0..<scenario.nodeCount).map { _ in weatherDice.number(0...1) }
      causes.trouble(of: nil, until: now + length)
      enter(.weather(.healPartition), in: length)
    case .healPartition: healPartition()
    case .outage(let kind, let isTold, let length):
      if isCalm { return }
      outages.insert(kind)
      causes.trouble(of: nil, until: now + length)
      if isTold { cutAll(kind) }
      enter(.weather(.endOutage(kind)), in: length)
    case .endOutage(let kind):
      outages.remove(kind)
      healPartition(partition)
    case .pause(let length):
      let node = nodes[weatherDice.number(0...(scenario.engineCount - 1))]
      node.pausedUntil = now + length
      causes.trouble(of: node.index, until: now + length)
    case .hide(let length):
      let node = nodes[weatherDice.number(0...(scenario.engineCount - 1))]
      if node.isHidden || isCalm { return }
      setHidden(true, node)
      enter(.weather(.show(node: node.index)), in: length)
    case .show(let index): setHidden(false, nodes[index])
    case .crash(let index, let pause): crash(nodes[index], restartAfter: pause)
    case .restart(let index): restart(nodes[index])
    case .refuseDials(let length):
      dialsRefusedUntil = now + length
      causes.trouble(of: nil, until: now + length)
    }
  }

  func setHidden(_ isHidden: Bool, _ node: SimulatedNode) {
    guard node.isAlive, node.isHidden != isHidden else { return }
    node.isHidden = isHidden
    followListening(node)
    post(.fact(.availabilityChanged(!isHidden)), to: node)
  }

  /// Starts or stops listening. A hidden node listens only while it expects links, like a driver.
  func followListening(_ node: SimulatedNode) {
    node.listens = !node.isHidden || node.engine.expectsAnybody
    guard node.saysListening != node.listens, node.isAlive, !node.isFinished else { return }
    node.saysListening = node.listens
    let ports = node.listens ? transports(of: node.index).map { ($0, Self.port) } : []
    post(.fact(.listeningChanged(ListeningPort.list(Dictionary(uniqueKeysWithValues: ports)))), to: node)
  }

  private func drawConnection() -> Connection? {
    let open = connections.filter { $0.isOpen }
    return open.isEmpty ? nil : weatherDice.pick(open)
  }

  /// Cuts a connection. Both sides are told, or one, or neither; at once or late.
  private func cutOne() {
    guard let connection = drawConnection() else { return }
    cut(connection, told: weatherDice.pick([[0, 1], [0, 1], [0], [1], []]))
  }

  private func cut(_ connection: Connection, told: [Int]) {
    for side in 0...1 { connection.pipes[side].isDead = true }
    troubled(connection)
    note(.network("cut", connection.number, 0, 0))
    let failure = LinkFailure(weatherDice.pick([.reset, .timedOut, .unreachable]))
    for side in told {
      let delay = weatherDice.chance(50) ? 0 : weatherDice.milliseconds(1...1_000)
      enter(.linkLost(connection: connection.number, side: side, failure), in: delay)
    }
  }

  private func stallOne(_ length: UInt64) {
    guard let connection = drawConnection() else { return }
    let sides = weatherDice.pick([[0, 1], [0], [1]])
    for side in sides { connection.pipes[side].stalledUntil = now + length }
    troubled(connection, for: length)
    note(.network("stall", connection.number, sides.count, Int(length / 1_000_000)))
  }

  /// Cuts all connections over a transport whose adapter is gone. Both sides are told.
  private func cutAll(_ kind: TransportKind) {
    for connection in connections where connection.kind == kind && connection.isOpen { cut(connection, told: [0, 1]) }
  }

  /// Heals a partition. Bytes on their way continue: the separated pipes could not deliver their arrivals.
  func healPartition(_ left: [Int]? = nil) {
    partition = left
    for connection in connections where !connection.isOver { resume(connection) }
  }

  /// Notes that frames sent over the connection may be lost.
  func troubled(_ connection: Connection, for length: UInt64 = 0) {
    for end in connection.ends { causes.trouble(of: end.node, until: now + length) }
  }

  private func resume(_ connection: Connection) {
    for side in 0...1 { pump(connection, side) }
  }

  /// Crashes a node. The engine and all its links are gone. The remote sides are told at once, late, or never.
  func crash(_ node: SimulatedNode, restartAfter pause: UInt64) {
    guard node.isAlive, !isCalm else { return }
    statistics.crashes += 1
    causes.trouble(of: node.index, until: now)
    node.isAlive = false
    flows.crashed(node.node)
    calls.crashed(node.node)
    for connection in connections {
      for side in 0...1 where connection.ends[side].node == node.index && connection.ends[side].state != .closed {
        abandon(connection, side)
      }
    }
    for observer in 0..<scenario.engineCount where observer != node.index {
      for source in 0..<scenario.discovery.sources where weatherDice.chance(80) {
        let gone = Fact.discoveryReported(
          source: source == 0 ? "dns-sd" : "second", .gone(node.peer, node.node.incarnation))
        enter(
          .fact(node: observer, life: nodes[observer].life, gone), in: weatherDice.word() % scenario.discovery.lossDelay
        )
      }
    }
    enter(.weather(.restart(node: node.index)), in: pause)
  }

  private func abandon(_ connection: Connection, _ side: Int) {
    connection.ends[side].state = .closed
    connection.pipes[1 - side].isDead = true
    connection.pipes[side].dropWaiting()
    switch weatherDice.number(0...2) {
    case 0:
      // The kernel says goodbye for the process.
      connection.pipes[side].closing = .reset
      pump(connection, side)
    case 1: connection.pipes[side].isDead = true
    default:
      connection.pipes[side].isDead = true
      enter(
        .linkLost(connection: connection.number, side: 1 - side, LinkFailure(.timedOut)),
        in: weatherDice.milliseconds(1...3_000))
    }
  }

  private func restart(_ node: SimulatedNode) {
    guard !node.isAlive else { return }
    let fresh = NodeID(peer: node.peer, incarnation: Incarnation(rawValue: weatherDice.word()))
    let engine = SessionEngine(
      identity: LocalIdentity(node: fresh), configuration: scenario.engineConfiguration(of: node.index),
      seed: weatherDice.word())
    collectTrace(of: node)
    node.begin(node: fresh, engine: engine)
    startRecording(node)
    names[fresh] = "n\(node.index).\(node.life)"
    note(.world("n\(node.index) starts again"))
    announceStart(of: node.index)
    beginApplication(of: node)
  }
}
