import Foundation
import Glibc
import PiconetWire
import Testing

@testable import PiconetFiles

@Suite("Kept partial files do not pile up") struct KeptPartialTests {
  private let block = PartialReception.block

  private func keep(_ number: UInt8, in directory: IncomingDirectory) throws {
    let key = try PartialReception.key(number, size: 2 * block)
    let file = try IncomingFile(
      in: directory, name: try name("a"), offeredSize: key.size, policy: .rename, resuming: key)
    try file.write(Array(PartialReception.whole[..<block]))
    file.keep()
  }

  private func parts(_ folder: TemporaryDirectory) throws -> [String] {
    try entries(folder.path).filter { $0.hasSuffix(".part") }
  }

  private func age(_ path: String, seconds: Int) throws {
    let times = [timespec(tv_sec: time(nil) - seconds, tv_nsec: 0), timespec(tv_sec: time(nil) - seconds, tv_nsec: 0)]
    try #require(utimensat(AT_FDCWD, path, times, 0) == 0)
  }

  @Test("one more than the limit costs the oldest its place, with its journal")
  func number() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    var settings = IncomingDirectory.Settings.test()
    settings.keptPartialLimit = 3
    let directory = try IncomingDirectory(path: folder.path, settings: settings)
    for number: UInt8 in 1...3 {
      try keep(number, in: directory)
      let key = try PartialReception.key(number, size: 2 * block)
      try age(folder.path(key.partialName.text), seconds: 1_000 - Int(number))
    }
    let oldest = try PartialReception.key(1, size: 2 * block).partialName.text
    #expect(try parts(folder).contains(oldest))
    try keep(4, in: directory)
    #expect(try parts(folder).count == 3)
    #expect(try !parts(folder).contains(oldest))
    #expect(try entries(folder.path).count == 6)
  }

  @Test("a sweep removes what nothing can be gone on with, and leaves what can be")
  func useless() throws {
    for (damage, stays) in [("", true), ("no journal", false), ("empty journal", false), ("short", false)] {
      let reception = try PartialReception()
      try reception.die(after: 2 * block)
      switch damage {
      case "no journal": unlink(try reception.journal)
      case "empty journal": truncate(try reception.journal, off_t(BlockJournal.headerByteCount))
      case "short": truncate(try reception.part, off_t(block - 1))
      default: break
      }
      #expect(reception.directory.sweepAbandonedPartials() == (stays ? 0 : 1), "\(damage)")
      #expect(try entries(reception.folder.path).count == (stays ? 2 : 0), "\(damage)")
      #expect(try reception.finish() == (stays ? UInt64(2 * block) : 0), "\(damage)")
    }
  }

  @Test("where the disk is full, kept files make room", .enabled(if: SmallDisk.isAvailable))
  func fullDisk() throws {
    let left = try SmallDisk.run { path in
      let directory = try IncomingDirectory(path: path, settings: .test())
      let name = PartialFileName(kept: "0123456789abcdef0123456789abcdef")
      try Data([UInt8](repeating: 1, count: 40 << 10)).write(to: URL(fileURLWithPath: path + "/" + name.text))
      let file = try IncomingFile(
        in: directory, name: try SafeFileName("a"), offeredSize: 40 << 10, policy: .rename)
      file.discard()
      return try entries(path)
    }
    #expect(left == [])
  }

  @Test("names of kept files are recognized, and nothing else")
  func names() throws {
    let name = try PartialReception.key().partialName
    #expect(PartialFileName(keptOrJournal: name.text) == name)
    #expect(PartialFileName(keptOrJournal: name.journal) == name)
    #expect(PartialFileName(name.text) == nil)
    let stranger = try PartialReception.key(isKnown: false).partialName
    #expect(stranger != name && stranger.sender == name.sender && stranger.isOfStranger && !name.isOfStranger)
    for text in [stranger.text, stranger.journal] { #expect(PartialFileName(keptOrJournal: text) == stranger) }
    #expect(PartialFileName(claim: stranger.claim) == stranger)
    #expect(throws: FileNameRefusal.hidden) { try SafeFileName(name.text) }
    for text in [
      "", ".piconet-resume-.part", ".piconet-resume-0123.part", PartialFileName.random().text,
      ".piconet-resume-0123456789abcdef0123456789abcdef-strange.part", ".piconet-resume-stranger.part",
      ".piconet-resume--stranger.part", ".piconet-resume-0123456789abcdef0123456789abcdeF.part",
      ".piconet-resume-0123456789abcdef0123456789abcdef",
    ] { #expect(PartialFileName(keptOrJournal: text) == nil) }
  }

  @Test("a file that is changed is another content for its sender, the same file is the same")
  func identity() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.file("a", [1, 2, 3])
    let first = try OutgoingFile(path: path).contentIdentity
    #expect(first.count == 32)
    #expect(try OutgoingFile(path: path).contentIdentity == first)
    let copy = try folder.file("b", [1, 2, 3])
    #expect(try OutgoingFile(path: copy).contentIdentity != first)
    // With the same size and its old time of modification.
    let times = [try status(path).st_mtim, try status(path).st_mtim]
    let inode = try status(path).st_ino
    let file = try #require(fopen(path, "r+"))
    fputc(9, file)
    fclose(file)
    utimensat(AT_FDCWD, path, times, 0)
    #expect(try status(path).st_ino == inode)
    #expect(try OutgoingFile(path: path).contentIdentity != first)
  }
}
