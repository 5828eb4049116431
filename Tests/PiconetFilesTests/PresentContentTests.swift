import Foundation
import Glibc
import Testing

@testable import PiconetFiles

@Suite("Content that is stored already") struct PresentContentTests {
  private func present(
    _ directory: IncomingDirectory, _ text: String, _ size: Int, folder: String = ""
  ) throws -> PresentContent? {
    try PresentContent(
      in: directory, folder: SafeFolder(bytes: Array(folder.utf8)), name: try name(text), size: UInt64(size))
  }

  private func read(_ content: PresentContent, step: UInt64 = .max) -> Int {
    var steps = 1
    while !content.step(step) { steps += 1 }
    return steps
  }

  @Test("is found under its name, and under the name with a number")
  func found() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    for seed: UInt8 in 0..<3 { try receive("photo.jpg", pattern(5000, seed: seed), in: directory) }
    #expect(try present(directory, "other.jpg", 5000) == nil)
    #expect(try present(directory, "photo.jpg", 5001) == nil)
    let content = try #require(try present(directory, "photo.jpg", 5000))
    _ = read(content)
    #expect(content.match(digest(pattern(5000)))?.text == "photo.jpg")
    #expect(content.match(digest(pattern(5000, seed: 2)))?.text == "photo (3).jpg")
    #expect(content.match(digest(pattern(5000, seed: 9))) == nil)
  }

  @Test("is found behind one or two numbers whose files were removed, but not behind three")
  func gaps() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    for seed: UInt8 in 0..<4 { try receive("photo.jpg", pattern(5000, seed: seed), in: directory) }
    for removed in ["photo.jpg", "photo (2).jpg", "photo (3).jpg"] {
      let content = try #require(try present(directory, "photo.jpg", 5000), "\(removed) is the next to go")
      _ = read(content)
      #expect(content.match(digest(pattern(5000, seed: 3)))?.text == "photo (4).jpg")
      unlink(folder.path(removed))
    }
    #expect(try present(directory, "photo.jpg", 5000) == nil)
  }

  @Test("is found under the name without its number, and under other numbers")
  func otherNumbers() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    for seed: UInt8 in 0..<3 { try receive("photo.jpg", pattern(5000, seed: seed), in: directory) }
    let expected = ["photo.jpg", "photo (2).jpg", "photo (3).jpg"]
    for offered in ["photo (2).jpg", "photo (9).jpg"] {
      let content = try #require(try present(directory, offered, 5000))
      _ = read(content)
      for seed: UInt8 in 0..<3 {
        #expect(content.match(digest(pattern(5000, seed: seed)))?.text == expected[Int(seed)])
      }
      #expect(try present(directory, offered, 5001) == nil)
    }
    // A file that was received without a comparison is stored no second time, either.
    let file = try IncomingFile(
      in: directory, name: try name("photo (7).jpg"), offeredSize: 5000, policy: .rename)
    try file.write(pattern(5000, seed: 2))
    #expect(try file.commit(expectedDigest: digest(pattern(5000, seed: 2))).stored == nil)
    // With skip it is there, too, though another file has the offered name.
    for seed: UInt8 in 0..<3 {
      let outcome = try receive("photo (2).jpg", pattern(5000, seed: seed), in: directory, policy: .skip)
      #expect(outcome.present?.name.text == expected[Int(seed)])
    }
    let other = try receive("photo (2).jpg", pattern(5000, seed: 9), in: directory, policy: .skip)
    #expect(try other == .skipped(name("photo (2).jpg")))
    #expect(try Set(entries(folder.path)) == Set(expected))
  }

  @Test("a number is what makes names different in a directory, and nothing else")
  func numbers() throws {
    for (text, base) in [
      ("a (2).jpg", "a.jpg"), ("a (17)", "a"), ("a.tar (2).gz", "a.tar.gz"), ("a (2) (3).jpg", "a (2).jpg"),
    ] {
      #expect(try name(text).withoutNumber?.text == base, "\(text)")
    }
    for text in [
      "a.jpg", "a (1).jpg", "a (02).jpg", "a (0).jpg", "a(2).jpg", "(2).jpg", "a ().jpg", "a (2.jpg", "a (2)b.jpg",
    ] {
      #expect(try name(text).withoutNumber == nil, "\(text)")
    }
    for number in [2, 9, 10, 64, 1_000] {
      #expect(try name("b.c.png").numbered(number).withoutNumber?.text == "b.c.png")
    }
  }

  @Test("is read in steps, each of which tells more, and the last all")
  func steps() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    try folder.file("a", pattern(1 << 20))
    try folder.file("a (2)", pattern(1 << 20, seed: 1))
    let content = try #require(try present(directory, "a", 1 << 20))
    var told: [UInt64] = []
    while !content.step(128 << 10) { told.append(content.comparedByteCount) }
    #expect(told.count == 15, "\(told)")
    #expect(told == told.sorted() && Set(told).count == told.count, "\(told)")
    #expect(content.comparedByteCount == 1 << 20)
    #expect(content.match(digest(pattern(1 << 20, seed: 1)))?.text == "a (2)")
  }

  @Test("is not what was changed, replaced or removed after it was read")
  func changed() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    for change in ["write", "replace", "remove"] {
      try receive(change, [1, 2, 3], in: directory)
      let content = try #require(try present(directory, change, 3))
      _ = read(content)
      #expect(content.match(digest([1, 2, 3])) != nil)
      switch change {
      case "write":
        let file = try #require(FileHandle(forWritingAtPath: folder.path(change)))
        try file.write(contentsOf: Data([4]))
        try file.close()
        var times = [timespec(tv_sec: 1, tv_nsec: 1), timespec(tv_sec: 1, tv_nsec: 1)]
        utimensat(AT_FDCWD, folder.path(change), &times, 0)
      case "replace":
        unlink(folder.path(change))
        try folder.file(change, [7, 7, 7])
      default: unlink(folder.path(change))
      }
      #expect(content.match(digest([1, 2, 3])) == nil, "\(change)")
    }
  }

  @Test("links, folders and FIFOs are not compared, and the search does not wait for one")
  func special() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    try folder.file("target", [1, 2, 3])
    symlink("target", folder.path("link"))
    mkfifo(folder.path("fifo"), 0o600)
    _ = try folder.folder("folder")
    for text in ["link", "fifo", "folder"] {
      for size in [0, 3, 4096] { #expect(try present(directory, text, size) == nil, "\(text)") }
    }
  }

  @Test("content that arrives again is not stored a second time", arguments: ConflictPolicy.allCases, [true, false])
  func notTwice(policy: ConflictPolicy, unnamed: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    try receive("a.jpg", [1], in: directory)
    let inode = try status(folder.path("a.jpg")).st_ino
    guard case .present(let file) = try receive("a.jpg", [1], in: directory, policy: policy) else {
      Issue.record("stored again")
      return
    }
    #expect(file.path == folder.path("a.jpg") && file.digest == digest([1]))
    #expect(try entries(folder.path) == ["a.jpg"])
    #expect(try status(folder.path("a.jpg")).st_ino == inode)
    #expect(try receive("a.jpg", [2], in: directory).stored?.name.text == "a (2).jpg")
    guard case .present(let second) = try receive("a.jpg", [2], in: directory) else {
      Issue.record("stored again")
      return
    }
    #expect(second.name.text == "a (2).jpg")
    #expect(try entries(folder.path) == ["a (2).jpg", "a.jpg"])
  }

  @Test("a file is read once however often it is compared, but not while it is fresh")
  func remembered() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    try folder.file("a", pattern(100))
    let stamp = FileStamp(try status(folder.path("a")))
    let key = FileDigests.Key(path: "a", stamp: stamp)
    let changed = max(stamp.modified.nanosecondsSince1970, stamp.changed.nanosecondsSince1970)
    let youngest = stamp.isCoarse ? FileDigests.youngestWhereCoarse : FileDigests.youngest
    let digests = FileDigests()
    digests.note(digest(pattern(100)), of: key, at: changed + youngest - 1)
    #expect(digests.digest(of: key) == nil)
    digests.note(digest(pattern(100)), of: key, at: changed + youngest)
    #expect(digests.digest(of: key) == digest(pattern(100)))
    #expect(digests.digest(of: FileDigests.Key(path: "b", stamp: stamp)) == nil)
    // The remembered digest counts, since the file is not read again.
    directory.digests.note(digest([9]), of: key, at: changed + youngest)
    let content = try #require(try present(directory, "a", 100))
    _ = read(content)
    #expect(content.match(digest([9]))?.text == "a")
  }

  @Test("digests that are remembered have a limit, and the oldest goes first")
  func bounded() throws {
    let folder = try TemporaryDirectory()
    try folder.file("a", [1])
    let stamp = FileStamp(try status(folder.path("a")))
    let digests = FileDigests()
    let late = FileDigests.now + 10_000_000_000
    for number in 0...FileDigests.limit {
      digests.note(digest([1]), of: FileDigests.Key(path: "\(number)", stamp: stamp), at: late)
    }
    #expect(digests.digest(of: FileDigests.Key(path: "0", stamp: stamp)) == nil)
    #expect(digests.digest(of: FileDigests.Key(path: "1", stamp: stamp)) != nil)
    #expect(digests.digest(of: FileDigests.Key(path: "\(FileDigests.limit)", stamp: stamp)) != nil)
  }
}

extension ModificationTime {
  fileprivate var nanosecondsSince1970: Int64 { seconds * 1_000_000_000 + Int64(nanoseconds) }
}
