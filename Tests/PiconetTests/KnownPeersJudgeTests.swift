import PiconetEngine
import PiconetTLS
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

@Suite("The judge of keys")
struct KnownPeersJudgeTests {
  private func node(_ number: UInt8) throws -> NodeID {
    NodeID(
      peer: try #require(PeerID(bytes: [UInt8](repeating: number, count: 32))), incarnation: Incarnation(rawValue: 1))
  }

  private func judge(
    _ policy: TrustPolicy = .firstUse, file: KnownPeersFile? = nil, names: Set<String> = []
  ) throws -> KnownPeersJudge {
    let judge = try self.judge(policy, by: KnownPeersTable(file: file))
    judge.saw(try node(1), as: names)
    return judge
  }

  private func judge(_ policy: TrustPolicy = .firstUse, by table: KnownPeersTable) throws -> KnownPeersJudge {
    KnownPeersJudge(policy: policy, program: "images", ownPeer: try node(0).peer, table: table)
  }

  @Test(
    "a stranger that we dial must call itself as it was advertised; one that dials us, and one not in sight, need not")
  func advertised() throws {
    let bob = try judge(names: ["Bob", "Robert"])
    for name in ["Bob", "Robert"] { #expect(try bob.judge(node(1), name: name, isDialled: true) == .new) }
    let verdict = try bob.judge(node(1), name: "Bob's phone", isDialled: true)
    guard case .refused(.identity, let detail, _) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(detail == "it was found as 'Bob', and calls itself 'Bob's phone' once it is connected")
    #expect(try bob.judge(node(1), name: "Bob's phone", isDialled: false) == .new)
    #expect(try judge().judge(node(1), name: "Anybody", isDialled: true) == .new)
  }

  @Test("a stranger that is looked for by a name must give that one, as long as it is looked for")
  func sought() throws {
    let judge = try judge(names: ["Mary", "Carol"])
    let peer = try node(1).peer
    for _ in 1...2 { judge.seeks(peer, as: .init(name: "Carol", otherNames: [])) }
    #expect(try judge.judge(node(1), name: "Carol", isDialled: true) == .new)
    judge.seeksNoMore(peer, as: .init(name: "Carol", otherNames: []))
    judge.seeksNoMore(peer, as: .init(name: "Zed", otherNames: []))
    guard case .refused(.identity, let detail, _) = try judge.judge(node(1), name: "Mary", isDialled: true) else {
      Issue.record("Mary was taken for Carol")
      return
    }
    #expect(detail == "it was found as 'Carol', and calls itself 'Mary' once it is connected")
    #expect(try judge.judge(node(1), name: "Mary", isDialled: false) == .new)
    #expect(try judge.judge(node(2), name: "Mary", isDialled: true) == .new, "another key")
    judge.seeksNoMore(peer, as: .init(name: "Carol", otherNames: []))
    #expect(try judge.judge(node(1), name: "Mary", isDialled: true) == .new)
  }

  @Test("a peer invited by a former name may give a new one, but no other name that it had beside the former")
  func renamed() throws {
    for (others, isLetIn) in [([], true), (["Mary"], false)] as [([String], Bool)] {
      let judge = try judge(names: Set(["Carol"] + others))
      judge.seeks(try node(1).peer, as: .init(name: "Carol", otherNames: others))
      judge.saw(try node(1), as: ["Mary"])
      #expect(try (judge.judge(node(1), name: "Mary", isDialled: true) == .new) == isLetIn)
    }
  }

  @Test("every name under which a key is in sight is one that it may give")
  func otherNames() throws {
    let judge = try judge(names: ["Zed", "Carol"])
    for name in ["Zed", "Carol"] { #expect(try judge.judge(node(1), name: name, isDialled: true) == .new) }
    #expect(try judge.judge(node(1), name: "Mary", isDialled: true) != .new)
  }

  @Test("a known key may be advertised and call itself as it likes")
  func known() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: StateDirectory(path: folder.path + "/state"))
    let peer = try node(1).peer
    try file.change { (known) throws(StateFailure) in
      try known.take(peer, name: "Mum", at: 0, confirmed: .code, rights: [PeerRight(.push, "images")])
    }
    let judge = try judge(file: file, names: ["Printer"])
    #expect(try judge.judge(node(1), name: "Scanner", isDialled: true) == .known)
    #expect(judge.standing(of: peer).known?.name == "Mum" && judge.standing(of: peer).rights == [.push])
    #expect(try judge.standing(of: node(2).peer) == KnownPeersJudge.Standing())
    #expect(try judge.standing(of: node(0).peer).rights == [.push, .send], "our own device")
  }

  @Test("a file that does not change is parsed once, however many handshakes are judged, and by how many nodes")
  func parsedOnce() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: StateDirectory(path: folder.path + "/state"))
    let table = KnownPeersTable(file: file)
    let (judge, sibling) = (try judge(by: table), try judge(by: table))
    try file.change { (known) throws(StateFailure) in
      for number in 1...255 as ClosedRange<UInt8> {
        guard let peer = PeerID(bytes: [UInt8](repeating: number, count: 32)) else { continue }
        try known.take(peer, name: "Device \(number)", at: 0, confirmed: .code, rights: [])
      }
    }
    for number in 1...200 as ClosedRange<UInt8> {
      #expect(try judge.judge(node(number), name: "Device \(number)", isDialled: false) == .known)
      #expect(try sibling.standing(of: node(number).peer).known != nil)
    }
    #expect(table.memory.readCount == 1)
    let first = try node(1).peer
    try file.change { (known) throws(StateFailure) in try known.block(first, at: 0) }
    #expect(try judge.judge(node(1), name: "Device 1", isDialled: false) != .known)
    #expect(table.memory.readCount == 2)
  }
}

@Suite("The names under which keys are advertised")
struct AdvertisedNamesTests {
  private let start = ContinuousClock.now

  private func node(_ number: UInt8, _ incarnation: UInt64 = 1) -> NodeID {
    NodeID(peer: PeerID(bytes: [UInt8](repeating: number, count: 32))!, incarnation: Incarnation(rawValue: incarnation))
  }

  @Test("count as long as they are in sight, and two minutes longer")
  func twoMinutes() {
    var names = AdvertisedNames()
    names.seen(node(1), as: ["Bob"], at: start)
    names.seen(node(1), as: ["Robert"], at: start + .seconds(300))
    names.seen(node(1, 2), as: ["Bobby"], at: start + .seconds(300))
    names.seen(node(2), as: ["Eve"], at: start + .seconds(300))
    #expect(names.names(of: node(1).peer, at: start + .seconds(419)) == ["Bob", "Robert", "Bobby"])
    #expect(names.names(of: node(1).peer, at: start + .seconds(420)) == ["Robert", "Bobby"])
    names.lost(node(1), at: start + .seconds(500))
    #expect(names.names(of: node(1).peer, at: start + .seconds(619)) == ["Robert", "Bobby"])
    #expect(names.names(of: node(1).peer, at: start + .seconds(620)) == ["Bobby"])
    #expect(names.names(of: node(3).peer, at: start).isEmpty)
  }

  @Test("of several at once each counts from when it went")
  func several() {
    var names = AdvertisedNames()
    names.seen(node(1), as: ["Zed", "Carol"], at: start)
    #expect(names.names(of: node(1).peer, at: start + .seconds(300)) == ["Zed", "Carol"])
    names.seen(node(1), as: ["Carol"], at: start + .seconds(300))
    #expect(names.names(of: node(1).peer, at: start + .seconds(419)) == ["Zed", "Carol"])
    #expect(names.names(of: node(1).peer, at: start + .seconds(420)) == ["Carol"])
  }

  @Test("that are not advertised any more are kept up to a limit, of one key and of all, the oldest go")
  func limit() {
    var names = AdvertisedNames()
    names.seen(node(1), as: ["Bob"], at: start)
    names.lost(node(1), at: start)
    for number in 0...5_000 { names.seen(node(2), as: ["Name \(number)"], at: start) }
    #expect(names.names(of: node(1).peer, at: start) == ["Bob"], "another key's names cost it none")
    let kept = names.names(of: node(2).peer, at: start)
    #expect(kept == Set((5_000 - AdvertisedNames.formerLimitOfKey...5_000).map { "Name \($0)" }))
    for number in 0..<AdvertisedNames.formerLimit {
      let node = NodeID(
        peer: PeerID(bytes: [UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 9, count: 30))!,
        incarnation: Incarnation(rawValue: 1))
      names.seen(node, as: ["x"], at: start)
      names.lost(node, at: start)
    }
    #expect(names.names(of: node(1).peer, at: start).isEmpty)
  }
}
