import PiconetEngine
import PiconetWire

/// A tunnel as seen by the driver at one of its ends, and the link in it.
struct SimulatedTunnel {
  let dial: DialID?
  var route: TunnelRoute?
  var link: LinkID?
  /// The channel in the tunnel; nil until the tunnel is open.
  var channel: SealedChannel?
  /// The node at the other end, once that is proven.
  var remote: Int?
  /// The number of bytes that were sent and not passed on yet.
  var inFlight = 0
}

extension World {
  // MARK: Dials

  /// How long a relay may take to answer, in nanoseconds.
  static let patienceWithRelays: UInt64 = 5_000_000_000

  /// Tries one relay after the other, like the transport.
  func dialOverRelay(_ dial: DialID, _ addresses: [TransportAddress], by node: SimulatedNode, _ failure: LinkFailure?) {
    guard let first = addresses.first, let (relay, remote) = first.relayed else {
      node.relayDials[dial] = nil
      return answer(node, .dialFailed(dial, failure ?? LinkFailure(.unreachable)), within: 1_000)
    }
    let tunnel = TunnelID(rawValue: node.nextTunnel)
    node.nextTunnel += 1
    node.relayDials[dial] = (tunnel, Array(addresses.dropFirst()))
    node.tunnels[tunnel] = SimulatedTunnel(dial: dial)
    statistics.tunnels += 1
    post(.fact(.tunnelWanted(tunnel, over: relay, to: remote)), to: node)
    enter(.tunnelLate(node: node.index, life: node.life, tunnel), in: Self.patienceWithRelays)
  }

  func cancelRelayDial(_ dial: DialID, by node: SimulatedNode) {
    guard let (tunnel, _) = node.relayDials.removeValue(forKey: dial) else { return }
    node.tunnels[tunnel] = nil
    post(.fact(.tunnelClosed(tunnel, isAborted: true)), to: node)
    answer(node, .dialFailed(dial, LinkFailure(.cancelled)), within: 1_000)
  }

  /// Handles the end of the time in which a relay must open a tunnel, or the other end must prove its identity.
  func tunnelLate(_ id: TunnelID, _ node: SimulatedNode) {
    guard let tunnel = node.tunnels[id], tunnel.link == nil else { return }
    // The handshake has a time limit of its own.
    if tunnel.channel != nil, let opened = node.tunnelHandshakes[id], now < opened { return }
    let failure = LinkFailure(.timedOut)
    if tunnel.channel == nil, let dial = tunnel.dial, let (_, others) = node.relayDials[dial] {
      node.tunnels[id] = nil
      post(.fact(.tunnelClosed(id, isAborted: true)), to: node)
      return dialOverRelay(dial, others, by: node, failure)
    }
    giveUp(id, failure, node)
  }

  /// Gives up a tunnel after its handshake has failed. Its dial tries no other relay.
  private func giveUp(_ id: TunnelID, _ failure: LinkFailure, isOver: Bool = false, _ node: SimulatedNode) {
    guard let tunnel = node.tunnels.removeValue(forKey: id) else { return }
    node.tunnelHandshakes[id] = nil
    if !isOver { post(.fact(.tunnelClosed(id, isAborted: true)), to: node) }
    guard let dial = tunnel.dial, node.relayDials.removeValue(forKey: dial) != nil else { return }
    post(.fact(.dialFailed(dial, failure, at: tunnel.route?.traits.remoteAddress)), to: node)
  }

  // MARK: Effects

  func tunnelOpened(_ id: TunnelID, _ route: TunnelRoute, _ node: SimulatedNode) {
    // The dial may have been cancelled meanwhile.
    guard let tunnel = node.tunnels[id] else { return }
    secure(id, tunnel, route, node)
  }

  func tunnelOffered(_ id: TunnelID, _ route: TunnelRoute, _ node: SimulatedNode) {
    secure(id, SimulatedTunnel(dial: nil), route, node)
  }

  private func secure(_ id: TunnelID, _ tunnel: SimulatedTunnel, _ route: TunnelRoute, _ node: SimulatedNode) {
    var tunnel = tunnel
    tunnel.route = route
    tunnel.channel = SealedChannel(
      of: node.index, isDialler: tunnel.dial != nil, secret: seed.word, nonce: SealedChannel.nonce(&networkDice),
      isBlind: scenario.faults.contains(.tamperingUnseen))
    node.tunnels[id] = tunnel
    writeOut(id, node)
    let patience = UInt64(scenario.configurations[node.index].handshakeTimeout.wholeNanoseconds)
    node.tunnelHandshakes[id] = now + patience
    enter(.tunnelLate(node: node.index, life: node.life, id), in: patience)
  }

  /// Writes the bytes that the channel has sealed to the engine.
  private func writeOut(_ id: TunnelID, _ node: SimulatedNode) {
    guard let bytes = node.tunnels[id]?.channel?.takeOutput(), !bytes.isEmpty else { return }
    post(.fact(.tunnelWritten(id, bytes[...])), to: node)
  }

  func tunnelReceived(_ id: TunnelID, _ bytes: Bytes, _ node: SimulatedNode) {
    post(.fact(.tunnelConsumed(id, byteCount: bytes.count)), to: node)
    guard let opened = node.tunnels[id]?.channel?.open(bytes) else { return }
    writeOut(id, node)
    let state = node.tunnels[id]?.channel?.state
    if case .secured(let remote)? = state, node.tunnels[id]?.link == nil { openLink(in: id, to: remote, node) }
    if let link = node.tunnels[id]?.link, !opened.isEmpty { post(.fact(.received(link, opened[...])), to: node) }
    switch state {
    case .broken: isBroken(id, node)
    case .ended: closedBehind(id, .ended, node)
    case .handshaking, .secured, nil: break
    }
  }

  /// Handles tampering with the incoming bytes by a node in between.
  private func isBroken(_ id: TunnelID, _ node: SimulatedNode) {
    statistics.tamperingSeen += 1
    let failure = SecureChannelFailure(.protocolViolation, "simulated")
    guard node.tunnels[id]?.link != nil else {
      return giveUp(id, LinkFailure(.authentication, "TLS: \(failure)"), node)
    }
    closedBehind(id, .insecure(failure), node)
  }

  /// Handles the end of a link in a tunnel that is still open.
  private func closedBehind(_ id: TunnelID, _ end: LinkEnd, _ node: SimulatedNode) {
    guard let tunnel = node.tunnels.removeValue(forKey: id) else { return }
    post(.fact(.tunnelClosed(id, isAborted: true)), to: node)
    if let remote = tunnel.remote, end != .ended { causes.trouble(between: node.index, remote, until: now) }
    if let link = tunnel.link { post(.fact(.linkClosed(link, end)), to: node) }
  }

  private func openLink(in id: TunnelID, to remote: Int, _ node: SimulatedNode) {
    guard var tunnel = node.tunnels[id], let route = tunnel.route else { return }
    if let dial = tunnel.dial {
      guard node.relayDials.removeValue(forKey: dial) != nil else { return }
    }
    let link = LinkID(rawValue: node.nextLink)
    node.nextLink += 1
    tunnel.link = link
    tunnel.remote = remote
    node.tunnels[id] = tunnel
    node.tunnelLinks[link] = id
    node.tunnelHandshakes[id] = nil
    causes.relayed(
      [node.index, remote], by: Set(route.relays.compactMap { indices[$0.peer] }), count: route.relayCount)
    statistics.relayedLinks += 1
    statistics.longestRelay = max(statistics.longestRelay, route.relayCount)
    let opening = LinkOpening(dial: tunnel.dial, peer: nodes[remote].peer, traits: route.traits)
    post(.fact(.linkOpened(link, opening)), to: node)
  }

  func tunnelTaken(_ id: TunnelID, _ count: Int, _ node: SimulatedNode) {
    node.tunnels[id]?.inFlight += count
    guard let gone = node.tunnels[id]?.channel?.sent(count), gone > 0, let link = node.tunnels[id]?.link else { return }
    post(.fact(.transmitted(link, byteCount: gone)), to: node)
  }

  /// Counts bytes that were passed on. There must not be more than were sent.
  func tunnelPassedOn(_ id: TunnelID, _ count: Int, _ node: SimulatedNode) {
    // Bytes still on their way when the tunnel is closed no longer count.
    guard var tunnel = node.tunnels[id] else { return }
    tunnel.inFlight -= count
    node.tunnels[id] = tunnel
    if tunnel.inFlight < 0 {
      finding("n\(node.index): more of a tunnel has gone on than was sent")
    }
  }

  func tunnelEnded(_ id: TunnelID, _ failure: LinkFailure?, _ node: SimulatedNode) {
    guard let tunnel = node.tunnels[id] else { return }
    if let link = tunnel.link {
      node.tunnels[id] = nil
      // Frames sent in it are lost.
      if failure != nil, let remote = tunnel.remote { causes.trouble(between: node.index, remote, until: now) }
      return post(.fact(.linkClosed(link, failure.map { .failed($0) } ?? .ended)), to: node)
    }
    if tunnel.channel != nil { return giveUp(id, failure ?? LinkFailure(.reset), isOver: true, node) }
    node.tunnels[id] = nil
    guard let dial = tunnel.dial, let (_, others) = node.relayDials[dial] else { return }
    dialOverRelay(dial, others, by: node, failure ?? LinkFailure(.reset))
  }

  // MARK: Links

  func transmit(_ bytes: Bytes, in tunnel: TunnelID, _ link: LinkID, _ node: SimulatedNode) {
    node.tunnels[tunnel]?.channel?.seal(relayTampered(bytes, link, of: node), standingFor: bytes.count)
    writeOut(tunnel, node)
  }

  func closeLink(_ link: LinkID, in tunnel: TunnelID, flush: Bool, _ node: SimulatedNode) {
    node.tunnelLinks[link] = nil
    guard node.tunnels[tunnel] != nil else { return }
    if flush {
      node.tunnels[tunnel]?.channel?.close()
      writeOut(tunnel, node)
    }
    node.tunnels[tunnel] = nil
    post(.fact(.tunnelClosed(tunnel, isAborted: !flush)), to: node)
  }
}
