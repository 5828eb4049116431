import GameKitMainActorProgram
import GameKitSwift5Program
import Testing

@testable import GameKit

@Suite("Programs as they are written for GameKit")
struct ProgramTests {
  @Test("a mock that overrides every method has the calls")
  func mock() throws {
    let session: GKSession = MockSession()
    session.connect(toPeer: "a", withTimeout: 1)
    session.isAvailable = true
    try session.sendData(toAllPeers: Data([1]), with: .reliable)
    #expect((session as? MockSession)?.calls == ["connect"] && (session as? MockSession)?.sent == [Data([1])])
    #expect(session.isAvailable && !session.core.isAvailable)
    #expect(session.peers(with: .stateConnected) as? [String] == ["a", "b"])
  }

  @Test("programs in Swift 5, and on the main actor by default, are accepted")
  @MainActor func languages() {
    let session = GKSession()
    for delegate in [MatchMaker(), ScoreBoard()] as [any GKSessionDelegate] {
      session.delegate = delegate
      #expect(session.delegate === delegate)
    }
  }
}
