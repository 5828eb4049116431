import PiconetWire
import Testing

@testable import PiconetTLS

private func peer(_ number: UInt8) -> PeerID { PeerID(bytes: [UInt8](repeating: number, count: 32))! }

@Suite struct TrustPolicyTests {
  private static let rest = "5\tcode\tpush:images send:images\t-\n"
  private let known: KnownPeers

  init() throws {
    let text =
      "piconet-known-peers 2\n\(peer(1))\tAnna\t\(Self.rest)\(peer(2))\tBen\t\(Self.rest)"
      + "\(peer(4))\tOnce\t5\tfirst-use\tsend:*\t-\n\(peer(5))\tBad\t5\tcode\tblocked\t-\n"
      + "\(peer(6))\tMute\t5\tcode\t-\t-\n\(peer(7))\tPusher\t5\tcode\tpush:images\t-\n"
    known = try KnownPeers(path: "/state/known-peers", text: Array(text.utf8))
  }

  private func verdict(
    _ policy: TrustPolicy, _ number: UInt8, _ name: String, _ program: String = "images", isDialled: Bool = false
  ) -> TrustVerdict {
    policy.judge(peer: peer(number), name: name, program: program, isDialled: isDialled, knownPeers: known)
  }

  @Test(
    "a known key is let in under every policy, whatever it calls itself, another known name too",
    arguments: ["Anna", "Anna 2", "Ben"])
  func remembered(name: String) {
    for policy in [TrustPolicy.remembered, .firstUse, .ask, .pinned([peer(1)])] {
      #expect(verdict(policy, 1, name) == .known)
    }
  }

  @Test("a new peer is let in, asked about or refused, as the policy says")
  func new() {
    #expect(verdict(.firstUse, 3, "Carl") == .new(.accepted))
    #expect(verdict(.ask, 3, "Carl") == .new(.needsAsking))
    #expect(verdict(.remembered, 3, "Carl") == .refused(.notRemembered))
    #expect(verdict(.pinned([peer(1)]), 3, "Carl") == .refused(.notPinned))
    #expect(verdict(.pinned([peer(3)]), 3, "Carl") == .known)
  }

  @Test("pinned means pinned: what is remembered does not let in")
  func pinned() { #expect(verdict(.pinned([]), 1, "Anna") == .refused(.notPinned)) }

  @Test("a stranger with a remembered name is a changed key")
  func keyChanged() throws {
    for policy in [TrustPolicy.remembered, .firstUse, .ask] {
      guard case .keyChanged(let change) = verdict(policy, 3, "Ben") else {
        Issue.record("not noticed under \(policy)")
        continue
      }
      #expect(change.remembered == peer(2) && change.presented == peer(3))
      for part in [
        peer(2).shortDescription, peer(3).shortDescription, "piconet trust forget \(peer(2).shortDescription)", "Ben",
      ] {
        #expect(change.description.contains(part))
      }
    }
  }

  @Test("a blocked key is refused under every policy, pinned or not, before the user is asked")
  func blocked() {
    for policy in [TrustPolicy.remembered, .firstUse, .ask, .pinned([peer(5)])] {
      #expect(verdict(policy, 5, "Bad") == .refused(.blocked))
    }
  }

  @Test("rights are those of one program, and of one direction")
  func rights() {
    #expect(verdict(.remembered, 1, "Anna", "cat") == .refused(.noRight))
    #expect(verdict(.remembered, 6, "Mute") == .refused(.noRight))
    #expect(verdict(.remembered, 4, "Once", "cat") == .known)
    // A peer that may push to us is let in, but is not one to send to.
    #expect(verdict(.remembered, 7, "Pusher") == .known)
    #expect(verdict(.remembered, 7, "Pusher", isDialled: true) == .refused(.noRight))
  }

  @Test("the user is asked about a key without the right, or without a confirmation, before it is sent to")
  func asked() {
    #expect(verdict(.ask, 1, "Anna") == .known)
    for (number, program) in [(4, "images"), (6, "images"), (7, "images"), (1, "cat")] as [(UInt8, String)] {
      #expect(verdict(.ask, number, "x", program) == .new(.needsAsking), "\(number)")
    }
  }

  @Test("the message about a changed key is safe on a terminal")
  func messageIsEscaped() {
    var peers = KnownPeers(path: "/p")
    let name = "\u{1B}]0;owned\u{7}\nAll is well"
    #expect(throws: Never.self) { try peers.take(peer(1), name: name, at: 0, confirmed: .code, rights: []) }
    let verdict = TrustPolicy.firstUse.judge(peer: peer(2), name: name, program: "p", knownPeers: peers)
    guard case .keyChanged(let change) = verdict else {
      Issue.record("not noticed")
      return
    }
    #expect(change.description.hasPrefix("\"\\u{1b}]0;owned\\u{7}\\u{a}All is well\" is not"))
  }

  @Test("two remembered devices of one name are both known")
  func namesakes() throws {
    let peers = try KnownPeers(path: "/p", text: Array("\(peer(1))\tphone\t1\n\(peer(2))\tphone\t2\n".utf8))
    for number in [1, 2] as [UInt8] {
      let verdict = TrustPolicy.firstUse.judge(peer: peer(number), name: "phone", program: "p", knownPeers: peers)
      #expect(verdict == .known)
    }
  }
}
