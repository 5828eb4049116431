import PiconetEngine
import PiconetWire

/// A tunnel as the driver at one of its ends sees it, and the link in it.
///
/// In the place of TLS each side writes a greeting: who it is, and a number. So a relay that cheated about who is at
/// the other end would be found out, as by a certificate; what it could do to bytes is TLS's own affair.
struct SimulatedTunnel {
  let dial: DialID?
  var route: TunnelRoute?
  var link: LinkID?
  /// What has arrived of the greeting.
  var greeting: [UInt8] = []
  let nonce: UInt8
  /// Bytes of our own greeting that are not taken yet.
  var greetingLeft = 2
  /// Bytes that were sent and have not gone on.
  var inFlight = 0
  /// Drawn by both sides, in the place of what TLS exports.
  var channel = 0
}

extension World {
  // MARK: Dials

  /// Tries one relay after the other, as the transport does.
  func dialOverRelay(_ dial: DialID, _ addresses: [TransportAddress], by node: SimulatedNode, _ failure: LinkFailure?) {
    guard let first = addresses.first, let (relay, remote) = first.relayed else {
      node.relayDials[dial] = nil
      return answer(node, .dialFailed(dial, failure ?? LinkFailure(.unreachable)), within: 1_000)
    }
    let tunnel = TunnelID(rawValue: node.nextTunnel)
    node.nextTunnel += 1
    node.relayDials[dial] = (tunnel, Array(addresses.dropFirst()))
    node.tunnels[tunnel] = SimulatedTunnel(dial: dial, nonce: UInt8(networkDice.number(0...255)))
    statistics.tunnels += 1
    post(.fact(.tunnelWanted(tunnel, over: relay, to: remote)), to: node)
  }

  func cancelRelayDial(_ dial: DialID, by node: SimulatedNode) {
    guard let (tunnel, _) = node.relayDials.removeValue(forKey: dial) else { return }
    node.tunnels[tunnel] = nil
    post(.fact(.tunnelClosed(tunnel, isAborted: true)), to: node)
    answer(node, .dialFailed(dial, LinkFailure(.cancelled)), within: 1_000)
  }

  // MARK: Effects

  func tunnelOpened(_ id: TunnelID, _ route: TunnelRoute, _ node: SimulatedNode) {
    // Its dial may have been cancelled meanwhile.
    guard var tunnel = node.tunnels[id] else { return }
    tunnel.route = route
    node.tunnels[id] = tunnel
    greet(id, node)
  }

  func tunnelOffered(_ id: TunnelID, _ route: TunnelRoute, _ node: SimulatedNode) {
    node.tunnels[id] = SimulatedTunnel(dial: nil, route: route, nonce: UInt8(networkDice.number(0...255)))
    greet(id, node)
  }

  private func greet(_ id: TunnelID, _ node: SimulatedNode) {
    guard let nonce = node.tunnels[id]?.nonce else { return }
    post(.fact(.tunnelWritten(id, [UInt8(node.index), nonce])), to: node)
  }

  func tunnelReceived(_ id: TunnelID, _ bytes: Bytes, _ node: SimulatedNode) {
    post(.fact(.tunnelConsumed(id, byteCount: bytes.count)), to: node)
    guard var tunnel = node.tunnels[id] else { return }
    let missing = 2 - tunnel.greeting.count
    tunnel.greeting += bytes.prefix(missing)
    node.tunnels[id] = tunnel
    if tunnel.link == nil, tunnel.greeting.count == 2 { openLink(in: id, node) }
    guard let link = node.tunnels[id]?.link, bytes.count > missing else { return }
    post(.fact(.received(link, bytes.dropFirst(max(0, missing)))), to: node)
  }

  private func openLink(in id: TunnelID, _ node: SimulatedNode) {
    guard var tunnel = node.tunnels[id], let route = tunnel.route else { return }
    let remote = Int(tunnel.greeting[0])
    if let dial = tunnel.dial {
      guard node.relayDials.removeValue(forKey: dial) != nil else { return }
    }
    let link = LinkID(rawValue: node.nextLink)
    node.nextLink += 1
    tunnel.link = link
    tunnel.channel = Int(tunnel.greeting[1] ^ tunnel.nonce) + (remote ^ node.index) << 8
    node.tunnels[id] = tunnel
    node.tunnelLinks[link] = id
    causes.relayed(
      [node.index, remote], by: Set(route.relays.compactMap { indices[$0.peer] }), count: route.relayCount)
    statistics.relayedLinks += 1
    statistics.longestRelay = max(statistics.longestRelay, route.relayCount)
    let opening = LinkOpening(dial: tunnel.dial, peer: nodes[remote].peer, traits: route.traits)
    post(.fact(.linkOpened(link, opening)), to: node)
  }

  func tunnelTaken(_ id: TunnelID, _ count: Int, _ node: SimulatedNode) {
    guard var tunnel = node.tunnels[id] else { return }
    tunnel.inFlight += count
    let ofGreeting = min(count, tunnel.greetingLeft)
    tunnel.greetingLeft -= ofGreeting
    node.tunnels[id] = tunnel
    guard count > ofGreeting, let link = tunnel.link else { return }
    post(.fact(.transmitted(link, byteCount: count - ofGreeting)), to: node)
  }

  /// Never more than was sent.
  func tunnelPassedOn(_ id: TunnelID, _ count: Int, _ node: SimulatedNode) {
    // What is still on its way when the tunnel is closed counts no more.
    guard var tunnel = node.tunnels[id] else { return }
    tunnel.inFlight -= count
    node.tunnels[id] = tunnel
    if tunnel.inFlight < 0 {
      finding("n\(node.index): more of a tunnel has gone on than was sent")
    }
  }

  func tunnelEnded(_ id: TunnelID, _ failure: LinkFailure?, _ node: SimulatedNode) {
    guard let tunnel = node.tunnels.removeValue(forKey: id) else { return }
    if let link = tunnel.link {
      // What was said in it is lost.
      if failure != nil { causes.trouble(between: node.index, Int(tunnel.greeting[0]), until: now) }
      return post(.fact(.linkClosed(link, failure.map { .failed($0) } ?? .ended)), to: node)
    }
    guard let dial = tunnel.dial, let (_, others) = node.relayDials[dial] else { return }
    dialOverRelay(dial, others, by: node, failure ?? LinkFailure(.reset))
  }

  // MARK: Links

  func transmit(_ bytes: Bytes, in tunnel: TunnelID, _ node: SimulatedNode) {
    post(.fact(.tunnelWritten(tunnel, bytes)), to: node)
  }

  func closeLink(_ link: LinkID, in tunnel: TunnelID, flush: Bool, _ node: SimulatedNode) {
    node.tunnelLinks[link] = nil
    guard node.tunnels.removeValue(forKey: tunnel) != nil else { return }
    post(.fact(.tunnelClosed(tunnel, isAborted: !flush)), to: node)
  }
}
