import Foundation
import MultipeerConnectivity.MCPeerID
import Testing

@testable import MultipeerConnectivity

@Suite("A peer's id")
struct PeerIDTests {
  @Test("is unique for each instance, of one name too, and is a key")
  func unique() {
    let one = MCPeerID(displayName: "Anna")
    #expect(one != MCPeerID(displayName: "Anna"))
    #expect(one == one.copy() as? MCPeerID)
    #expect([one: 1][one] == 1)
  }

  @Test("comes back from every kind of archive as the same, with the same hash")
  func archive() throws {
    let one = MCPeerID(displayName: "Ännchen 🐈")
    for isSecure in [true, false] {
      let data = try NSKeyedArchiver.archivedData(withRootObject: one, requiringSecureCoding: isSecure)
      let other = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data))
      #expect(other == one && other.hash == one.hash && other.hashValue == one.hashValue)
      #expect(other.displayName == "Ännchen 🐈")
    }
  }

  @Test("has the same hash in every process: that of the number alone")
  func hash() {
    #expect(MCPeerID(identifier: 42, displayName: "a").hash == 42)
    #expect(MCPeerID(identifier: 42, displayName: "a") == MCPeerID(identifier: 42, displayName: "b"))
  }

  @Test("without a name has the host's")
  func empty() {
    #expect(!MCPeerID(displayName: "").displayName.isEmpty)
  }

  @Test("with a name of 63 bytes is made; one of 64 is refused with the rule")
  func length() async {
    #expect(MCPeerID(displayName: String(repeating: "a", count: 63)).displayName.count == 63)
    await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = MCPeerID(displayName: String(repeating: "a", count: 64))
    }
  }

  @Test("with control characters has spaces in their place on the air")
  func control() {
    #expect(DisplayName.ofNode("a\nb\u{7F}c") == "a b c")
  }
}
