import Dispatch
import Foundation
import PiconetWire
import Synchronization
import Testing

@testable import PiconetTLS

private func peer(_ number: UInt8) -> PeerID { PeerID(bytes: [UInt8](repeating: number, count: 32))! }

@Suite struct KnownPeersTests {
  @Test("a remembered peer is found by key and by name, also after a restart")
  func remembered() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    #expect(try file.load().entries.isEmpty)
    let known = try file.remember(peer(1), name: "Anna", at: 1000)
    try file.remember(peer(2), name: "Ben", at: 2000)
    #expect(known.entry(of: peer(1))?.name == "Anna")
    let loaded = try file.load()
    #expect(loaded.entry(of: peer(1)) == KnownPeers.Entry(peer: peer(1), name: "Anna", firstSeen: 1000, line: 2))
    #expect(loaded.entries(named: "Ben").map(\.peer) == [peer(2)])
    #expect(loaded.entry(of: peer(3)) == nil && loaded.entries(named: "Carl").isEmpty)
    #expect(loaded.damagedLines.isEmpty)
    #expect(try folder.mode(of: file.path) == 0o600)
  }

  @Test(
    "a known peer that comes with another name keeps the one that it was remembered under, and takes nobody's place")
  func renamed() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.remember(peer(1), name: "Anna", at: 1000)
    let text = try folder.read("known-peers")
    try file.remember(peer(1), name: "Mum", at: 5000)
    #expect(try folder.read("known-peers") == text)
    let known = try file.load()
    #expect(known.entries == [KnownPeers.Entry(peer: peer(1), name: "Anna", firstSeen: 1000, line: 2)])
    // The real one is still a stranger whom nobody has been before.
    #expect(TrustPolicy.firstUse.judge(peer: peer(2), name: "Mum", knownPeers: known) == .new(.accepted))
  }

  @Test("the file is read again when it has changed, was replaced or has gone, and only then")
  func readAgain() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    var memory = KnownPeersFile.Memory()
    #expect(try file.load(&memory).entries.isEmpty)
    try file.remember(peer(1), name: "Anna", at: 1000)
    #expect(try file.load(&memory).entries.map(\.name) == ["Anna"])
    // As an editor does that writes in place.
    let text = try folder.read("known-peers")
    try Data(text.replacing("Anna", with: "Doreen").utf8).write(to: URL(filePath: file.path))
    #expect(chmod(file.path, 0o600) == 0)
    #expect(try file.load(&memory).entries.map(\.name) == ["Doreen"])
    // One that can't be read any more is not remembered as readable; what is the same is not read.
    #expect(chmod(file.path, 0o644) == 0)
    #expect(throws: StateFailure.self) { try file.load(&memory) }
    #expect(chmod(file.path, 0o600) == 0)
    #expect(try file.load(&memory).entries.count == 1)
    #expect(unlink(file.path) == 0)
    #expect(try file.load(&memory).entries.isEmpty)
  }

  @Test(
    "a name comes back as it was, and none can break a line or command a terminal",
    arguments: [
      "", " ", "a b", "tab\there", "two\nlines", "\u{1B}[31mred\u{7}", "back\\slash", "\\u{41}", "nul\0", "\r\n",
      "right-to-left \u{202E}gpj", "Änne 🐕 犬", "\u{2028}", "#", String(repeating: "\u{1}", count: 255),
    ])
  func names(name: String) throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.remember(peer(1), name: name, at: 7)
    try file.remember(peer(2), name: "next", at: 8)
    let known = try file.load()
    #expect(known.damagedLines.isEmpty)
    #expect(known.entries.map(\.name) == [name, "next"])
    let text = try folder.read("known-peers")
    #expect(text.utf8.filter { $0 == 10 }.count == 3)
    #expect(!text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" && $0 != "\t" || $0.value == 0x202E })
  }

  @Test("damaged lines are reported and kept, the others count")
  func damagedLines() throws {
    let folder = try TemporaryFolder()
    let lines = [
      "# a comment", "\(peer(1))\tAnna\t1000", "rubbish", "", "\(peer(2))\tBen", "\(peer(2))\tBen\tsoon",
      "\(peer(1))\tAnna again\t5", "\(peer(2))\tb\\x\t5", "\(peer(2))\tb\\u{110000}\t5", "\(peer(2))\tb\\u{62}\t5",
      "\(peer(2))\t\(String(repeating: "b", count: 3000))\t5", "\(peer(3))\tCarl\t3000",
    ]
    try folder.write(lines.joined(separator: "\n"), to: "known-peers")
    let file = KnownPeersFile(directory: folder.directory)
    let known = try file.load()
    #expect(known.entries.map(\.name) == ["Anna", "Carl"])
    #expect(known.damagedLines.map(\.line) == [3, 5, 6, 7, 8, 9, 10, 11])
    try file.remember(peer(4), name: "Dora", at: 4000)
    #expect(try folder.read("known-peers") == (lines + ["\(peer(4))\tDora\t4000", ""]).joined(separator: "\n"))
  }

  @Test("names and peers have limits, and a full file is not touched")
  func limits() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    #expect { try file.remember(peer(1), name: String(repeating: "a", count: 256), at: 0) } throws: {
      ($0 as? StateFailure)?.code == .limit
    }
    let lines = (0..<KnownPeers.entryLimit).map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 64 - digits.count) + digits + "\tname \(number)\t0\n"
    }
    try folder.write(lines.joined(), to: "known-peers")
    #expect { try file.remember(peer(1), name: "a", at: 0) } throws: { ($0 as? StateFailure)?.code == .limit }
    #expect(try folder.read("known-peers") == lines.joined())
  }

  @Test("two writers at once lose no line")
  func twoWriters() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 2) { writer in
      for number in 0..<10 {
        let id = peer(UInt8(writer * 100 + number))
        do { try file.remember(id, name: "peer \(writer) \(number)", at: 0) } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    #expect(failures.withLock { $0 }.isEmpty)
    #expect(try file.load().entries.count == 20)
    #expect(folder.names == [".known-peers.lock", "known-peers"])
  }

  @Test("a lock that is never given back ends in an error that says so")
  func lockHeld() throws {
    let folder = try TemporaryFolder()
    var file = KnownPeersFile(directory: folder.directory)
    try file.remember(peer(1), name: "a", at: 0)
    file.lockAttempts = 2
    let holder = open(folder.directory.file(".known-peers.lock"), O_RDWR | O_CLOEXEC)
    defer { close(holder) }
    #expect(flock(holder, LOCK_EX) == 0)
    #expect { try file.remember(peer(2), name: "b", at: 0) } throws: { ($0 as? StateFailure)?.code == .busy }
  }

  @Test("a file that others can read is refused")
  func tooOpen() throws {
    let folder = try TemporaryFolder()
    try folder.write("", to: "known-peers", mode: 0o644)
    #expect { try KnownPeersFile(directory: folder.directory).load() } throws: {
      ($0 as? StateFailure)?.code == .permissionsTooOpen
    }
  }
}

@Suite struct TrustPolicyTests {
  private let known = KnownPeers(
    path: "/state/known-peers", text: Array("\(peer(1))\tAnna\t1\n\(peer(2))\tBen\t2\n".utf8))

  @Test("a remembered peer is let in under every policy, also with a new name", arguments: ["Anna", "Anna 2"])
  func remembered(name: String) {
    for policy in [TrustPolicy.remembered, .firstUse, .ask, .pinned([peer(1)])] {
      #expect(policy.judge(peer: peer(1), name: name, knownPeers: known) == .known)
    }
  }

  @Test("a new peer is let in, asked about or refused, as the policy says")
  func new() {
    func verdict(_ policy: TrustPolicy) -> TrustVerdict { policy.judge(peer: peer(3), name: "Carl", knownPeers: known) }
    #expect(verdict(.firstUse) == .new(.accepted))
    #expect(verdict(.ask) == .new(.needsAsking))
    #expect(verdict(.remembered) == .refused(.notRemembered))
    #expect(verdict(.pinned([peer(1)])) == .refused(.notPinned))
    #expect(verdict(.pinned([peer(3)])) == .known)
  }

  @Test("pinned means pinned: what is remembered does not let in")
  func pinned() {
    #expect(TrustPolicy.pinned([]).judge(peer: peer(1), name: "Anna", knownPeers: known) == .refused(.notPinned))
  }

  @Test("a remembered name with another key is a changed key, whoever comes with it", arguments: [3, 1] as [UInt8])
  func keyChanged(number: UInt8) throws {
    for policy in [TrustPolicy.remembered, .firstUse, .ask] {
      guard case .keyChanged(let change) = policy.judge(peer: peer(number), name: "Ben", knownPeers: known) else {
        Issue.record("not noticed under \(policy)")
        continue
      }
      #expect(change.remembered == peer(2) && change.presented == peer(number) && change.line == 2)
      let message = change.description
      for part in [
        peer(2).shortDescription, peer(number).shortDescription, "remove line 2 of /state/known-peers", "Ben",
      ] {
        #expect(message.contains(part))
      }
    }
  }

  @Test("the message about a changed key is safe on a terminal")
  func messageIsEscaped() {
    var peers = KnownPeers(path: "/p")
    let name = "\u{1B}]0;owned\u{7}\nAll is well"
    #expect((try? peers.remember(peer(1), name: name, at: 0)) == true)
    guard case .keyChanged(let change) = TrustPolicy.firstUse.judge(peer: peer(2), name: name, knownPeers: peers) else {
      Issue.record("not noticed")
      return
    }
    #expect(change.description.hasPrefix("\"\\u{1b}]0;owned\\u{7}\\u{a}All is well\" is not"))
  }

  @Test("two remembered devices of one name are both known")
  func namesakes() {
    let peers = KnownPeers(path: "/p", text: Array("\(peer(1))\tphone\t1\n\(peer(2))\tphone\t2\n".utf8))
    for number in [1, 2] as [UInt8] {
      #expect(TrustPolicy.firstUse.judge(peer: peer(number), name: "phone", knownPeers: peers) == .known)
    }
  }
}
