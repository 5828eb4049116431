import Glibc
import Synchronization
import Testing

@testable import PiconetFiles

/// As on exFAT, and on FAT behind FUSE: no flag for a rename, no hard links.
@Suite("Where the file system can neither rename without replacing nor link") struct FileNameClaimTests {
  private typealias Reception = PartialReception

  private static func calls() -> FileSystemCalls {
    var calls = FileSystemCalls()
    calls.renameWithoutReplacing = { _, _, _, _ in EINVAL }
    calls.link = { _, _, _, _ in EPERM }
    return calls
  }

  private func directory(_ folder: TemporaryDirectory, _ calls: FileSystemCalls = calls()) throws -> IncomingDirectory {
    try IncomingDirectory(path: folder.path, settings: .test(unnamed: false), calls: calls)
  }

  @Test("a file gets its name, a taken one a number, and nothing else is left", arguments: [1, 5000])
  func stored(count: Int) throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try directory(folder)
    for seed: UInt8 in 0..<3 { try receive("photo.jpg", pattern(count, seed: seed), in: directory) }
    #expect(try entries(folder.path) == ["photo (2).jpg", "photo (3).jpg", "photo.jpg"])
    #expect(try content(folder.path("photo.jpg")) == pattern(count))
    #expect(try content(folder.path("photo (3).jpg")) == pattern(count, seed: 2))
    #expect(try receive("photo.jpg", [9], in: directory, policy: .skip) == .skipped(name("photo.jpg")))
    #expect(try content(folder.path("photo.jpg")) == pattern(count))
    #expect(try receive("photo.jpg", [9], in: directory, policy: .overwrite).stored?.name.text == "photo.jpg")
    #expect(try content(folder.path("photo.jpg")) == [9])
    #expect(try entries(folder.path).count == 3)
  }

  @Test(
    "an EINVAL of renameat2 ends no transfer: a hard link names the file, or an empty file if links fail",
    arguments: [EINVAL, ENOSYS], [0] + FileNameClaim.withoutLinks.sorted())
  func renameWithoutFlags(renamed: Int32, linked: Int32) throws {
    for unnamed in [true, false] {
      let folder = try TemporaryDirectory(inMemory: true)
      var calls = FileSystemCalls()
      calls.renameWithoutReplacing = { _, _, _, _ in renamed }
      if linked != 0 { calls.link = { _, _, _, _ in linked } }
      let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed), calls: calls)
      for seed: UInt8 in 0..<2 { try receive("photo.jpg", pattern(5000, seed: seed), in: directory) }
      #expect(try entries(folder.path) == ["photo (2).jpg", "photo.jpg"])
      #expect(try content(folder.path("photo.jpg")) == pattern(5000))
    }
  }

  @Test("a link, a folder or a FIFO that has the name keeps it")
  func taken() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try directory(folder)
    symlink("nowhere", folder.path("link"))
    _ = try folder.folder("folder")
    mkfifo(folder.path("fifo"), 0o600)
    for text in ["link", "folder", "fifo"] { try receive(text, [1], in: directory) }
    #expect(
      try entries(folder.path) == ["fifo", "fifo (2)", "folder", "folder (2)", "link", "link (2)"])
  }

  @Test("the reason of a directory that may not be written to is still that")
  func noPermission() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    var calls = Self.calls()
    calls.rename = { _, _, _, _ in EACCES }
    let directory = try directory(folder, calls)
    #expect(failureCode { try receive("a", [1], in: directory) } == .noPermission)
    #expect(try entries(folder.path) == [])
  }

  /// What is in the directory at the moment of the rename, as for a process that dies then.
  private func atRename(
    _ folder: TemporaryDirectory, _ run: (IncomingDirectory) throws -> Void
  ) throws -> [(name: String, bytes: [UInt8])] {
    let path = folder.path
    let seen = Seen()
    var calls = Self.calls()
    calls.rename = { _, _, _, _ in
      let all = (try? entries(path)) ?? []
      seen.entries.withLock { $0 = all.map { ($0, (try? content(path + "/" + $0)) ?? []) } }
      return EIO
    }
    #expect(failureCode { try run(try directory(folder, calls)) } == .ioError(EIO))
    // A rename that fails leaves neither the empty file nor the note.
    #expect(try entries(folder.path) == [])
    return seen.entries.withLock { $0 }
  }

  private final class Seen: Sendable {
    let entries = Mutex<[(name: String, bytes: [UInt8])]>([])
  }

  @Test("death before the rename leaves no empty file in the place of the name: the next start removes it")
  func deathBefore() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let left = try atRename(folder) { try receive("photo.jpg", [1, 2], in: $0) }
    #expect(left.map(\.name).contains("photo.jpg") && left.count == 3)
    for (name, bytes) in left { try folder.file(name, bytes) }
    // A file of another program, which no note names.
    try folder.file("empty")
    let directory = try directory(folder)
    directory.sweepAbandonedPartials()
    #expect(try entries(folder.path) == ["empty"])
  }

  @Test("death before the rename of a file that can be gone on with: the next start, or the next offer, frees its name")
  func deathOfKept() throws {
    for sweeps in [true, false] {
      let folder = try TemporaryDirectory(inMemory: true)
      let open = { (directory: IncomingDirectory) in
        try IncomingFile(
          in: directory, name: try name("film"), offeredSize: UInt64(Reception.whole.count), policy: .rename,
          resuming: try Reception.key())
      }
      let left = try atRename(folder) { directory in
        let file = try open(directory)
        try file.write(Reception.whole)
        _ = try file.commit(expectedDigest: Reception.sum)
      }
      #expect(left.map(\.name).contains("film") && left.count == 4)
      for (name, bytes) in left { try folder.file(name, bytes) }
      let directory = try directory(folder)
      if sweeps {
        directory.sweepAbandonedPartials()
        #expect(try entries(folder.path).count == 2)
      }
      let file = try open(directory)
      #expect(file.resumedSize == UInt64(3 * Reception.block))
      try file.write(Array(Reception.whole[(3 * Reception.block)...]))
      #expect(try file.commit(expectedDigest: Reception.sum).stored?.name.text == "film")
      #expect(try entries(folder.path) == ["film"])
    }
  }

  @Test("death after the rename: the file stays, empty or not, and the note goes", arguments: [[], [1, 2]])
  func deathAfter(bytes: [UInt8]) throws {
    let folder = try TemporaryDirectory(inMemory: true)
    try folder.file(PartialFileName.random().claim, Array("photo.jpg\n".utf8))
    try folder.file("photo.jpg", bytes)
    try directory(folder).sweepAbandonedPartials()
    #expect(try entries(folder.path) == ["photo.jpg"])
    #expect(try content(folder.path("photo.jpg")) == bytes)
  }

  @Test("a note that is torn, or names what is not our file, removes nothing")
  func hostile() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    try folder.file("photo")
    try folder.file("full", [1])
    try folder.file("other")
    symlink("other", folder.path("link"))
    _ = try folder.folder("sub")
    symlink("sub", folder.path("way"))
    try folder.file("sub/inner")
    for text in [
      "photo", "", "\n", "full\n", "link\n", "sub\n", "way/inner\n", "../x\n", "sub/../photo\n", "photo\n\n",
      "photo\nx",
      String(repeating: "x", count: 300) + "\n",
    ] {
      let partial = PartialFileName.random()
      try folder.file(partial.text)
      try folder.file(partial.claim, Array(text.utf8))
      try directory(folder).sweepAbandonedPartials()
      #expect(try entries(folder.path) == ["full", "link", "other", "photo", "sub", "way"], "\(text)")
      #expect(try entries(folder.path("sub")) == ["inner"])
    }
  }

  @Test("a note of a living process is left alone")
  func living() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let path = folder.path
    let seen = Seen()
    var calls = Self.calls()
    calls.rename = { directory, from, folder, to in
      _ = try? IncomingDirectory(path: path, settings: .test(unnamed: false)).sweepAbandonedPartials()
      let all = (try? entries(path)) ?? []
      seen.entries.withLock { $0 = all.map { ($0, []) } }
      return FileSystemCalls().rename(directory, from, folder, to)
    }
    try receive("photo.jpg", [1, 2], in: try directory(folder, calls))
    #expect(seen.entries.withLock { $0.count } == 3)
    #expect(try entries(folder.path) == ["photo.jpg"])
    #expect(try content(folder.path("photo.jpg")) == [1, 2])
  }
}
