import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Whether a link is alive")
struct LivenessTests {
  private func link(_ phase: Link.Phase = .active, silence: UInt64 = 20_000) -> Link {
    let opening = LinkOpening(
      dial: nil, peer: peer(1), traits: someTraits)
    let link = Link(
      id: LinkID(rawValue: 1), opening: opening, at: seconds(100), EngineConfiguration(scope: "test", name: "test"))
    link.phase = phase
    link.hello = Hello(
      incarnation: Incarnation(rawValue: 1), name: "", scope: "", limits: PeerLimits(silence: silence))
    return link
  }

  @Test(
    "before it is active a link has the time of the handshake, whatever comes meanwhile",
    arguments: [Link.Phase.awaitingHello, .awaitingTrust, .ready])
  func handshake(phase: Link.Phase) {
    let link = link(phase)
    link.lastReceived = seconds(105)
    link.lastSent = seconds(105)
    #expect(link.nextDeadline(configuration { $0.handshakeTimeout = .seconds(7) }) == seconds(107))
  }

  @Test(
    "a quiet link pings after a quarter of the shorter patience",
    arguments: [
      (ours: 20_000, theirs: 20_000, expected: 5_000), (ours: 8_000, theirs: 20_000, expected: 2_000),
      (ours: 20_000, theirs: 8_000, expected: 2_000), (ours: 2_000, theirs: 1_000, expected: 250),
      (ours: 86_400_000, theirs: 86_400_000, expected: 21_600_000),
    ])
  func quarter(ours: Int, theirs: Int, expected: Int) {
    let link = link(silence: UInt64(theirs))
    let configuration = configuration { $0.disconnectTimeout = .milliseconds(ours) }
    #expect(link.nextPing(configuration) == seconds(100) + .milliseconds(expected))
    #expect(link.nextDeadline(configuration) == link.nextPing(configuration))
  }

  @Test("what we send keeps the far side calm, but not us")
  func sendingIsNotHearing() {
    let link = link(silence: 8_000)
    link.lastSent = seconds(103)
    #expect(link.nextPing(configuration()) == seconds(105))
    link.lastReceived = seconds(104)
    #expect(link.nextPing(configuration()) == seconds(105))
    link.lastSent = seconds(104)
    #expect(link.nextPing(configuration()) == seconds(106))
  }

  @Test("an unanswered ping is not repeated before another quarter")
  func unanswered() {
    let link = link()
    link.lastSent = seconds(105)
    link.pingedAt = seconds(105)
    #expect(link.nextPing(configuration()) == seconds(110))
  }

  @Test("patience ends by what was heard, whatever was sent")
  func patience() {
    let link = link()
    link.lastSent = seconds(119)
    link.pingedAt = seconds(119)
    #expect(link.nextDeadline(configuration()) == seconds(120))
  }

  @Test("no silence that a far side states makes us ping more than four times in a second", arguments: [0, 1, 999])
  func tinySilence(silence: UInt64) {
    #expect(link(silence: silence).nextPing(configuration()) == seconds(100) + .milliseconds(250))
  }

  @Test("an endless silence is a day", arguments: [86_400_000, UInt64(Int64.max), .max] as [UInt64])
  func hugeSilence(silence: UInt64) {
    let configuration = configuration { $0.disconnectTimeout = .seconds(86_400 * 8) }
    #expect(link(silence: silence).nextPing(configuration) == seconds(100) + .seconds(21_600))
  }

  @Test("without a hello the far side's patience is the default")
  func withoutHello() {
    let link = link()
    link.hello = nil
    #expect(link.nextPing(configuration { $0.disconnectTimeout = .seconds(80_000) }) == seconds(105))
  }
}
