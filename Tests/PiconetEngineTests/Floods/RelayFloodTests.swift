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
        .openTunnel(tunnel: number(round), to: other.far.memberName),
        .closeTunnel(tunnel: number(round), .left, detail: ""))
      offers += told(outcome).count { if case .offerTunnel = $0 { true } else { false } }
    }
    #expect((1...RelayQuotas().tunnelsPerMember).contains(offers), "\(offers) tunnels")
    #expect(isStillMember)
    #expect(flood.one.side.census.retainedBytes <= flood.bound)
  }

  @Test("bytes for a member that takes none are held up to the tunnel's credit, and cost nobody else anything")
  func deafEnd() {
    let outcome = flood.receive(.openTunnel(tunnel: number(0), to: other.far.memberName))
    for case .offerTunnel(let offered, _, _) in told(outcome) {
      other.receive(.tunnelOpened(tunnel: offered, relays: 1))
    }
    var most = 0
    for _ in 0..<2_000 where !flood.isOverForSender {
      flood.receive(.tunnelData(tunnel: number(0), bytes(900)))
      most = max(most, flood.one.side.census.retainedBytes)
    }
    #expect(most <= 2 * flood.bound, "\(most) bytes")
    #expect(flood.isOverForSender, "bytes beyond the credit end nothing")
    #expect(isStillMember)
  }

  @Test("a member that is asked for by another without end is introduced 1,024 times at most, and stays")
  func askedFor() {
    // They were brought together when the second one came.
    other.receive(.introduced(flood.one.far.memberName))
    flood.receive(.introduced(other.far.memberName))
    var introductions = 0
    for _ in 0..<3_000 where !flood.isOverForSender {
      let outcome = flood.receive(.askToIntroduce(other.far.memberName))
      for case .introduce(let introduction) in told(outcome) {
        introductions += 1
        // Both say at once that they know each other.
        other.receive(.introduced(introduction.member))
        flood.receive(.introduced(other.far.memberName))
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
