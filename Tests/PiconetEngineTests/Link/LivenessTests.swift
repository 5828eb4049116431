import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Whether a link is alive")
struct LivenessTests {
  private func link(
    _ phase: Link.Phase = .active, silence: UInt64? = 20_000, _ change: (inout EngineConfiguration) -> Void = { _ in }
  ) -> Link {
    let limits = silence.map { PeerLimits(silence: $0) } ?? PeerLimits()
    let hello = Hello(incarnation: Incarnation(rawValue: 1), name: "", sessionID: "", limits: limits)
    return PiconetEngineTests.link(reached: phase, hello, at: seconds(100), configuration(change))
  }

  @Test(
    "before it is active a link has the time of the handshake, whatever comes meanwhile",
    arguments: [Link.Phase.awaitingHello, .awaitingTrust, .ready])
  func handshake(phase: Link.Phase) {
    let link = link(phase) { $0.handshakeTimeout = .seconds(7) }
    link.heard(seconds(105))
    link.spoke(seconds(105))
    #expect(link.nextDeadline == seconds(107))
    #expect(link.due(at: seconds(106), soon: seconds(108)) == nil)
    #expect(link.due(at: seconds(107), soon: seconds(107)) == .handshake)
  }

  @Test(
    "a quiet link pings after a quarter of the shorter patience",
    arguments: [
      (ours: 20_000, theirs: 20_000, expected: 5_000), (ours: 8_000, theirs: 20_000, expected: 2_000),
      (ours: 20_000, theirs: 8_000, expected: 2_000), (ours: 2_000, theirs: 1_000, expected: 250),
      (ours: 86_400_000, theirs: 86_400_000, expected: 21_600_000),
    ])
  func quarter(ours: Int, theirs: Int, expected: Int) {
    let link = link(silence: UInt64(theirs)) { $0.disconnectTimeout = .milliseconds(ours) }
    let end = seconds(100) + .milliseconds(expected)
    #expect(link.nextDeadline == end)
    #expect(link.due(at: seconds(100), soon: end) == .ping)
  }

  @Test("our own frames are signs of life for the remote side, but not for us")
  func sendingIsNotHearing() {
    let link = link(silence: 8_000)
    link.spoke(seconds(103))
    #expect(link.nextDeadline == seconds(105))
    link.heard(seconds(104))
    #expect(link.nextDeadline == seconds(105))
    link.spoke(seconds(104))
    #expect(link.nextDeadline == seconds(106))
  }

  @Test("another timeout counts for links that are there")
  func anotherTimeout() {
    let link = link()
    link.setDisconnectTimeout(.seconds(4))
    #expect(link.nextDeadline == seconds(101))
  }

  @Test("an unanswered ping is not repeated before another quarter")
  func unanswered() {
    let link = link()
    link.ping(seconds(105))
    #expect(link.nextDeadline == seconds(110))
  }

  @Test("patience ends by what was heard, whatever was sent")
  func patience() {
    let link = link()
    link.ping(seconds(119))
    #expect(link.nextDeadline == seconds(120))
    #expect(link.due(at: seconds(120), soon: seconds(120)) == .silence(.seconds(20)))
  }

  @Test("no silence that a remote side states makes us ping more than four times in a second", arguments: [0, 1, 999])
  func tinySilence(silence: UInt64) {
    #expect(link(silence: silence).nextDeadline == seconds(100) + .milliseconds(250))
  }

  @Test("an endless silence is a day", arguments: [86_400_000, UInt64(Int64.max), .max] as [UInt64])
  func hugeSilence(silence: UInt64) {
    let link = link(silence: silence) { $0.disconnectTimeout = .seconds(86_400 * 8) }
    #expect(link.nextDeadline == seconds(100) + .seconds(21_600))
  }

  @Test("without a hello the remote side's patience is the default")
  func withoutHello() {
    let link = link(silence: nil) { $0.disconnectTimeout = .seconds(80_000) }
    #expect(link.nextDeadline == seconds(105))
  }
}
