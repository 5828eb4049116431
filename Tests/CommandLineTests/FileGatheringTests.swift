import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

private let gif: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0]
private let text: [UInt8] = Array("Hello, this is no image.".utf8)

private func gather(
  _ folder: TemporaryFolder, _ names: String..., any: Bool = false, limits: FileGathering.Limits = .init()
) -> (files: [String], failures: [String]) {
  let operands = names.map { LocalPath(folder.path + "/" + $0) }
  let gathering = FileGathering(operands, any: any, limits: limits)
  func relative(_ path: LocalPath) -> String { String(path.readable.dropFirst(folder.path.count + 1)) }
  return (
    gathering.files.map { relative($0.path) }, gathering.failures.map { "\(relative($0.path)): \($0.message)" }
  )
}

@Suite("Files to send are gathered from the operands")
struct FileGatheringTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("a directory gives its images, recursively, sorted, without hidden ones and other files")
  func directory() throws {
    for name in ["b.jpg", "a.txt.gif", "sub/z", "sub/deep/y", ".hidden.gif", ".hidden/x.gif", "c c é.gif"] {
      try folder.write("d/" + name, gif)
    }
    try folder.write("d/notes.gif", text)
    try folder.write("d/empty.gif", [])
    let result = gather(folder, "d")
    #expect(result.files == ["d/a.txt.gif", "d/b.jpg", "d/c c é.gif", "d/sub/deep/y", "d/sub/z"])
    #expect(result.failures == [])
    #expect(
      gather(folder, "d/", any: true).files == [
        "d/a.txt.gif", "d/b.jpg", "d/c c é.gif", "d/empty.gif", "d/notes.gif", "d/sub/deep/y", "d/sub/z",
      ])
  }

  @Test("a file carries its size and kind")
  func details() throws {
    try folder.write("a", gif)
    try folder.write("b", text)
    let files = FileGathering([LocalPath(folder.path + "/a"), LocalPath(folder.path + "/b")], any: true).files
    #expect(files.map(\.size) == [10, Int64(text.count)])
    #expect(files.map(\.kind) == [.gif, nil])
    #expect(files.map(\.path.lastComponent) == ["a", "b"])
  }

  @Test("what can't be sent fails alone; the others are sent in their order")
  func failures() throws {
    try folder.write("a.gif", gif)
    try folder.write("b.gif", gif)
    try folder.write("c.txt", text)
    try folder.write("none/c.txt", text)
    #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
    let result = gather(folder, "b.gif", "missing", "c.txt", "pipe", "none", "a.gif", "a.gif/x")
    #expect(result.files == ["b.gif", "a.gif"])
    #expect(
      result.failures == [
        "missing: No such file or directory", "c.txt: not an image; use --any to send it all the same",
        "pipe: not a regular file", "none: the directory has no images", "a.gif/x: Not a directory",
      ])
    #expect(gather(folder, "pipe", any: true).failures == ["pipe: not a regular file"])
    #expect(gather(folder, "c.txt", any: true).files == ["c.txt"])
  }

  @Test("a FIFO or a dangling link in a directory does not stop it")
  func oddEntries() throws {
    try folder.write("d/a.gif", gif)
    #expect(mkfifo(folder.path + "/d/pipe", 0o600) == 0)
    #expect(symlink("nowhere", folder.path + "/d/dangling") == 0)
    let result = gather(folder, "d", any: true)
    #expect(result.files == ["d/a.gif"])
    #expect(result.failures == ["d/dangling: No such file or directory"])
  }

  @Test("links are followed and loops end")
  func loops() throws {
    try folder.write("d/a.gif", gif)
    try folder.write("other/b.gif", gif)
    #expect(symlink("../other", folder.path + "/d/link") == 0)
    #expect(symlink("..", folder.path + "/d/up") == 0)
    #expect(symlink(".", folder.path + "/d/self") == 0)
    #expect(symlink("ring", folder.path + "/d/ring") == 0)
    let result = gather(folder, "d")
    #expect(result.files == ["d/a.gif", "d/link/b.gif"])
    #expect(result.failures == ["d/ring: Too many levels of symbolic links"])
  }

  @Test("depth, files and entries have limits that are reported")
  func limits() throws {
    for name in ["a", "b", "c"] { try folder.write("flat/\(name).gif", gif) }
    try folder.write("deep/1/2/3/a.gif", gif)
    #expect(gather(folder, "deep", limits: .init(depth: 3)).files.count == 1)
    let deep = gather(folder, "deep", "flat/a.gif", limits: .init(depth: 2))
    #expect(deep.files == ["flat/a.gif"])
    #expect(deep.failures.count == 1 && deep.failures[0].hasPrefix("deep/1/2/3: directories are nested deeper than"))
    let many = gather(folder, "flat", limits: .init(files: 2))
    #expect(many.files == ["flat/a.gif", "flat/b.gif"])
    #expect(many.failures == ["flat/c.gif: more than 10000 files"])
    #expect(gather(folder, "flat", limits: .init(entries: 5)).files.count == 3)
    #expect(
      gather(folder, "flat", limits: .init(entries: 4)).failures == ["flat: the directory has more than 200000 entries"]
    )
  }

  @Test("a name that is not UTF-8 is gathered with its bytes")
  func rawNames() throws {
    try folder.write("d/a.gif", gif)
    let name = LocalPath(bytes: Array((folder.path + "/d/b").utf8) + [0xFF])
    let descriptor = name.withCString { open($0, O_CREAT | O_WRONLY, 0o600) }
    #expect(write(descriptor, gif, gif.count) == gif.count)
    close(descriptor)
    let gathering = FileGathering([LocalPath(folder.path + "/d")], any: false)
    #expect(gathering.files.map(\.path.lastComponent.bytes) == [Array("a.gif".utf8), [0x62, 0xFF]])
    #expect(gathering.failures == [])
  }

  @Test("an unreadable file or directory says so", .enabled(if: geteuid() != 0, "root may read everything"))
  func unreadable() throws {
    try folder.write("d/a.gif", gif)
    try folder.write("secret/b.gif", gif)
    #expect(chmod(folder.path + "/d/a.gif", 0) == 0)
    #expect(chmod(folder.path + "/secret", 0) == 0)
    defer { chmod(folder.path + "/secret", 0o700) }
    #expect(gather(folder, "d", "secret").failures == ["d/a.gif: Permission denied", "secret: Permission denied"])
  }

  @Test(
    "the last component of a path",
    arguments: [("a", "a"), ("a/b", "b"), ("a/b//", "b"), ("/", "/"), ("///", "/"), ("", ""), (".", "."), ("/a", "a")])
  func lastComponent(path: String, expected: String) {
    #expect(LocalPath(path).lastComponent == LocalPath(expected))
  }
}
