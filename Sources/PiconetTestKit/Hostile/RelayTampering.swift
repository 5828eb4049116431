import PiconetEngine
import PiconetWire

/// The tampering of a relaying member with the tunnels that it passes on. In everything else it follows the protocol.
struct RelayTampering: Sendable {
  enum Act: String, Sendable, CaseIterable {
    /// Leaves out bytes: all of a frame, or the end of it.
    case drop, truncate
    /// Delivers bytes later, in their order or in another one.
    case delay, reorder
    /// Changes, repeats or invents bytes.
    case change, replay, inject
    /// Puts bytes into another tunnel over the same link.
    case swap
    /// Says that a tunnel comes from another member than the one that has opened it.
    case rename
  }

  var acts: [Act]
  /// The chance that it tampers with a frame, out of a hundred.
  var chance: Int
  /// The time before which it does not tamper.
  var since: UInt64
  /// Whether it goes on when all other trouble has ended.
  var goesOn = false
}

/// The memory of such a relay for one of its links: what it sends there, by tunnels.
struct TamperedLink {
  struct TamperedTunnel {
    var held: [Bytes] = []
    var last: Bytes = []
  }

  var tunnels: [UInt64: TamperedTunnel] = [:]

  var open: [UInt64] { tunnels.keys.sorted() }
}

extension World {
  /// Returns the bytes of a relay's engine for a link, after the relay has tampered with the tunnels in them. Each
  /// frame stays one frame. The sequence of frames belongs to this link, whose other end would notice a change.
  func relayTampered(_ bytes: Bytes, _ link: LinkID, of node: SimulatedNode) -> Bytes {
    guard let tampering = scenario.tampering[node.index], now >= tampering.since, tampering.goesOn || !isCalm else {
      return bytes
    }
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    decoder.push(bytes)
    var result: [UInt8] = []
    var hasChanged = false
    while let frame = try? decoder.next() {
      guard let others = tampered(frame, tampering, link, of: node) else {
        FrameEncoder.append(frame, to: &result)
        continue
      }
      hasChanged = true
      result += others
    }
    guard hasChanged else { return bytes }
    causes.tampered(by: node.index, at: now)
    return result[...]
  }

  /// An unknown frame that the receiver skips and counts.
  private static let filler: [UInt8] = [FrameType.optionalBit | FrameType.sequencedBit | 0x21, 0]

  /// - Returns: nil if the frame stays as it is.
  private func tampered(_ frame: Frame, _ tampering: RelayTampering, _ link: LinkID, of node: SimulatedNode)
    -> [UInt8]?
  {
    switch frame {
    case .tunnelData(let number, let payload):
      guard !payload.isEmpty else { return nil }
      var tunnel = node.tampered[link, default: TamperedLink()].tunnels[number, default: .init()]
      let act = hostileDice.chance(tampering.chance) ? hostileDice.pick(tampering.acts) : nil
      var result = act.flatMap { tampered(payload, $0, number, &tunnel, link, of: node) }
      if let act, result != nil {
        statistics.tampered[act.rawValue, default: 0] += 1
      } else if !tunnel.held.isEmpty {
        tunnel.held.append(payload)
        result = FrameEncoder.encode(.tunnelData(tunnel: number, tunnel.held.removeFirst()))
      }
      tunnel.last = payload
      node.tampered[link, default: TamperedLink()].tunnels[number] = tunnel
      return result
    case .offerTunnel(let number, let from, let relays):
      node.tampered[link, default: TamperedLink()].tunnels[number] = .init()
      guard tampering.acts.contains(.rename), hostileDice.chance(tampering.chance) else { return nil }
      let others = node.record.members.keys.sorted()
        .filter { $0 != from }
      guard !others.isEmpty else { return nil }
      statistics.tampered[RelayTampering.Act.rename.rawValue, default: 0] += 1
      return FrameEncoder.encode(.offerTunnel(tunnel: number, from: hostileDice.pick(others), relays: relays))
    case .tunnelOpened(let number, _): node.tampered[link, default: TamperedLink()].tunnels[number] = .init()
    case .closeTunnel(let number, _, _): node.tampered[link]?.tunnels[number] = nil
    default: break
    }
    return nil
  }

  private func tampered(
    _ payload: Bytes, _ act: RelayTampering.Act, _ number: UInt64, _ tunnel: inout TamperedLink.TamperedTunnel,
    _ link: LinkID, of node: SimulatedNode
  ) -> [UInt8]? {
    func data(_ bytes: Bytes) -> [UInt8] { FrameEncoder.encode(.tunnelData(tunnel: number, bytes)) }
    // Longer frames might exceed the receiver's limit.
    let hasRoom = payload.count <= 400
    switch act {
    case .drop: return Self.filler
    case .truncate: return payload.count > 1 ? data(payload.prefix(hostileDice.number(1...(payload.count - 1)))) : nil
    case .delay, .reorder:
      tunnel.held.append(payload)
      if tunnel.held.count < 2 { return Self.filler }
      let place = act == .delay ? 0 : hostileDice.number(0...(tunnel.held.count - 1))
      return data(tunnel.held.remove(at: place))
    case .change:
      var changed = Array(payload)
      changed[hostileDice.number(0...(changed.count - 1))] ^= UInt8(1 << hostileDice.number(0...7))
      return data(changed[...])
    case .replay:
      if tunnel.last.isEmpty { return nil }
      return data(hasRoom && hostileDice.chance(50) ? payload + tunnel.last.prefix(400) : tunnel.last)
    case .inject:
      let added = hostileDice.bytes(hostileDice.number(1...200))[...]
      guard hasRoom else { return data(added) }
      return data(hostileDice.chance(50) ? payload + added : added + payload)
    case .swap:
      let others = node.tampered[link]?.open.filter { $0 != number } ?? []
      guard !others.isEmpty else { return nil }
      return FrameEncoder.encode(.tunnelData(tunnel: hostileDice.pick(others), payload))
    case .rename: return nil
    }
  }

  func isTampering(_ index: Int) -> Bool { scenario.tampering[index] != nil }

  /// Returns whether a member between two nodes may have withheld their frames to one another since this time.
  func isTampered(_ one: Int, _ other: Int, since: UInt64) -> Bool {
    scenario.tampering.keys.contains { relay in
      causes.tamperedAt[relay].map { $0 >= since } ?? false
        && (causes.mayRelay(relay, [one, other]) || relay == one || relay == other)
    }
  }
}
