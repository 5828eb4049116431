import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Limits of two sides that differ")
struct FrameLimitTests {
  @Test("a message goes in frames of our own limit where the remote side takes longer ones than our window")
  func messageGoesInFramesOfOurOwnLimit() throws {
    var configuration = EngineConfiguration(sessionID: "test", name: "near")
    configuration.frameLimit = 1_024
    configuration.transmitWindow = 2_048
    let near = try AssociatedEngine(configuration, limits: PeerLimits(frame: 16_381))
    near.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    _ = near.command(.answerInvitation(near.far, accept: true, .left))
    near.receive(.admit)
    near.take(.transmitted(near.link, byteCount: 1_000))
    near.take(.messageQueued(near.far, [UInt8](repeating: 7, count: 5_000)[...], .reliable))
    #expect(try near.transmittedFrames().first == .fragment([UInt8](repeating: 7, count: 1_024)[...]))
  }
}
