import Glibc
import Testing

@testable import PiconetFiles

@Suite struct IncomingFileTests {
  @Test(
    "a file that arrives in pieces is stored byte for byte, with its time and ordinary permissions",
    arguments: [true, false])
  func stored(unnamed: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    let bytes = pattern(300_000)
    let file = try IncomingFile(in: directory, name: name("photo.jpg"), offeredSize: 300_000, policy: .rename)
    for start in stride(from: 0, to: bytes.count, by: 7_000) {
      try file.write(Array(bytes[start..<min(start + 7_000, bytes.count)]))
      #expect(!(try entries(folder.path)).contains("photo.jpg"))
    }
    let time = try #require(ModificationTime(seconds: 1_000_000_000, nanoseconds: 123_000_000))
    let outcome = try file.commit(expectedDigest: digest(bytes), modificationTime: time)
    let stored = try #require(outcome.stored)
    #expect(stored.name.text == "photo.jpg" && stored.size == 300_000 && stored.digest == digest(bytes))
    #expect(try content(stored.path) == bytes)
    #expect(try entries(folder.path) == ["photo.jpg"])
    // The permissions that the kernel gives to any new file of this process.
    let plain = open(folder.path("ordinary"), O_CREAT | O_WRONLY, 0o666)
    close(plain)
    let (found, ordinary) = (try status(stored.path), try status(folder.path("ordinary")))
    #expect(found.st_mode == ordinary.st_mode)
    #expect(found.st_mtim.tv_sec == 1_000_000_000 && found.st_mtim.tv_nsec == 123_000_000)
  }

  @Test("an empty file is a file", arguments: [true, false])
  func empty(unnamed: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    #expect(try receive("empty", [], in: directory).stored?.size == 0)
    #expect(try entries(folder.path) == ["empty"])
  }

  @Test("while a file arrives the directory shows nothing, or one hidden partial file that only its owner reads")
  func partial() throws {
    let folder = try TemporaryDirectory()
    for unnamed in [true, false] {
      let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
      let file = try IncomingFile(in: directory, name: name("photo.jpg"), offeredSize: 10, policy: .rename)
      try file.write([1, 2, 3])
      let found = try entries(folder.path)
      for entry in found {
        #expect(PartialFileName(entry) != nil)
        #expect(try status(folder.path(entry)).st_mode & 0o777 == 0o600)
      }
      #expect(unnamed ? found.count <= 1 : found.count == 1)
      file.discard()
      #expect(try entries(folder.path) == [])
    }
  }

  enum Ending: CaseIterable { case tooMany, tooFew, wrongDigest, discarded, forgotten }

  @Test(
    "more bytes, fewer, a wrong digest, a discard and the end of the object leave nothing",
    arguments: [true, false], Ending.allCases)
  func nothingLeft(unnamed: Bool, ending: Ending) throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    try {
      let file = try IncomingFile(in: directory, name: name("photo.jpg"), offeredSize: 4, policy: .rename)
      let right = digest([1, 2, 3, 4])
      switch ending {
      case .tooMany:
        try file.write([1, 2, 3])
        #expect(failureCode { try file.write([4, 5]) } == .tooManyBytes(offered: 4))
        #expect(file.receivedSize == 3)
        #expect(failureCode { try file.write([4]) } == .tooManyBytes(offered: 4))
        #expect(failureCode { _ = try file.commit(expectedDigest: right) } == .tooManyBytes(offered: 4))
      case .tooFew:
        try file.write([1, 2, 3])
        #expect(
          failureCode { _ = try file.commit(expectedDigest: digest([1, 2, 3])) }
            == .tooFewBytes(offered: 4, received: 3))
      case .wrongDigest:
        try file.write([1, 2, 3, 5])
        #expect(
          failureCode { _ = try file.commit(expectedDigest: right) }
            == .digestMismatch(expected: right, actual: digest([1, 2, 3, 5])))
      case .discarded:
        try file.write([1, 2, 3, 4])
        file.discard()
        #expect(failureCode { _ = try file.commit(expectedDigest: right) } == .ioError(EBADF))
      case .forgotten:
        try file.write([1, 2, 3, 4])
      }
    }()
    #expect(try entries(folder.path) == [])
  }

  @Test("a file hashed elsewhere is held to that digest; one not hashed at all is read again")
  func separateHash() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    let bytes = pattern(600_000)
    func file() throws -> IncomingFile {
      let file = try IncomingFile(
        in: directory, name: name("x"), offeredSize: 600_000, policy: .rename, hashing: false)
      try file.write(bytes)
      return file
    }
    #expect(try file().commit(expectedDigest: digest(bytes)).stored != nil)
    unlink(folder.path("x"))
    #expect(try file().commit(expectedDigest: digest(bytes), computedDigest: digest(bytes)).stored != nil)
    let wrong = digest([])
    let actual = digest(bytes)
    #expect(
      failureCode { _ = try file().commit(expectedDigest: wrong) } == .digestMismatch(expected: wrong, actual: actual))
    #expect(
      failureCode { _ = try file().commit(expectedDigest: actual, computedDigest: wrong) }
        == .digestMismatch(expected: actual, actual: wrong))
    #expect(try entries(folder.path) == ["x"])
  }

  @Test("a file larger than the limit is refused before anything is written, whatever number the peer claims")
  func tooLarge() throws {
    let folder = try TemporaryDirectory()
    var settings = IncomingDirectory.Settings.test()
    settings.maximumFileSize = 1000
    let limited = try IncomingDirectory(path: folder.path, settings: settings)
    for size in [1001, UInt64.max] {
      #expect(
        failureCode { _ = try IncomingFile(in: limited, name: name("x"), offeredSize: size, policy: .rename) }
          == .tooLarge(limit: 1000))
      #expect(
        failureCode { _ = try limited.conflictOutcome(name: name("x"), size: size, policy: .rename) }
          == .tooLarge(limit: 1000))
    }
    let open = try IncomingDirectory(path: folder.path)
    #expect(
      failureCode { _ = try IncomingFile(in: open, name: name("x"), offeredSize: .max, policy: .rename) }
        == .tooLarge(limit: UInt64(Int64.max)))
    let file = try IncomingFile(in: limited, name: name("x"), offeredSize: 1000, policy: .rename)
    file.discard()
    #expect(try entries(folder.path) == [])
  }

  @Test("a file of more bytes than the disk has is refused at once with both numbers")
  func largerThanDisk() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path)
    let size = UInt64(1) << 55
    guard
      case .diskFull(let needed, let free) = failureCode({
        _ = try IncomingFile(in: directory, name: name("x"), offeredSize: size, policy: .rename)
      })
    else {
      Issue.record("not refused")
      return
    }
    #expect(needed == size + (1 << 20) && free < needed)
  }

  @Test("from its start a file has all its blocks, or the promise of them where they can't be had cheaply")
  func allotted() throws {
    for inMemory in [true, false] {
      let folder = try TemporaryDirectory(inMemory: inMemory)
      let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: false))
      let file = try IncomingFile(in: directory, name: name("a"), offeredSize: 1 << 20, policy: .rename)
      let partial = try status(folder.path(#require(entries(folder.path).first)))
      #expect(partial.st_size == 0)
      #expect(file.promised == (partial.st_blocks >= (1 << 20) / 512 ? 0 : 1 << 20))
      file.discard()
      #expect(file.promised == 0)
    }
  }
}
