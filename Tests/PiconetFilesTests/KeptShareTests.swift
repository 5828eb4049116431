import Foundation
import Glibc
import Testing

@testable import PiconetFiles

@Suite("One sender's partial files cost other senders no files") struct KeptShareTests {
  private let block = PartialReception.block

  // MARK: The decision

  /// A file of a sender, with its age in hours.
  private func file(_ sender: UInt8, age: Int64, mebibytes: UInt64 = 1, isAlive: Bool = false, isOfUse: Bool = true)
    -> KeptPartial
  {
    let digits = String(repeating: "0", count: 14) + (sender < 16 ? "0" : "") + String(sender, radix: 16)
    let number = String(age, radix: 16)
    let name = PartialFileName(kept: digits + String(repeating: "0", count: 16 - number.count) + number)
    return KeptPartial(
      name: name, byteCount: mebibytes << 20, age: age * 3_600, isAlive: isAlive, isOfUse: isOfUse)
  }

  private func asker(_ number: UInt8) -> PartialFileName { file(number, age: 0).name }

  private func stranger(_ number: UInt8, age: Int64, mebibytes: UInt64 = 1) -> KeptPartial {
    let known = file(number, age: age, mebibytes: mebibytes)
    let digits = known.name.text.dropFirst(".piconet-resume-".count).prefix(32)
    return KeptPartial(
      name: PartialFileName(kept: digits, ofStranger: true), byteCount: known.byteCount, age: known.age)
  }

  @Test("beyond the limit the sender with most files loses its oldest")
  func number() {
    let mine = [file(1, age: 100), file(1, age: 90), file(2, age: 80)]
    let strangers = (0..<20 as Range<Int64>).map { file(3, age: $0) }
    let removed = KeptPartials(mine + strangers).toRemove(limit: 16, age: 1 << 40)
    #expect(removed == Array(strangers.reversed().prefix(7)))
    // A sender may have all of them as long as no other sender has any; then each gets an equal part.
    let many = (0..<16 as Range<Int64>).map { file(1, age: $0) }
    #expect(KeptPartials(many).toRemove(limit: 16, age: 1 << 40) == [])
    #expect(KeptPartials(many + [file(2, age: 50)]).toRemove(limit: 16, age: 1 << 40) == [many[15]])
  }

  @Test("all strangers together have the share of one sender, of which the one with most loses first")
  func strangers() {
    let known = (0..<8 as Range<Int64>).map { file(1, age: 100 + $0) }
    let keys = (0..<40 as Range<UInt8>).map { stranger($0 + 2, age: Int64($0)) }
    let removed = KeptPartials(known + keys).toRemove(limit: 16, age: 1 << 40)
    #expect(removed == Array(keys.reversed().prefix(32)))
    // A ninth of the known sender's is beyond its share.
    #expect(KeptPartials(known + [file(1, age: 99)] + keys.prefix(8)).toRemove(limit: 16, age: 1 << 40) == [known[7]])
    let many = (0..<8 as Range<Int64>).map { stranger(2, age: $0) }
    let one = stranger(3, age: 200)
    #expect(KeptPartials(known + many + [one]).toRemove(limit: 16, age: 1 << 40) == [many[7]])
    // Without known senders they have all of the limit.
    #expect(KeptPartials(Array(keys.prefix(16))).toRemove(limit: 16, age: 1 << 40) == [])
  }

  @Test("strangers make room among themselves as senders do; a known sender loses nothing to them, whatever it holds")
  func strangersRoom() {
    let known = file(1, age: 9, mebibytes: 100)
    let first = stranger(2, age: 8, mebibytes: 60)
    let second = stranger(3, age: 7, mebibytes: 30)
    let kept = KeptPartials([known, first, second])
    let another = stranger(4, age: 0).name
    #expect(kept.toFree(1, size: 1, asker: another) == [first], "the oldest is the known sender's")
    #expect(kept.toFree(1, size: 11 << 20, asker: another) == [first])
    #expect(kept.toFree(90 << 20, size: 11 << 20, asker: another) == [first, second])
    #expect(kept.toFree(1, size: 61 << 20, asker: another) == [])
    #expect(kept.toFree(91 << 20, size: 11 << 20, asker: another) == [])
    let film = KeptPartials([file(1, age: 9, mebibytes: 5_000), file(2, age: 1, isOfUse: false)])
    for asker in [another, nil] {
      #expect(film.toFree(2 << 20, size: 30 << 20, asker: asker) == [], "5,000 MiB against 30")
      #expect(film.toFree(1 << 20, size: 30 << 20, asker: asker) == [file(2, age: 1, isOfUse: false)])
    }
    // To a known sender strangers give way, whatever they hold, and before others do.
    #expect(kept.toFree(31 << 20, size: 900 << 20, asker: asker(5)) == [first])
    #expect(kept.toFree(91 << 20, size: 900 << 20, asker: asker(5)) == [])
    #expect(kept.toFree(91 << 20, size: 100 << 20, asker: asker(5)) == [first, second, known])
    // A sender whose file is not kept has no more than a stranger.
    #expect(kept.toFree(1, size: 11 << 20, asker: nil) == [first])
    #expect(KeptPartials([known, stranger(2, age: 8, mebibytes: 8)]).toFree(1, size: 93 << 20, asker: nil) == [])
  }

  @Test("what is open does not count, and what is too old or of no use goes in any case")
  func others() {
    let open = (0..<30 as Range<Int64>).map { file(3, age: $0, isAlive: true) }
    let kept = (0..<16 as Range<Int64>).map { file(UInt8($0) % 5 + 4, age: $0) }
    #expect(KeptPartials(open + kept).toRemove(limit: 16, age: 1 << 40) == [])
    let useless = file(1, age: 0, isOfUse: false)
    #expect(Set(KeptPartials(kept + [useless]).toRemove(limit: 16, age: 15 * 3_600)) == [useless, kept[15]])
    #expect(KeptPartials(kept).toRemove(limit: -1, age: 1 << 40).count == 16)
  }

  @Test("room is made by the oldest, and by no more than are needed")
  func room() {
    let files = [file(1, age: 1, mebibytes: 50), file(2, age: 3, mebibytes: 50), file(1, age: 2, mebibytes: 50)]
    let kept = KeptPartials(files)
    #expect(kept.toFree(0, size: 1, asker: asker(3)) == [])
    #expect(kept.toFree(1, size: 10 << 20, asker: asker(3)) == [files[1]])
    #expect(kept.toFree(50 << 20, size: 10 << 20, asker: asker(3)) == [files[1]])
    #expect(kept.toFree(51 << 20, size: 10 << 20, asker: asker(3)) == [files[1], files[2]])
    let useless = file(2, age: 0, isOfUse: false)
    #expect(KeptPartials(files + [useless]).toFree(1, size: 1, asker: nil) == [useless])
  }

  @Test("where all of them would not make enough room, none goes", arguments: [(1 << 62) - 1, .max] as [UInt64])
  func hopeless(size: UInt64) {
    let kept = KeptPartials((0..<16 as Range<Int64>).map { file(1, age: $0, mebibytes: 1 << 20) })
    for asker in [nil, asker(1), asker(2)] { #expect(kept.toFree(size - 5, size: size, asker: asker) == []) }
  }

  @Test("a sender makes room with its own files, and with others' only while they hold at least as much as it would")
  func share() {
    let (mine, his) = (file(1, age: 9, mebibytes: 100), file(2, age: 1, mebibytes: 100))
    let kept = KeptPartials([mine, his])
    // With the new file the sender would hold more than the other one, which has 100 MiB.
    #expect(kept.toFree(1, size: 1, asker: asker(2)) == [his])
    #expect(kept.toFree(101 << 20, size: 150 << 20, asker: asker(2)) == [])
    // A third sender may take as much as the first has, and no more of it once the first has less.
    #expect(kept.toFree(1, size: 100 << 20, asker: asker(3)) == [mine])
    #expect(kept.toFree(1, size: 101 << 20, asker: asker(3)) == [])
    let two = KeptPartials([file(1, age: 9, mebibytes: 60), file(1, age: 8, mebibytes: 60)])
    #expect(two.toFree(60 << 20, size: 100 << 20, asker: asker(3)).count == 1)
    #expect(two.toFree(61 << 20, size: 100 << 20, asker: asker(3)) == [])
    // A sender's open files count as its own.
    let open = file(3, age: 0, mebibytes: 50, isAlive: true)
    #expect(KeptPartials([mine, open]).toFree(1, size: 50 << 20, asker: asker(3)) == [mine])
    #expect(KeptPartials([mine, open]).toFree(1, size: 51 << 20, asker: asker(3)) == [])
  }

  @Test("numbers that add up to more than 64 bits are only large")
  func numbers() {
    var files = [file(1, age: 2), file(1, age: 1), file(2, age: 0)]
    for index in files.indices { files[index].byteCount = .max }
    #expect(KeptPartials(files).toFree(.max, size: .max, asker: asker(2)) == [files[0]])
    #expect(KeptPartials(files).toFree(.max, size: .max, asker: asker(3)) == [files[0]])
    #expect(KeptPartials(files).toFree(.max, size: .max, asker: nil) == [])
  }

  // MARK: In a directory

  /// A directory on a disk of so many blocks of 1 MiB, which knows how full it is.
  private func directory(
    _ folder: TemporaryDirectory, mebibytes: UInt64, now: @escaping @Sendable () -> KeptAge.Moment = { .now }
  ) throws -> IncomingDirectory {
    var calls = FileSystemCalls()
    let path = folder.path
    calls.allot = { _, _ in EOPNOTSUPP }
    calls.space = { _ in
      let sizes = ((try? entries(path)) ?? []).filter { $0.hasSuffix(".part") }
        .map { UInt64((try? status(path + "/" + $0).st_blocks) ?? 0) * 512 }
      let used = (sizes.reduce(0, +) + (1 << 20) - 1) >> 20
      return FileSystemCalls.Space(
        blockCount: mebibytes, availableCount: mebibytes - min(used, mebibytes), blockByteCount: 1 << 20)
    }
    return try IncomingDirectory(path: path, settings: .test(), calls: calls, now: now)
  }

  private func keep(
    _ sender: UInt8, _ identity: UInt8, in directory: IncomingDirectory, isKnown: Bool = true
  ) throws {
    let key = try PartialReception.key(sender, [identity], size: 4 * block, isKnown: isKnown)
    let file = try IncomingFile(
      in: directory, name: try name("a"), offeredSize: key.size, policy: .rename, resuming: key)
    try file.write(Array(PartialReception.whole[..<(2 * block)]))
    file.keep()
    // The first is the oldest, however the clock was stepped.
    let past = [timespec](repeating: timespec(tv_sec: time(nil) - 1_000 + Int(identity), tv_nsec: 0), count: 2)
    try #require(utimensat(AT_FDCWD, directory.path(of: key.partialName.text), past, 0) == 0)
  }

  private func kept(_ sender: UInt8, _ identity: UInt8, _ folder: TemporaryDirectory) throws -> Bool {
    let name = try PartialReception.key(sender, [identity], size: 4 * block).partialName
    let all = try entries(folder.path)
    #expect(all.contains(name.text) == all.contains(name.journal))
    return all.contains(name.text)
  }

  private func offer(
    _ size: Int, from sender: UInt8, to directory: IncomingDirectory, isKnown: Bool = true
  ) throws {
    let key = try PartialReception.key(sender, [99], size: size, isKnown: isKnown)
    _ = try directory.conflictOutcome(name: try name("b"), size: key.size, policy: .rename, resuming: key)
    try IncomingFile(in: directory, name: try name("b"), offeredSize: key.size, policy: .rename, resuming: key)
      .discard()
  }

  @Test("an offer of 2^62 - 1 bytes, or of more than all that is kept, leaves every kept file where it is")
  func hugeOffer() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try directory(folder, mebibytes: 9)
    for identity: UInt8 in 1...3 { try keep(1, identity, in: directory) }
    for size in [(1 << 62) - 1, 10 << 20] {
      for sender: UInt8 in 1...2 {
        guard case .diskFull? = failureCode({ try offer(size, from: sender, to: directory) }) else {
          Issue.record("\(size) bytes are let in")
          return
        }
      }
    }
    for identity: UInt8 in 1...3 { #expect(try kept(1, identity, folder)) }
  }

  @Test("an offer that needs a little room costs the oldest, and no other")
  func littleRoom() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try directory(folder, mebibytes: 9)
    for identity: UInt8 in 1...3 { try keep(1, identity, in: directory) }
    try offer(4 << 20, from: 2, to: directory)
    #expect(try !kept(1, 1, folder))
    #expect(try kept(1, 2, folder) && kept(1, 3, folder))
  }

  @Test(
    "an offer of all possible room costs senders that hold less nothing, and a stranger's costs no known sender",
    arguments: [true, false])
  func wholeDisk(isKnown: Bool) throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try directory(folder, mebibytes: 9)
    for sender: UInt8 in 1...3 { try keep(sender, 1, in: directory) }
    for size in isKnown ? [9 << 20] : [9 << 20, 4 << 20] {
      let code = failureCode { try offer(size, from: 4, to: directory, isKnown: isKnown) }
      #expect(code == .diskFull(needed: UInt64(size), free: 3 << 20))
    }
    for sender: UInt8 in 1...3 { #expect(try kept(sender, 1, folder)) }
  }

  @Test("the directory looks for room once in two seconds, however many offers do not fit, and from any sender")
  func readOnce() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let clock = SetClock()
    let directory = try directory(folder, mebibytes: 9) { clock.now }
    for identity: UInt8 in 1...3 { try keep(1, identity, in: directory) }
    /// How often the clock was asked, as it is for each kept file.
    func looks(_ size: Int, _ sender: UInt8, isKnown: Bool) -> Int {
      let before = clock.looks
      let code = failureCode { try offer(size, from: sender, to: directory, isKnown: isKnown) }
      #expect(code == .diskFull(needed: UInt64(size), free: 3 << 20))
      return clock.looks - before
    }
    for _ in 0..<2 {
      #expect(looks((1 << 62) - 1, 1, isKnown: true) > 3)
      for sender: UInt8 in 1...30 {
        for size in [(1 << 62) - 1, 10 << 20] { #expect(looks(size, sender, isKnown: true) == 1) }
        if sender > 1 { #expect(looks(4 << 20, sender, isKnown: false) == 1) }
      }
      clock.pass(RememberedPartials.seconds)
    }
    // An offer that fits once a file is removed still removes it.
    #expect(looks((1 << 62) - 1, 2, isKnown: true) > 3)
    try offer(4 << 20, from: 2, to: directory)
    #expect(try !kept(1, 1, folder))
    #expect(try kept(1, 2, folder) && kept(1, 3, folder))
  }

  @Test("what another process keeps meanwhile makes room two seconds later, and what this one keeps at once")
  func keptMeanwhile() throws {
    for isOther in [true, false] {
      let folder = try TemporaryDirectory(inMemory: true)
      let clock = SetClock()
      let directory = try self.directory(folder, mebibytes: 9) { clock.now }
      let writer = try isOther ? self.directory(folder, mebibytes: 9, now: { clock.now }) : directory
      try keep(1, 1, in: directory)
      let tooLarge = failureCode { try offer(9 << 20, from: 2, to: directory) }
      #expect(tooLarge == .diskFull(needed: 9 << 20, free: 7 << 20))
      for identity: UInt8 in 2...3 { try keep(1, identity, in: writer) }
      if isOther {
        // The first sender had 2 MiB when the directory was read, and has 6 now.
        let early = failureCode { try offer(4 << 20, from: 2, to: directory) }
        #expect(early == .diskFull(needed: 4 << 20, free: 3 << 20))
        clock.pass(RememberedPartials.seconds)
      }
      try offer(4 << 20, from: 2, to: directory)
      #expect(try !kept(1, 1, folder))
    }
  }

  @Test("a stranger that leaves thirty begun files keeps no more than what others leave of the limit")
  func manyOffers() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try directory(folder, mebibytes: 1_000)
    for sender: UInt8 in 1...3 { for identity: UInt8 in 1...2 { try keep(sender, identity, in: directory) } }
    for identity: UInt8 in 1...30 { try keep(4, identity, in: directory) }
    for sender: UInt8 in 1...3 { for identity: UInt8 in 1...2 { #expect(try kept(sender, identity, folder)) } }
    for identity: UInt8 in 1...30 { #expect(try kept(4, identity, folder) == (identity > 20)) }
    #expect(try entries(folder.path).count == 32)
  }

  @Test("forty throwaway keys cost a known sender none of its begun files")
  func thrownAway() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try directory(folder, mebibytes: 1_000)
    for identity: UInt8 in 1...8 { try keep(1, identity, in: directory) }
    for sender: UInt8 in 2...41 { try keep(sender, sender, in: directory, isKnown: false) }
    for identity: UInt8 in 1...8 { #expect(try kept(1, identity, folder)) }
    #expect(try entries(folder.path).count == 32)
  }

  @Test("files of one sender are known by their names, those of others by other names")
  func senders() throws {
    let first = try PartialReception.key(1).partialName
    #expect(try PartialReception.key(1, [8], size: 5).partialName.sender == first.sender)
    #expect(try PartialReception.key(1, [8], size: 5).partialName != first)
    #expect(try PartialReception.key(2).partialName.sender != first.sender)
    #expect(first.sender.count == 16)
  }
}
