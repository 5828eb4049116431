import Dispatch
import Foundation
import PiconetWire
import Synchronization
import Testing

@testable import PiconetTLS

private func peer(_ number: UInt8) -> PeerID { PeerID(bytes: [UInt8](repeating: number, count: 32))! }

private let push = PeerRight(.push, "images")
private let send = PeerRight(.send, "images")

extension KnownPeersFile {
  /// Takes a peer, as for a person who has compared the codes.
  @discardableResult
  fileprivate func take(
    _ peer: PeerID, _ name: String, at seconds: Int64 = 0, _ confirmation: PeerConfirmation = .code,
    _ rights: Set<PeerRight> = [], address: String? = nil
  ) throws(StateFailure) -> KnownPeers {
    try change { (known) throws(StateFailure) in
      try known.take(peer, name: name, at: seconds, confirmed: confirmation, rights: rights, address: address)
    }
  }
}

private func code(_ body: () throws -> Void) -> StateFailure.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StateFailure)?.code
  }
}

@Suite struct KnownPeersTests {
  @Test("a user's decision about a key is found by key, name and address, also after a restart")
  func remembered() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    #expect(try file.load().entries.isEmpty)
    let known = try file.take(peer(1), "Anna", at: 1000, .code, [push, send], address: "[::1]:4000")
    try file.take(peer(2), "Ben", at: 2000, .fingerprint)
    let anna = KnownPeer(
      id: peer(1), name: "Anna", since: 1000, confirmation: .code, rights: [push, send], addresses: ["[::1]:4000"])
    #expect(known[peer(1)] == anna)
    let loaded = try file.load()
    #expect(loaded[peer(1)] == anna && loaded.line(of: peer(1)) == 3)
    #expect(
      loaded.entries(named: "Ben") == [KnownPeer(id: peer(2), name: "Ben", since: 2000, confirmation: .fingerprint)])
    #expect(loaded.entry(at: "[::1]:4000") == anna && loaded.entry(at: "[::1]:4001") == nil)
    #expect(loaded[peer(3)] == nil && loaded.entries(named: "Carl").isEmpty)
    #expect(loaded.damagedLines.isEmpty)
    #expect(try folder.mode(of: file.path) == 0o600)
    #expect(try folder.read("known-peers").hasPrefix("piconet-known-peers 3\n# "))
    #expect(try folder.read("known-peers").hasSuffix("\npiconet-known-peers end 2\n"))
  }

  @Test("a known key keeps its name, its time and how it was confirmed, whatever comes later; rights are added")
  func keeps() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.take(peer(1), "Anna", at: 1000, .code, [send])
    let known = try file.take(peer(1), "Mum", at: 5000, .firstUse, [push])
    #expect(
      known.entries == [KnownPeer(id: peer(1), name: "Anna", since: 1000, confirmation: .code, rights: [send, push])])
    // The genuine one is still a stranger, whose name no known device has had.
    let verdict = TrustPolicy.firstUse.judge(peer: peer(2), name: "Mum", program: "images", knownPeers: known)
    #expect(verdict == .new(.accepted))
  }

  @Test(
    "a file of version 1 is read as first use without the right to push, and is written anew by the first act alone")
  func version1() throws {
    let folder = try TemporaryFolder()
    let header = "# Piconet: one line a device: fingerprint, name, first seen (seconds since 1970)"
    let old = "\(header)\n\(peer(1))\tAnna\t1000\nrubbish\n\(peer(2))\tphone\t5\n\(peer(3))\tphone\t6\n"
    try folder.write(old, to: "known-peers")
    let file = KnownPeersFile(directory: folder.directory)
    let known = try file.load()
    #expect(try folder.read("known-peers") == old)
    let anna = try #require(known[peer(1)])
    #expect(anna.confirmation == .firstUse && anna.name == "Anna" && anna.since == 1000)
    #expect(anna.may(.send, in: "images") && anna.may(.send, in: "cat"))
    #expect(!anna.may(.push, in: "images") && !anna.may(.push, in: "cat"))
    #expect(known.entries(named: "phone").map(\.id) == [peer(2), peer(3)])
    #expect(known.damagedLines.map(\.line) == [3])
    try file.take(peer(4), "Dora", at: 9)
    let text = try folder.read("known-peers").split(separator: "\n")
    #expect(text[0] == "piconet-known-peers 3" && !text.contains { $0 == header })
    #expect(text[2] == "\(peer(1))\tAnna\t1000\tfirst-use\tsend:*\t-")
    #expect(text[3] == "rubbish", "what can't be read stays")
    let now = try file.load()
    #expect(now.entries.map(\.id) == [1, 2, 3, 4].map(peer) && now[peer(1)] == anna)
    #expect(now.damagedLines.map(\.line) == [4])
  }

  @Test("a newer version is refused with its number and never written to", arguments: ["4", "99", "x", "0", ""])
  func newerVersion(number: String) throws {
    let folder = try TemporaryFolder()
    let text = "piconet-known-peers \(number)\n\(peer(1))\tAnna\t1\tcode\tpush:images\t-\tand more\n"
    try folder.write(text, to: "known-peers")
    let file = KnownPeersFile(directory: folder.directory)
    #expect(code { _ = try file.load() } == .newerVersion)
    #expect(code { try file.take(peer(2), "Ben") } == .newerVersion)
    #expect(try folder.read("known-peers") == text)
  }

  @Test(
    "the file is read and parsed once as long as it stays as it is, and again when it was changed, replaced or has gone"
  )
  func readAgain() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    var memory = KnownPeersFile.Memory()
    #expect(try file.load(&memory).entries.isEmpty)
    try file.take(peer(1), "Anna")
    for _ in 0..<100 { #expect(try file.load(&memory).entries.map(\.name) == ["Anna"]) }
    #expect(memory.readCount == 2, "once empty, once with her")
    // Does what an editor does that writes in place.
    let text = try folder.read("known-peers")
    try Data(text.replacing("Anna", with: "Doreen").utf8).write(to: URL(filePath: file.path))
    #expect(chmod(file.path, 0o600) == 0)
    #expect(try file.load(&memory).entries.map(\.name) == ["Doreen"])
    // A file that can't be read any more is not remembered as readable; an unchanged one is not read again.
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
      " a ", "a b", "tab\there", "two\nlines", "\u{1B}[31mred\u{7}", "back\\slash", "\\u{41}", "nul\0", "\r\nx",
      "right-to-left \u{202E}gpj", "Änne 🐕 犬", "\u{2028}x", "#",
      "x" + String(repeating: "\u{1}", count: 254),
    ])
  func names(name: String) throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.take(peer(1), name, at: 7)
    try file.take(peer(2), "next", at: 8)
    let known = try file.load()
    #expect(known.damagedLines.isEmpty)
    #expect(known.entries.map(\.name) == [name, "next"])
    let text = try folder.read("known-peers")
    #expect(text.utf8.filter { $0 == 10 }.count == 5)
    #expect(!text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" && $0 != "\t" || $0.value == 0x202E })
  }

  @Test("a damaged line that says blocked still blocks its key, until it is mended or its key forgotten")
  func damagedBlocks() throws {
    let lines = [
      "piconet-known-peers 2", "\(peer(1))\tAnna\t5\tcode\tblocked\t- ", "\(peer(2)) Ben 5 code blocked -",
      "\(peer(3))\tCarl\t5\tcode\tpush:images\t-", "\(peer(3))\tCarl\t5\tcode\tblocked\t-",
      "\(peer(4))\tblocked\t5\tcode\tpush:images\t-",
    ]
    var known = try KnownPeers(path: "/p", text: Array(lines.joined(separator: "\n").utf8))
    for number in 1...3 as ClosedRange<UInt8> {
      #expect(known.isBlocked(peer(number)), "\(number)")
      #expect(
        TrustPolicy.firstUse.judge(peer: peer(number), name: "x", program: "images", knownPeers: known)
          == .refused(.blocked))
    }
    #expect(!known.isBlocked(peer(4)) && !known.isBlocked(peer(5)))
    #expect(known.damagedBlock(of: peer(3)) == 5)
    try known.forget(peer(3))
    #expect(!known.isBlocked(peer(3)) && known.isBlocked(peer(2)))
    #expect(throws: StateFailure.self) {
      try known.take(peer(1), name: "Anna", at: 0, confirmed: .fingerprint, rights: [])
    }
    // The line with the version is missing.
    let headless = "\(peer(2))\tBen\t5\n\(peer(1))\tAnna\t5\tcode\tblocked\t-\n"
    #expect(try KnownPeers(path: "/p", text: Array(headless.utf8)).isBlocked(peer(1)))
  }

  @Test("damaged lines are reported and kept, the others count")
  func damagedLines() throws {
    let folder = try TemporaryFolder()
    let rest = "5\tcode\t-\t-"
    let lines = [
      "half a line before it", "piconet-known-peers 3", "# a comment", "\(peer(1))\tAnna\t\(rest)", "rubbish", "",
      "\(peer(2))\tBen\t5", "\(peer(2))\tBen\tsoon\tcode\t-\t-", "\(peer(1))\tAnna again\t\(rest)",
      "\(peer(2))\tb\\x\t\(rest)", "\(peer(2))\tb\\u{110000}\t\(rest)", "\(peer(2))\tb\\u{62}\t\(rest)",
      "\(peer(2))\t\(String(repeating: "b", count: 5000))\t\(rest)", "\(peer(2))\tBen\t5\tguessed\t-\t-",
      "\(peer(2))\tBen\t5\tcode\tpush\t-", "\(peer(2))\tBen\t5\tcode\tpush:a push:\t-",
      "\(peer(2))\tBen\t5\tcode\teverything:images\t-", "\(peer(2))\tBen\t5\tcode\t\t-",
      "\(peer(3))\tCarl\t3000\tfirst-use\tblocked\t10.0.0.1:1 host:2",
    ]
    try folder.write((lines + ["piconet-known-peers end 16", ""]).joined(separator: "\n"), to: "known-peers")
    let file = KnownPeersFile(directory: folder.directory)
    let known = try file.load()
    #expect(known.entries.map(\.name) == ["Anna", "Carl"])
    #expect(known[peer(3)]?.isBlocked == true && known[peer(3)]?.addresses == ["10.0.0.1:1", "host:2"])
    #expect(known.damagedLines.map(\.line) == [1, 5] + Array(7...18))
    try file.take(peer(4), "Dora", at: 4000)
    #expect(
      try folder.read("known-peers")
        == (lines + ["\(peer(4))\tDora\t4000\tcode\t-\t-", "piconet-known-peers end 17", ""]).joined(separator: "\n"))
    // A peer that is forgotten takes all lines of its key with it, since they would count otherwise, and no other line.
    let left = try file.change { (known) throws(StateFailure) in try known.forget(peer(1)) }
    #expect(left.damagedLines.map(\.line) == [1, 4] + Array(6...16))
    #expect(left.line(of: peer(4)) == 18 && left[peer(4)]?.name == "Dora" && left[peer(1)] == nil)
    #expect(try file.load() == left)
  }

  @Test("names, addresses and peers have limits; a full file says so, and no peer is forgotten for a new one")
  func limits() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    for name in ["", String(repeating: "a", count: 256)] { #expect(code { try file.take(peer(1), name) } == .limit) }
    for address in ["", "-", "a b", "a\tb", "ü:1", String(repeating: "a", count: 301)] {
      #expect(code { try file.take(peer(1), "a", address: address) } == .limit, "\(address)")
    }
    let rights = Set((0..<300).map { PeerRight(.push, "program \($0)") })
    #expect(code { try file.take(peer(1), "a", .code, rights) } == .limit)
    let lines = (0..<KnownPeers.entryLimit).map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 64 - digits.count) + digits + "\tname \(number)\t0\tcode\t-\t-\n"
    }
    let text = "piconet-known-peers 3\n" + lines.joined() + "piconet-known-peers end \(KnownPeers.entryLimit)\n"
    try folder.write(text, to: "known-peers")
    #expect { try file.take(peer(1), "a") } throws: {
      ($0 as? StateFailure)?.detail.hasPrefix("1024 devices are known, no more fit") == true
    }
    #expect(try folder.read("known-peers") == text)
    // A device that is known already can still be changed.
    let first = try #require(try file.load().entries.first)
    try file.take(first.id, "a", .code, [push])
    #expect(try file.load().entries.count == KnownPeers.entryLimit)
  }

  @Test("an address is one key's: the one that was reached there last")
  func addresses() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.take(peer(1), "Anna", address: "host:1")
    let known = try file.take(peer(2), "Ben", address: "host:1")
    #expect(known[peer(1)]?.addresses == [] && known.entry(at: "host:1")?.id == peer(2))
    for port in 2...20 { try file.take(peer(2), "Ben", address: "host:\(port)") }
    #expect(try file.load()[peer(2)]?.addresses == (13...20).map { "host:\($0)" })
  }

  @Test("a person renames, confirms, allows, denies, blocks, forgets: each concerns one key")
  func acts() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.take(peer(1), "Anna", .firstUse, [PeerRight(.send, nil)])
    try file.take(peer(2), "Ben", .code, [push])
    func act(_ body: (inout KnownPeers) throws(StateFailure) -> Void) throws(StateFailure) -> KnownPeer? {
      try file.change(body)[peer(1)]
    }
    #expect(try act { (known) throws(StateFailure) in try known.rename(peer(1), to: "Mum") }?.name == "Mum")
    #expect(code { try file.change { (k) throws(StateFailure) in try k.rename(peer(1), to: "bЕn") } } == .nameTaken)
    #expect(
      try act { (known) throws(StateFailure) in try known.confirm(peer(1), by: .fingerprint) }?.confirmation
        == .fingerprint)
    #expect(
      try act { (known) throws(StateFailure) in try known.allow(peer(1), [push]) }?.rights
        == [push, PeerRight(.send, nil)])
    #expect(try file.load()[peer(1)]?.confirmation == .fingerprint, "a right is no confirmation")
    // A right that holds for every program goes with the first program that it is denied for.
    #expect(try act { (known) throws(StateFailure) in try known.deny(peer(1), [send]) }?.rights == [push])
    let blocked = try act { (known) throws(StateFailure) in try known.block(peer(1), at: 9) }
    #expect(blocked?.isBlocked == true && blocked?.rights == [] && blocked?.may(.push, in: "images") == false)
    #expect(code { try file.take(peer(1), "Mum", .code, [push]) } == .blocked)
    #expect(code { try file.change { (k) throws(StateFailure) in try k.allow(peer(1), [push]) } } == .blocked)
    #expect(try act { (known) throws(StateFailure) in try known.unblock(peer(1)) }?.rights == [], "not given back")
    #expect(try act { (known) throws(StateFailure) in try known.forget(peer(1)) } == nil)
    #expect(code { try file.change { (k) throws(StateFailure) in try k.forget(peer(1)) } } == .unknown)
    // A device that was never known may be blocked.
    #expect(try file.change { (k) throws(StateFailure) in try k.block(peer(9), at: 1) }[peer(9)]?.isBlocked == true)
    #expect(
      try file.load()[peer(2)] == KnownPeer(id: peer(2), name: "Ben", since: 0, confirmation: .code, rights: [push]))
  }

  @Test("a name that looks like another device's gets digits of the key behind it")
  func lookalikes() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.take(peer(1), "Mum")
    let known = try file.take(peer(2), "Мum")
    #expect(known[peer(2)]?.name == "Мum (020202020202)")
    #expect(known.lookalikes(of: "mum", but: peer(2)).map(\.id) == [peer(1)])
  }

  @Test("digits of another key in a name stand for nothing: its own stand behind them, and no name is changed to such")
  func otherDigits() throws {
    var known = KnownPeers(path: "/p")
    func take(_ number: UInt8, _ name: String) throws -> String? {
      try known.take(peer(number), name: name, at: 0, confirmed: .code, rights: [])
      return known[peer(number)]?.name
    }
    #expect(try take(1, "Bob") == "Bob")
    #expect(try take(2, "Bob (010101010101)") == "Bob (010101010101) (020202020202)")
    #expect(known[peer(2)]?.hasOtherDigits == true && known[peer(1)]?.hasOtherDigits == false)
    // This holds for any brackets, any digits and any text behind them, and for names that no device has.
    #expect(try take(3, "bob（０１０１０１０１０１０１）, known") == "bob（０１０１０１０１０１０１）, known (030303030303)")
    #expect(try take(4, "Mum [Ol0l 0l0l 0l0l]") == "Mum [Ol0l 0l0l 0l0l] (040404040404)")
    #expect(known.lookalikes(of: "Bob (111111111111)").map(\.id) == [peer(1)])
    // Fewer digits pass for no fingerprint, and a key's own are no other's.
    #expect(try take(5, "Hall (20261127)") == "Hall (20261127)")
    #expect(try take(6, "Attic (060606060606)") == "Attic (060606060606)")
    #expect(try take(7, "BOB (070707070707)") == "BOB (070707070707)")
    #expect(known[peer(7)]?.hasOtherDigits == false)
    for name in ["Bob (010101010101)", "Hall (111111111111)"] {
      #expect(code { try known.rename(peer(5), to: name) } == .nameTaken, "\(name)")
    }
    try known.rename(peer(5), to: "Bob (05050505050505)")
    #expect(known[peer(5)]?.name == "Bob (05050505050505)")
  }

  @Test("two writers at once lose no line")
  func twoWriters() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 2) { writer in
      for number in 0..<10 {
        let id = peer(UInt8(writer * 100 + number))
        do { try file.take(id, "peer \(writer) \(number)") } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    #expect(failures.withLock { $0 }.isEmpty)
    #expect(try file.load().entries.count == 20)
    #expect(folder.names == [".known-peers.lock", "known-peers", "known-peers.former"])
  }

  @Test("forty writers at once wait for one another, and so does one for a lock that is held for longer than a second")
  func fortyWriters() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.take(peer(200), "first")
    let failures = Mutex<[String]>([])
    let holder = open(folder.directory.file(".known-peers.lock"), O_RDWR | O_CLOEXEC)
    #expect(flock(holder, LOCK_EX) == 0)
    DispatchQueue.global().asyncAfter(deadline: .now() + 1.5) { close(holder) }
    let ended = DispatchGroup()
    let writers = (0..<40).map { number in
      let writer = Thread {
        do { try file.take(peer(UInt8(number)), "peer \(number)") } catch {
          failures.withLock { $0.append("\(error)") }
        }
        ended.leave()
      }
      ended.enter()
      return writer
    }
    for writer in writers { writer.start() }
    ended.wait()
    #expect(failures.withLock { $0 } == [])
    #expect(try file.load().entries.count == 41)
  }

  @Test("a file that is cut anywhere is an error that names it and the former one, which is kept beside it")
  func cut() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.take(peer(1), "Anna")
    let former = try folder.read("known-peers")
    try file.change { (known) throws(StateFailure) in try known.block(peer(2), at: 9) }
    #expect(try folder.read("known-peers.former") == former)
    #expect(try folder.mode(of: file.path + ".former") == 0o600)
    let whole = Array(try folder.read("known-peers").utf8)
    #expect(try KnownPeers(path: file.path, text: whole).isBlocked(peer(2)))
    for count in 0..<whole.count {
      #expect {
        _ = try KnownPeers(path: file.path, text: Array(whole[..<count]))
      } throws: {
        guard let failure = $0 as? StateFailure else { return false }
        return failure.code == .damaged && failure.path == file.path && failure.detail.contains("known-peers.former'")
      }
    }
    // The front is missing, a line in the middle, or all of it was overwritten with zeros.
    let lines = String(decoding: whole, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    for gone in [0..<1, 0..<3, 2..<3, 3..<4, 2..<4] {
      var left = lines
      left.removeSubrange(gone)
      #expect(code { _ = try KnownPeers(path: "/p", text: Array(left.joined(separator: "\n").utf8)) } == .damaged)
    }
    let zeros = [UInt8](repeating: 0, count: whole.count)
    #expect(code { _ = try KnownPeers(path: "/p", text: zeros) } == .damaged)
    // A line that was added by hand takes nothing away.
    var added = lines
    added.insert("\(peer(3))\tCarl\t5\tcode\t-\t-", at: 3)
    #expect(try KnownPeers(path: "/p", text: Array(added.joined(separator: "\n").utf8)).entries.count == 3)
    // Nothing is written over a file that is cut.
    try folder.write(String(decoding: whole[..<(whole.count - 1)], as: UTF8.self), to: "known-peers")
    #expect(code { try file.take(peer(4), "Dora") } == .damaged)
    #expect(try folder.read("known-peers.former") == former)
  }

  @Test("a file of version 2 is read without its last line once, and written anew with one")
  func version2() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.renewOld()
    #expect(folder.names == [], "where there is none, none is made")
    let old = "piconet-known-peers 2\n# mine\n\(peer(1))\tAnna\t5\tcode\tblocked\t-\nrubbish\n"
    try folder.write(old, to: "known-peers")
    #expect(try file.load().isBlocked(peer(1)))
    try file.renewOld()
    let new = try folder.read("known-peers")
    #expect(new.hasPrefix("piconet-known-peers 3\n") && new.hasSuffix("\nrubbish\npiconet-known-peers end 2\n"))
    #expect(new.contains("\n# mine\n\(peer(1))\tAnna\t5\tcode\tblocked\t-\n"))
    #expect(try folder.read("known-peers.former") == old)
    try file.renewOld()
    #expect(try folder.read("known-peers.former") == old, "it is not written again")
    #expect(try file.load().isBlocked(peer(1)))
  }

  @Test("a lock that is never given back ends in an error that says so")
  func lockHeld() throws {
    let folder = try TemporaryFolder()
    var file = KnownPeersFile(directory: folder.directory)
    try file.take(peer(1), "a")
    file.lockTime = .milliseconds(10)
    let holder = open(folder.directory.file(".known-peers.lock"), O_RDWR | O_CLOEXEC)
    defer { close(holder) }
    #expect(flock(holder, LOCK_EX) == 0)
    #expect(code { try file.take(peer(2), "b") } == .busy)
  }

  @Test("a link in the place of the file stays one: what it leads to is read and written, and has to be there")
  func link() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    try file.take(peer(1), "Anna")
    let kept = folder.directory.file("kept")
    #expect(mkdir(kept, 0o700) == 0)
    #expect(rename(file.path, "\(kept)/table") == 0)
    #expect(symlink("kept/table", file.path) == 0)
    try file.take(peer(2), "Ben")
    var status = stat()
    #expect(lstat(file.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(try KnownPeersFile(directory: folder.directory).load().entries.map(\.name) == ["Anna", "Ben"])
    #expect(try String(contentsOfFile: "\(kept)/table", encoding: .utf8).contains("Ben"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: kept) == ["table"])
    // As if a disk is not mounted: the table can't say which devices are blocked.
    #expect(unlink("\(kept)/table") == 0)
    var memory = KnownPeersFile.Memory()
    #expect(code { _ = try file.load() } == .damaged)
    #expect(code { _ = try file.load(&memory) } == .damaged)
    #expect(code { try file.take(peer(3), "Carl") } == .damaged)
    #expect(folder.names.contains("known-peers.former"))
  }

  @Test(
    "a name with nothing to see is no petname: renaming to one is refused, and who calls itself so is known by digits",
    arguments: [
      " ", "\u{A0}\u{3000}", "\u{200B}\u{2060}", "\u{3164}", "\u{2800}", "\u{301}\u{FE0F}", "\u{E000}", "\t",
    ])
  func invisible(name: String) throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory)
    #expect(!KnownPeers.isVisible(name: name))
    let known = try file.take(peer(1), name)
    #expect(known[peer(1)]?.name == peer(1).shortDescription)
    try file.take(peer(2), "Ben")
    #expect(code { try file.change { (known) throws(StateFailure) in try known.rename(peer(2), to: name) } } == .limit)
    #expect(try file.load()[peer(2)]?.name == "Ben")
  }

  @Test("a name with anything to see is a petname", arguments: ["a", " a ", "é", "妈妈", "👩‍👧", ".", "\u{200B}x"])
  func visible(name: String) { #expect(KnownPeers.isVisible(name: name)) }

  @Test("a file that others can read is refused")
  func tooOpen() throws {
    let folder = try TemporaryFolder()
    try folder.write("", to: "known-peers", mode: 0o644)
    #expect { try KnownPeersFile(directory: folder.directory).load() } throws: {
      ($0 as? StateFailure)?.code == .permissionsTooOpen
    }
  }

  @Test("a right is one word, whatever the program is called", arguments: ["images", "*", "a b", "%41", "ü\t", ":"])
  func rights(program: String) {
    let right = PeerRight(.push, program)
    #expect(PeerRight(right.description) == right)
    #expect(right.description.utf8.allSatisfy { (0x21...0x7E).contains($0) })
    #expect(PeerRight("push:*") == PeerRight(.push, nil))
    for wrong in ["push", "push:", "pull:images", "push:a b", "push:%4", "push:%61", ":"] {
      #expect(PeerRight(wrong) == nil, "\(wrong)")
    }
  }
}
