import PiconetWire

@testable import PiconetEngine

/// An engine with members that relay, take tunnels, or neither.
final class TunnelEngine {
  let engine: IntroducedEngine
  var side: Side { engine.side }
  private(set) var members: [PlayedNode] = []

  static let capabilities: Capabilities = [.removal, .introductions, .resume, .relay, .tunnels]

  /// - Parameter relays: whether the engine relays.
  init(
    members: [UInt8], _ capabilities: Capabilities = TunnelEngine.capabilities, relays: Bool = true,
    _ change: (inout EngineConfiguration) -> Void = { _ in }
  ) {
    engine = IntroducedEngine(members: 0) {
      $0.transports = [.tcp, .relay]
      $0.capacity = 16
      if relays { $0.relaying = RelayQuotas() }
      change(&$0)
    }
    for byte in members { self.members.append(join(byte, capabilities)) }
    side.forgetLog()
  }

  @discardableResult
  func join(_ byte: UInt8, _ capabilities: Capabilities = TunnelEngine.capabilities) -> PlayedNode {
    engine.played(node(byte)).connect(capabilities)
  }

  /// The first member has a tunnel to the second one, which numbers its own half as the engine has chosen. Both take as
  /// much ahead as there may be.
  /// - Returns: the number of the half that leads to the second one.
  @discardableResult
  func relay(_ number: UInt64 = 0, from: Int = 0, to: Int = 1) -> UInt64? {
    let outcome = members[from].receive(.openTunnel(tunnel: number, to: members[to].far))
    for case .offerTunnel(let other, _, let relays) in members[to].sent(outcome) {
      let limit = Tunnel.largestWindow
      members[to].receive(
        .tunnelOpened(tunnel: other, relays: relays), .tunnelCredit(tunnel: other, consumed: 0, limit: limit))
      members[from].receive(.tunnelCredit(tunnel: number, consumed: 0, limit: limit))
      return other
    }
    return nil
  }
}

extension PlayedNode {
  /// Takes what has come through tunnels, and gives credit for it.
  /// - Parameter taken: bytes of each tunnel until now.
  /// - Returns: how many bytes.
  func takeTunnelled(_ outcome: Outcome, _ taken: inout [UInt64: UInt64]) -> Int {
    var count = 0
    for case .tunnelData(let number, let bytes) in sent(outcome) {
      count += bytes.count
      taken[number, default: 0] += UInt64(bytes.count)
    }
    if count == 0 { return 0 }
    let credits = taken.sorted { $0.key < $1.key }.map { number, consumed in
      FrameEncoder.encode(.tunnelCredit(tunnel: number, consumed: consumed, limit: consumed + 524_288))
    }
    let more = one.side.take(.received(link, credits.flatMap { $0 }[...]))
    return count + takeTunnelled(more, &taken)
  }
}

extension [Frame] {
  /// Of each tunnel that is closed the reason, in order.
  var closes: [Reason] {
    compactMap { if case .closeTunnel(_, let reason, _) = $0 { reason } else { nil } }
  }

  /// What comes through tunnels, joined.
  var tunnelled: [UInt8] {
    reduce(into: [UInt8]()) { joined, frame in
      if case .tunnelData(_, let bytes) = frame { joined += bytes }
    }
  }

  var credits: [(consumed: UInt64, limit: UInt64)] {
    compactMap { if case .tunnelCredit(_, let consumed, let limit) = $0 { (consumed, limit) } else { nil } }
  }
}
