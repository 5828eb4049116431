import PiconetWire
import Testing

@testable import PiconetEngine

/// What a member does to a relay must not fall back on the member behind it.
@Suite("A flood through a relay to another member")
struct RelayFloodTests {
  private let flood = Flood(isMember: true, reads: true) { $0.membership = .group }
  private let other: OneSidedLink

  init() { other = OneSidedLink(flood.one, peer: 2).connect([.resume, .tunnels, .relay, .introductions, .group]) }

  /// The frames that went to the other member.
  private func told(_ outcome: Outcome) -> [Frame] {
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    for case .transmit(other.link, let bytes) in outcome.effects { decoder.push(bytes) }
    var frames: [Frame] = []
    while let frame = try? decoder.next() { frames.append(frame) }
    return frames
  }

  /// A number of the flooding side's for its tunnel.
  private func number(_ round: UInt64) -> UInt64 {
    2 * (round % 60) + (flood.one.far < flood.one.side.node ? 0 : 1)
  }

  private var isStillMember: Bool { flood.one.side.members.contains(other.far) }

  @Test("of tunnels that are opened and closed again a member that answers nothing is told of as many as may be open")
  func openedAndClosed() {
    var offers = 0
    for round in 0..<2_000 as Range<UInt64> where !flood.isOverForSender {
      let outcome = flood.receive(
        .openTunnel(tunnel: number(round), to: other.far),
        .closeTunnel(tunnel: number(round), .left, detail: ""))
      offers += told(outcome).count { if case .offerTunnel = $0 { true } else { false } }
    }
    #expect((1...RelayQuotas().tunnelsPerMember).contains(offers), "\(offers) tunnels")
    #expect(isStillMember)
    #expect(flood.one.side.census.retainedBytes <= flood.bound)
  }

  @Test("bytes for a member that reads none are held up to the tunnel's credit, and affect no other member")
  func deafEnd() {
    openTunnel()
    let most = Int(Tunnel.largestWindow) + overhead
    #expect(heldAtMost() <= most, "more than \(most) bytes")
    #expect(flood.isOverForSender, "bytes beyond the credit end nothing")
    #expect(isStillMember)
  }

  /// What is held beside a tunnel's bytes: what went to the other member and is not acknowledged, with its headers.
  private let overhead = 32 << 10

  /// - Returns: the other member's number.
  @discardableResult
  private func openTunnel() -> UInt64? {
    let outcome = flood.receive(.openTunnel(tunnel: number(0), to: other.far))
    for case .offerTunnel(let offered, _, _) in told(outcome) {
      other.receive(.tunnelOpened(tunnel: offered, relays: 1))
      return offered
    }
    return nil
  }

  /// Bytes without end, of which the other member acknowledges all that comes to it, and gives no more credit.
  /// - Parameter count: of the other member's frames so far.
  /// - Returns: the most that was held because of them.
  private func heldAtMost(_ count: inout UInt64) -> Int {
    let before = flood.one.side.census.retainedBytes
    var most = 0
    for _ in 0..<2_000 where !flood.isOverForSender {
      let outcome = flood.receive(.tunnelData(tunnel: number(0), bytes(900)))
      most = max(most, flood.one.side.census.retainedBytes - before)
      count += UInt64(told(outcome).count { FrameType.isSequenced($0.type) })
      other.receive(.acknowledge(received: count))
    }
    return most
  }

  private func heldAtMost() -> Int {
    var count: UInt64 = 0
    for frame in told(flood.one.side.log) where FrameType.isSequenced(frame.type) { count += 1 }
    return heldAtMost(&count)
  }

  @Test("a member that has taken bytes and then takes no more has 512 KiB held for it, all that its credit allows")
  func stoppedEnd() throws {
    let offered = try #require(openTunnel())
    var count: UInt64 = 0
    for frame in told(flood.one.side.log) where FrameType.isSequenced(frame.type) { count += 1 }
    // The member takes the first bytes, and its credit stays as it was. The relay counts these bytes as passed on.
    var granted: UInt64 = 0
    let piece = Frame.tunnelData(tunnel: number(0), bytes(1_000))
    let first = flood.receive(piece, piece)
    count += UInt64(told(first).count { FrameType.isSequenced($0.type) })
    other.receive(.acknowledge(received: count), .tunnelCredit(tunnel: offered, consumed: 2_000, limit: 65_536))
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    for case .transmit(flood.one.link, let bytes) in first.effects { decoder.push(bytes) }
    while let frame = try? decoder.next() { if case .tunnelCredit(_, _, let limit) = frame { granted = limit } }
    #expect(granted == 2_000 + 512 << 10)
    let held = heldAtMost(&count)
    #expect((Int(Tunnel.largestWindow) - 2_000...Int(Tunnel.largestWindow) + overhead).contains(held), "\(held) bytes")
    #expect(flood.isOverForSender && isStillMember)
  }

  @Test("a member that is asked for by another without end is introduced 1,024 times at most, and stays")
  func askedFor() {
    // They were brought together when the second one came.
    other.receive(.introduced(flood.one.far))
    flood.receive(.introduced(other.far))
    var introductions = 0
    for _ in 0..<3_000 where !flood.isOverForSender {
      let outcome = flood.receive(.askToIntroduce(other.far))
      for case .introduce(let introduction) in told(outcome) {
        introductions += 1
        // Both say at once that they know each other.
        other.receive(.introduced(introduction.member))
        flood.receive(.introduced(other.far))
      }
    }
    #expect((2...1_025).contains(introductions), "\(introductions) introductions")
    #expect(flood.isOverForSender)
    #expect(isStillMember)
  }
}

extension Flood {
  /// The association of the flooding side is over; the other member's may go on.
  var isOverForSender: Bool { !one.side.members.contains(one.far) }
}
