import Foundation
import Glibc
import Testing

@testable import PiconetFiles

@Suite("A receiving directory whose path leads elsewhere") struct ReplacedDirectoryTests {
  private let folder: TemporaryDirectory
  private let inbox: String
  private let directory: IncomingDirectory

  init() throws {
    folder = try TemporaryDirectory()
    inbox = try folder.folder("inbox", mode: 0o777)
    directory = try IncomingDirectory(path: inbox, settings: .test())
  }

  private func move() throws { try #require(rename(inbox, folder.path("trash")) == 0) }

  @Test("is itself as long as nothing happens, and again once it is back")
  func same() throws {
    #expect(try directory.successor() == nil)
    try move()
    #expect(failureCode { _ = try directory.successor() } == .directoryVanished)
    try #require(rename(folder.path("trash"), inbox) == 0)
    #expect(try directory.successor() == nil)
  }

  @Test("is moved or removed, and something else is there", arguments: ["file", "link", "nothing", "nobody's"])
  func gone(there: String) throws {
    try move()
    switch there {
    case "file": try folder.file("inbox")
    case "link": symlink("nowhere", inbox)
    case "nobody's": _ = try folder.folder("inbox", mode: 0o555)
    default: rmdir(folder.path("trash"))
    }
    let code = asOtherUser { failureCode { _ = try directory.successor() } }
    #expect(code == ["file": .notDirectory, "nobody's": .noPermission][there] ?? .directoryVanished)
  }

  @Test("is another directory now: that is given, and the former one still keeps what began in it")
  func replaced() throws {
    let file = try IncomingFile(in: directory, name: name("a"), offeredSize: 1, policy: .rename)
    try file.write([1] as [UInt8])
    try move()
    _ = try folder.folder("inbox")
    let other = try #require(try directory.successor())
    #expect(try other.successor() == nil)
    #expect(try receive("b", [2], in: other).stored?.path == inbox + "/b")
    #expect(try file.commit(expectedDigest: digest([1])).stored?.path == folder.path("trash/a"))
    #expect(try entries(inbox) == ["b"])
  }

  @Test("a link in its path leads elsewhere")
  func link() throws {
    let second = try folder.folder("second")
    symlink("inbox", folder.path("link"))
    let linked = try IncomingDirectory(path: folder.path("link"), settings: .test())
    #expect(try linked.successor() == nil)
    unlink(folder.path("link"))
    symlink("second", folder.path("link"))
    let other = try #require(try linked.successor())
    try receive("a", [1], in: other)
    #expect(try entries(second) == ["a"])
  }

  @Test("if inode numbers say nothing, a file made in the directory is looked for at the path")
  func seenThere() throws {
    #expect(directory.showsEntries(at: Array(inbox.utf8CString)))
    #expect(!directory.showsEntries(at: Array(folder.path.utf8CString)))
    #expect(!directory.showsEntries(at: Array(folder.path("none").utf8CString)))
    #expect(try entries(inbox) == [])
  }

  @Test("a path through an open descriptor counts as the one that it stands for")
  func descriptor() throws {
    let parent = open(folder.path, O_RDONLY | O_DIRECTORY)
    let opened = try IncomingDirectory(path: "/proc/self/fd/\(parent)/inbox", settings: .test())
    close(parent)
    #expect(try opened.successor() == nil)
    try move()
    #expect(failureCode { _ = try opened.successor() } == .directoryVanished)
  }

  @Test(
    "something is mounted over it: a file that is under way is not stored where no path leads, and the next one goes there",
    .enabled(if: SmallDisk.isAvailable), arguments: [true, false])
  func mountedOver(unnamed: Bool) throws {
    let seen = try SmallDisk.run { disk -> [String] in
      let path = disk + "/inbox"
      mkdir(path, 0o755)
      let directory = try IncomingDirectory(path: path, settings: .test(unnamed: unnamed))
      let file = try IncomingFile(in: directory, name: name("a"), offeredSize: 1, policy: .rename)
      try file.write([1] as [UInt8])
      guard mount("piconet", path, "tmpfs", 0, "size=64k") == 0 else { return ["\(errno)"] }
      let code = failureCode { _ = try file.commit(expectedDigest: digest([1])) }
      let other = try directory.successor()
      let stored = try other.map { try receive("b", [2], in: $0).stored?.path == path + "/b" }
      let names = try entries(path)
      // Descriptors are open in it.
      umount2(path, 2)
      return ["\(code == .directoryVanished)", "\(stored == true)"] + names + (try entries(path))
    }
    #expect(seen == ["true", "true", "b"])
  }
}
