import Glibc
import Testing

@testable import PiconetFiles

@Suite struct ConflictTests {
  @Test("the same name again gets numbers, and the stored files stay", arguments: [true, false])
  func rename(unnamed: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    for round in 1...3 { try receive("photo.jpg", [UInt8(round)], in: directory) }
    #expect(try entries(folder.path) == ["photo (2).jpg", "photo (3).jpg", "photo.jpg"])
    #expect(try content(folder.path("photo.jpg")) == [1])
    #expect(try content(folder.path("photo (3).jpg")) == [3])
  }

  @Test("after the last number the name counts as taken", arguments: [true, false])
  func bounded(unnamed: Bool) throws {
    let folder = try TemporaryDirectory()
    var settings = IncomingDirectory.Settings.test(unnamed: unnamed)
    settings.maximumNumber = 3
    let directory = try IncomingDirectory(path: folder.path, settings: settings)
    for byte: UInt8 in 1...3 { try receive("a", [byte], in: directory) }
    #expect(failureCode { try receive("a", [4], in: directory) } == .exists)
    #expect(try entries(folder.path) == ["a", "a (2)", "a (3)"])
  }

  @Test("ten thousand files of one name cost the next one some twenty looks, and no free number is lost up to 64")
  func numbers() throws {
    for taken in [0, 1, 63, 64, 65, 1_000, 9_999] {
      var numbers = NameNumbers(last: 1_000_000)
      var looks = 0
      var number = try #require(numbers.next { _ in false })
      while number <= taken {
        number = try #require(
          numbers.next { number in
            looks += 1
            return number <= taken
          })
      }
      #expect(number == taken + 1)
      #expect(looks <= 24, "\(taken): \(looks)")
    }
    // A free number is used if it is among the first. Beyond these, a number that was free a moment ago is only one
    // more failed try.
    var numbers = NameNumbers(last: 200)
    var tried: [Int] = []
    while let number = numbers.next(isTaken: { $0 == 65 }) { tried.append(number) }
    #expect(tried == Array(1...64) + Array(66...200))
    numbers = NameNumbers(last: 100)
    tried = []
    while let number = numbers.next(isTaken: { _ in true }) { tried.append(number) }
    #expect(tried == Array(1...64))
    for (last, first) in [(.min, 1), (0, 1), (1, 1)] as [(Int, Int)] {
      numbers = NameNumbers(last: last)
      #expect(numbers.next { _ in true } == first && numbers.next { _ in false } == nil)
    }
    numbers = NameNumbers(last: .max)
    for _ in 1...64 { _ = numbers.next { _ in true } }
    #expect(numbers.next { $0 != .max } == .max)
  }

  @Test("a thousand files of one name, and one more", arguments: [true, false])
  func thousand(unnamed: Bool) throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    try folder.file("photo.jpg", [])
    for number in 2...1_000 { try folder.file("photo (\(number)).jpg", []) }
    for byte: UInt8 in 1...2 { try receive("photo.jpg", [byte], in: directory) }
    #expect(try content(folder.path("photo (1001).jpg")) == [1])
    #expect(try content(folder.path("photo (1002).jpg")) == [2])
  }

  @Test("skip says so before and after the transfer, and writes nothing", arguments: [true, false])
  func skip(unnamed: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    #expect(try directory.conflictOutcome(name: name("a"), size: 1, policy: .skip) == .store)
    #expect(try receive("a", [1], in: directory, policy: .skip).stored != nil)
    #expect(try directory.conflictOutcome(name: name("a"), size: 1, policy: .skip) == .skip)
    #expect(try receive("a", [2], in: directory, policy: .skip) == .skipped(name("a")))
    #expect(try content(folder.path("a")) == [1])
    #expect(try entries(folder.path) == ["a"])
  }

  @Test("overwrite replaces a regular file at once: a reader of the old one keeps it", arguments: [true, false])
  func overwrite(unnamed: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    #expect(try receive("a", [1], in: directory, policy: .overwrite).stored != nil)
    #expect(try directory.conflictOutcome(name: name("a"), size: 1, policy: .overwrite) == .overwrite)
    let old = try OutgoingFile(path: folder.path("a"))
    #expect(try receive("a", [2], in: directory, policy: .overwrite).stored?.name.text == "a")
    #expect(try content(folder.path("a")) == [2])
    var byte: UInt8 = 0
    #expect(try withUnsafeMutableBytes(of: &byte) { try old.read(into: $0) } == 1)
    #expect(byte == 1)
    #expect(try entries(folder.path) == ["a"])
    #expect(try status(folder.path("a")).st_mode & 0o400 == 0o400)
  }

  @Test("overwrite never replaces a directory, a link or a FIFO", arguments: [true, false])
  func overwriteSpecial(unnamed: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    _ = try folder.folder("directory")
    symlink("directory", folder.path("link"))
    mkfifo(folder.path("fifo"), 0o644)
    for (text, kind) in [("directory", FileKind.directory), ("link", .symbolicLink), ("fifo", .fifo)] {
      #expect(failureCode { try receive(text, [1], in: directory, policy: .overwrite) } == .notRegular(kind))
      #expect(
        failureCode { _ = try directory.conflictOutcome(name: name(text), size: 1, policy: .overwrite) }
          == .notRegular(kind))
    }
    #expect(try entries(folder.path) == ["directory", "fifo", "link"])
  }

  @Test("many senders commit one name at once: every file is kept under a name of its own", arguments: [true, false])
  func concurrent(unnamed: Bool) async throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let path = folder.path
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          let directory = try IncomingDirectory(path: path, settings: .test(unnamed: unnamed))
          for round in 0..<16 {
            directory.sweepAbandonedPartials()
            try receive("photo.jpg", [UInt8(writer), UInt8(round)], in: directory)
          }
        }
      }
      try await group.waitForAll()
    }
    let names = try entries(path)
    #expect(names.count == 128)
    #expect(names.contains("photo.jpg") && names.contains("photo (128).jpg"))
    #expect(Set(try names.map { try content(folder.path($0)) }).count == 128)
  }
}
