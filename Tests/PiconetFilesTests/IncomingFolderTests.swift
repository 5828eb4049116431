import Foundation
import Glibc
import PiconetWire
import Synchronization
import Testing

@testable import PiconetFiles

@Suite("Folders below a receiving directory") struct IncomingFolderTests {
  @discardableResult
  private func receive(
    _ path: String, _ bytes: [UInt8], in directory: IncomingDirectory, policy: ConflictPolicy = .rename
  ) throws -> IncomingOutcome {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let folder = try SafeFolder(bytes: Array(parts.dropLast().joined(separator: "/").utf8))
    let file = try IncomingFile(
      in: directory, folder: folder, name: try name(parts.last ?? ""), offeredSize: UInt64(bytes.count), policy: policy)
    try file.write(bytes)
    return try file.commit(expectedDigest: digest(bytes))
  }

  private func tree(_ folder: TemporaryDirectory) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
  }

  @Test("are made when a file gets its name in them, and keep files apart", arguments: [true, false])
  func stored(unnamed: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    let lost = try IncomingFile(
      in: directory, folder: SafeFolder(bytes: Array("lost".utf8)), name: name("a"), offeredSize: 1, policy: .rename)
    lost.discard()
    #expect(try tree(folder) == [])
    let stored = try #require(try receive("holiday/2026/strand.jpg", [1], in: directory).stored)
    #expect(stored.relativePath == "holiday/2026/strand.jpg")
    #expect(stored.path == folder.path("holiday/2026/strand.jpg"))
    try receive("other/strand.jpg", [2], in: directory, policy: .overwrite)
    try receive("holiday/2026/strand.jpg", [3], in: directory)
    #expect(
      try tree(folder) == [
        "holiday", "holiday/2026", "holiday/2026/strand (2).jpg", "holiday/2026/strand.jpg", "other",
        "other/strand.jpg",
      ])
    #expect(try content(folder.path("holiday/2026/strand.jpg")) == [1])
  }

  @Test(
    "what has no right to a folder's name is neither followed nor replaced: the folder gets a number, the same each time"
  )
  func taken() throws {
    let outside = try TemporaryDirectory()
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    symlink(outside.path, folder.path("link"))
    try folder.file("file", [9])
    mkfifo(folder.path("fifo"), 0o600)
    for place in ["link", "file", "fifo"] {
      for round: UInt8 in 1...2 { try receive("\(place)/a", [round], in: directory) }
    }
    #expect(try entries(outside.path) == [])
    #expect(
      try tree(folder) == [
        "fifo", "fifo (2)", "fifo (2)/a", "fifo (2)/a (2)", "file", "file (2)", "file (2)/a", "file (2)/a (2)", "link",
        "link (2)", "link (2)/a", "link (2)/a (2)",
      ])
  }

  @Test(
    "names that are no names of folders are refused",
    arguments: [
      ("/", FileNameRefusal.empty), ("/a", .empty), ("a/", .empty), ("a//b", .empty), ("..", .directoryReference),
      ("a/../b", .directoryReference), ("a/./b", .directoryReference), (".hidden", .hidden), ("a\\b", .pathSeparator),
      ("a\u{0}", .controlCharacter), ("x.lnk", .launcher), ("-rf", .leadingHyphen), ("a \u{200B}b", .unseenCharacter),
      (Array(repeating: "a", count: 17).joined(separator: "/"), .tooDeep),
      (Array(repeating: String(repeating: "x", count: 200), count: 11).joined(separator: "/"), .folderTooLong),
    ])
  func refused(text: String, refusal: FileNameRefusal) {
    #expect(throws: refusal) { try SafeFolder(bytes: Array(text.utf8)) }
  }

  @Test("are as deep as may be, and repaired names are taken")
  func accepted() throws {
    let deep = Array(repeating: "a", count: 16).joined(separator: "/")
    #expect(try SafeFolder(bytes: Array(deep.utf8)).components.count == 16)
    #expect(try SafeFolder(bytes: []) == .none)
    let repaired = try #require(
      SafeFolder(repairing: [Array("..".utf8), [0xFF, 0x61], Array("x.lnk".utf8), Array("a/b".utf8)]))
    #expect(try SafeFolder(bytes: Array(repaired.text.utf8)) == repaired)
    #expect(SafeFolder(repairing: Array(repeating: [0x61], count: 17)) == nil)
  }

  @Test("a folder that is swapped for a link all the time leads nowhere else", arguments: [true, false])
  func swapped(unnamed: Bool) async throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let outside = try TemporaryDirectory(inMemory: true)
    let isDone = Atomic(false)
    let swapper = Thread { [path = folder.path, out = outside.path] in
      while !isDone.load(ordering: .relaxed) {
        symlink(out, path + "/swap")
        _ = Glibc.rename(path + "/album", path + "/away")
        _ = Glibc.rename(path + "/swap", path + "/album")
        unlink(path + "/album")
        _ = Glibc.rename(path + "/away", path + "/album")
      }
    }
    swapper.start()
    defer { isDone.store(true, ordering: .relaxed) }
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed))
    for number in 0..<500 {
      let outcome = Result { try receive("album/\(number)", [1], in: directory) }
      if case .failure(let error) = outcome {
        Issue.record("\(error)")
        break
      }
    }
    #expect(try entries(outside.path) == [])
    #expect(try entries(folder.path).allSatisfy { !$0.hasPrefix(".") })
  }

  @Test("a folder that is removed all the time is made again")
  func removed() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let path = folder.path
    var calls = FileSystemCalls()
    let removals = Mutex(0)
    calls.renameWithoutReplacing = { directory, from, to, name in
      // At the moment before the file gets its name, but not every time.
      if removals.withLock({
        $0 += 1
        return $0 % 2 == 1
      }) {
        rmdir(path + "/album")
      }
      return FileSystemCalls().renameWithoutReplacing(directory, from, to, name)
    }
    let directory = try IncomingDirectory(path: path, settings: .test(unnamed: false), calls: calls)
    #expect(try receive("album/a", [1], in: directory).stored?.relativePath == "album/a")
    #expect(try entries(path) == ["album"])
  }

  @Test(
    "where files take their names by way of an empty one, that works in folders too, and a dead process leaves none")
  func claims() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    var calls = FileSystemCalls()
    calls.renameWithoutReplacing = { _, _, _, _ in EINVAL }
    calls.link = { _, _, _, _ in EPERM }
    let path = folder.path
    let seen = Mutex<[UInt8]>([])
    calls.rename = { directory, from, to, name in
      let note = (try? entries(path))?.first { $0.hasSuffix(".claim") } ?? ""
      seen.withLock { $0 = (try? content(path + "/" + note)) ?? [] }
      return FileSystemCalls().rename(directory, from, to, name)
    }
    let directory = try IncomingDirectory(path: path, settings: .test(unnamed: false), calls: calls)
    try receive("album/a.jpg", [1], in: directory)
    #expect(seen.withLock { $0 } == Array("album/a.jpg\n".utf8))
    #expect(try tree(folder) == ["album", "album/a.jpg"])
    // As a process that dies before the rename leaves it.
    let name = PartialFileName.random()
    try folder.file(name.text, [1])
    try folder.file(name.claim, Array("album/b.jpg\n".utf8))
    try folder.file("album/b.jpg", [])
    _ = try IncomingDirectory(path: path, settings: .test()).sweepAbandonedPartials()
    #expect(try tree(folder) == ["album", "album/a.jpg"])
  }

  @Test("a partial file waits in the directory itself, and goes on into the folder")
  func resumed() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    let bytes = pattern(3 << 20)
    let key = try #require(
      ResumptionKey(
        sender: .init(bytes: [UInt8](repeating: 1, count: 32))!, isKnown: true, identity: [1], size: UInt64(bytes.count)
      ))
    func file() throws -> IncomingFile {
      try IncomingFile(
        in: directory, folder: SafeFolder(bytes: Array("film".utf8)), name: name("a"),
        offeredSize: UInt64(bytes.count), policy: .rename, resuming: key)
    }
    let first = try file()
    try first.write(Array(bytes[..<(2 << 20)]))
    first.keep()
    #expect(try entries(folder.path).count == 2)
    let second = try file()
    #expect(second.resumedSize == 2 << 20)
    try second.write(Array(bytes[(2 << 20)...]))
    _ = try second.commit(expectedDigest: digest(bytes))
    #expect(try tree(folder) == ["film", "film/a"])
  }
}
