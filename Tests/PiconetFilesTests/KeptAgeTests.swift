import Glibc
import Testing

@testable import PiconetFiles

@Suite("For how long a partial file waits") struct KeptAgeTests {
  private static let day: Int64 = 86_400
  private let block = PartialReception.block

  private func directory(_ folder: TemporaryDirectory, _ clock: SetClock) throws -> IncomingDirectory {
    try IncomingDirectory(path: folder.path, settings: .test(), now: { clock.now })
  }

  private func open(_ number: UInt8, in directory: IncomingDirectory) throws -> IncomingFile {
    let key = try PartialReception.key(number, size: 2 * block)
    return try IncomingFile(in: directory, name: try name("a"), offeredSize: key.size, policy: .rename, resuming: key)
  }

  private func keep(_ number: UInt8, in directory: IncomingDirectory) throws {
    let file = try open(number, in: directory)
    try file.write(Array(PartialReception.whole[Int(file.receivedSize)..<block]))
    file.keep()
  }

  private func partialName(_ number: UInt8) throws -> PartialFileName {
    try PartialReception.key(number, size: 2 * block).partialName
  }

  @Test(
    "a sweep removes what is too old, and journals that have no file; it keeps the rest, and what a living one writes")
  func sweep() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let clock = SetClock()
    let directory = try directory(folder, clock)
    let living = try open(9, in: directory)
    try living.write(Array(PartialReception.whole[..<block]))
    try keep(1, in: directory)
    clock.pass(4 * Self.day)
    for number: UInt8 in 2...3 { try keep(number, in: directory) }
    unlink(folder.path(try partialName(2).text))
    clock.pass(3 * Self.day - 1)
    #expect(directory.sweepAbandonedPartials() == 0)
    clock.pass(1)
    #expect(directory.sweepAbandonedPartials() == 1)
    let (third, ninth) = (try partialName(3), try partialName(9))
    #expect(try Set(entries(folder.path)) == [third.text, third.journal, ninth.text, ninth.journal])
  }

  @Test("what was gone on with waits anew")
  func anew() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let clock = SetClock()
    let directory = try directory(folder, clock)
    try keep(1, in: directory)
    clock.pass(5 * Self.day)
    #expect(directory.sweepAbandonedPartials() == 0)
    try keep(1, in: directory)
    clock.pass(5 * Self.day)
    #expect(directory.sweepAbandonedPartials() == 0)
    clock.pass(2 * Self.day)
    #expect(directory.sweepAbandonedPartials() == 1)
  }

  @Test("a machine that starts without a clock, and gets one, loses nothing, however often")
  func clockPutRight() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let clock = SetClock()
    clock.put(30)
    try keep(1, in: try directory(folder, clock))
    for start in 1...5 {
      clock.put(1_800_000_000)
      #expect(try directory(folder, clock).sweepAbandonedPartials() == 0)
      // The next start has no clock again.
      clock.restart(wall: Int64(start))
      #expect(try directory(folder, clock).sweepAbandonedPartials() == 0)
    }
    #expect(try open(1, in: try directory(folder, clock)).resumedSize == UInt64(block))
  }

  @Test("a file whose own times are long past, or to come, waits as long as any other", arguments: [0, 4_000_000_000])
  func ownTimes(seconds: Int) throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let clock = SetClock()
    let directory = try directory(folder, clock)
    try keep(1, in: directory)
    let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
    for path in [try partialName(1).text, try partialName(1).journal] {
      try #require(utimensat(AT_FDCWD, folder.path(path), times, 0) == 0)
    }
    clock.pass(7 * Self.day - 1)
    #expect(directory.sweepAbandonedPartials() == 0)
    clock.pass(1)
    #expect(directory.sweepAbandonedPartials() == 1)
    #expect(try entries(folder.path) == [])
  }

  @Test("a clock that was years ahead and is put back keeps nothing for ever")
  func clockPutBack() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let clock = SetClock()
    clock.put(4_000_000_000)
    let directory = try directory(folder, clock)
    try keep(1, in: directory)
    clock.put(1_800_000_000)
    clock.pass(7 * Self.day)
    #expect(directory.sweepAbandonedPartials() == 1)
  }

  @Test("between two starts a look adds what the wall clock says, and a day at most")
  func starts() {
    var age = KeptAge(firstSeen: KeptAge.Moment(boot: 1, running: 50, wall: 1_000))
    age.advance(to: KeptAge.Moment(boot: 1, running: 60, wall: 2_000_000_000))
    #expect(age.seconds == 10)
    age.advance(to: KeptAge.Moment(boot: 2, running: 5, wall: 2_000_000_600))
    #expect(age.seconds == 610)
    age.advance(to: KeptAge.Moment(boot: 3, running: 5, wall: 0))
    #expect(age.seconds == 610)
    age.advance(to: KeptAge.Moment(boot: 4, running: 5, wall: 2_000_000_000))
    #expect(age.seconds == 610 + Self.day)
    // If the system can't tell one start from another, the running clock says nothing.
    age.advance(to: KeptAge.Moment(boot: 0, running: 5, wall: 2_000_000_000))
    age.advance(to: KeptAge.Moment(boot: 0, running: 5_000_000, wall: 2_000_000_007))
    #expect(age.seconds == 617 + Self.day)
  }

  @Test("what the journal says of the time is not trusted to be a time")
  func damaged() throws {
    #expect(KeptAge(bytes: [UInt8](repeating: 0, count: 32)) == nil)
    #expect(KeptAge(bytes: [UInt8](repeating: 0xFF, count: 32)) == nil)
    #expect(KeptAge(bytes: []) == nil)
    var age = try #require(KeptAge(bytes: [0x7F] + [UInt8](repeating: 0xFF, count: 31)))
    for boot in [UInt64.max, 5] {
      for number in [Int64.min, .max, 0] { age.advance(to: KeptAge.Moment(boot: boot, running: number, wall: number)) }
    }
    #expect(age.seconds == .max)
    var sound = KeptAge(firstSeen: KeptAge.Moment(boot: .max, running: -3, wall: 4))
    sound.advance(to: KeptAge.Moment(boot: .max, running: 6, wall: -5))
    #expect(sound.seconds == 9)
    #expect(KeptAge(bytes: sound.bytes) == sound)
  }

  @Test("this machine's clocks can be told: of one start, and running")
  func real() {
    let (first, second) = (KeptAge.Moment.now, KeptAge.Moment.now)
    #expect(first.boot == second.boot && first.boot != 0)
    #expect(first.running > 0 && second.running >= first.running)
    #expect(first.wall > 1_700_000_000)
  }
}
