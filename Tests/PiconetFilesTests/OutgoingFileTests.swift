import Glibc
import Testing

@testable import PiconetFiles

@Suite struct OutgoingFileTests {
  private func readAll(_ file: OutgoingFile, piece: Int) throws -> [UInt8] {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: piece)
    while true {
      let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
      if count == 0 { return result }
      result += buffer[..<count]
    }
  }

  private func append(_ bytes: [UInt8], to path: String) {
    let descriptor = open(path, O_WRONLY | O_APPEND)
    _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
  }

  @Test("a file is read byte for byte in pieces of any size, with its digest", arguments: [1, 999, 1000, 1001, 5000])
  func whole(piece: Int) throws {
    let folder = try TemporaryDirectory()
    let bytes = pattern(5000)
    let file = try OutgoingFile(path: folder.file("photo.jpg", bytes))
    #expect(file.size == 5000)
    #expect(try file.offeredName.text == "photo.jpg")
    #expect(try readAll(file, piece: piece) == bytes)
    #expect(file.position == 5000)
    #expect(try file.finish() == digest(bytes))
  }

  @Test("an empty file has no bytes and the digest of none; without hashing there is no digest")
  func empty() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.file("empty")
    let file = try OutgoingFile(path: path)
    #expect(try readAll(file, piece: 10) == [])
    #expect(try file.finish() == digest([]))
    #expect(try OutgoingFile(path: path, hashing: false).finish() == nil)
  }

  @Test(
    "the digest is the whole file's, though its end, or all of it, was never asked for",
    arguments: [0, 1, 999, 300_000]
  )
  func unread(count: Int) throws {
    let folder = try TemporaryDirectory()
    // More than one piece of what is read for the digest only.
    let bytes = pattern(600_001)
    let file = try OutgoingFile(path: folder.file("a", bytes))
    var buffer = [UInt8](repeating: 0, count: count)
    #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0) } == count)
    #expect(try file.finish() == digest(bytes))
    #expect(try file.finish() == digest(bytes))
  }

  @Test("what is skipped counts for the digest, and the next bytes are those behind it")
  func skipped() throws {
    let folder = try TemporaryDirectory()
    let bytes = pattern(600_001)
    let file = try OutgoingFile(path: folder.file("a", bytes))
    try file.skip(to: 500_000)
    try file.skip(to: 3)
    #expect(try readAll(file, piece: 4096) == Array(bytes[500_000...]))
    try file.skip(to: .max)
    #expect(try file.finish() == digest(bytes))
  }

  @Test("a file that shrinks before it was read for its digest says so")
  func shrankUnread() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.file("a", pattern(1000))
    let file = try OutgoingFile(path: path)
    truncate(path, 500)
    #expect(failureCode { _ = try file.finish() } == .shrank(offered: 1000, size: 500))
  }

  @Test("bytes are read again from an offset without a change of position or digest")
  func again() throws {
    let folder = try TemporaryDirectory()
    let bytes = pattern(1000)
    let file = try OutgoingFile(path: folder.file("a", bytes))
    var buffer = [UInt8](repeating: 0, count: 300)
    #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0) } == 300)
    #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 900) } == 100)
    #expect(Array(buffer[..<100]) == Array(bytes[900...]))
    #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 1000) } == 0)
    #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: .max) } == 0)
    #expect(file.position == 300)
    #expect(try readAll(file, piece: 64) == Array(bytes[300...]))
    #expect(try file.finish() == digest(bytes))
  }

  @Test("a file that shrinks in mid-read says so, where the bytes end")
  func shrank() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.file("a", pattern(1000))
    let file = try OutgoingFile(path: path)
    var buffer = [UInt8](repeating: 0, count: 400)
    #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0) } == 400)
    truncate(path, 500)
    #expect(failureCode { _ = try readAll(file, piece: 400) } == .shrank(offered: 1000, size: 500))
    #expect(failureCode { _ = try file.finish() } == .shrank(offered: 1000, size: 500))
  }

  @Test("a file that grows gives the offered bytes, and the end says so")
  func grew() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.file("a", pattern(1000))
    let file = try OutgoingFile(path: path)
    append([1, 2, 3], to: path)
    #expect(try readAll(file, piece: 400) == pattern(1000))
    #expect(failureCode { _ = try file.finish() } == .grew(offered: 1000, size: 1003))
  }

  @Test("a file of /proc, which has bytes and no size, is not sent as an empty one")
  func withoutSize() throws {
    let file = try OutgoingFile(path: "/proc/self/status")
    #expect(failureCode { _ = try file.finish() } == .grew(offered: 0, size: 1))
  }

  @Test("a file that is written to in place is changed")
  func changed() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.file("a", pattern(1000))
    let file = try OutgoingFile(path: path)
    #expect(utimensat(AT_FDCWD, path, [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)], 0) == 0)
    #expect(try readAll(file, piece: 400).count == 1000)
    #expect(failureCode { _ = try file.finish() } == .changed)
  }

  @Test("a file that is removed or replaced while it is sent is still the one that was opened")
  func replaced() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.file("a", pattern(1000))
    let file = try OutgoingFile(path: path)
    unlink(path)
    try folder.file("a", [1])
    #expect(try readAll(file, piece: 400) == pattern(1000))
    #expect(try file.finish() == digest(pattern(1000)))
  }

  @Test("a missing file, a dangling link and a loop of links are failures with their reason")
  func missing() throws {
    let folder = try TemporaryDirectory()
    try folder.file("file")
    symlink("none", folder.path("dangling"))
    symlink("loop", folder.path("loop"))
    for path in ["none", "dangling", "file/x"] {
      #expect(failureCode { _ = try OutgoingFile(path: folder.path(path)) } == .missing)
    }
    #expect(failureCode { _ = try OutgoingFile(path: "") } == .missing)
    #expect(failureCode { _ = try OutgoingFile(path: folder.path("loop")) } == .ioError(ELOOP))
  }

  @Test("an unreadable file is told from a missing one")
  func unreadable() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.file("secret", [1])
    chmod(path, 0)
    #expect(failureCode { try asOtherUser { _ = try OutgoingFile(path: path) } } == .unreadable)
    chmod(path, 0o600)
  }

  @Test("a FIFO, a device, a socket and a directory are named as what they are, and none is waited for")
  func special() throws {
    let folder = try TemporaryDirectory()
    mkfifo(folder.path("fifo"), 0o644)
    mknod(folder.path("socket"), S_IFSOCK | 0o644, 0)
    symlink("fifo", folder.path("link"))
    let cases: [(String, FileKind)] = [
      (folder.path("fifo"), .fifo), (folder.path("link"), .fifo), (folder.path("socket"), .socket),
      (folder.path, .directory), ("/dev/null", .characterDevice),
    ]
    for (path, kind) in cases {
      #expect(failureCode { _ = try OutgoingFile(path: path) } == .notRegular(kind))
    }
  }

  @Test("a link to a photo is followed, and offered under its own name")
  func link() throws {
    let folder = try TemporaryDirectory()
    try folder.file("IMG_1.jpg", [1, 2])
    symlink("IMG_1.jpg", folder.path("holiday.jpg"))
    let file = try OutgoingFile(path: folder.path("holiday.jpg"))
    #expect(try file.offeredName.text == "holiday.jpg")
    #expect(try readAll(file, piece: 10) == [1, 2])
  }

  @Test("a file that no receiver would take fails at the sender, which is to blame")
  func unsafeName() throws {
    let folder = try TemporaryDirectory()
    let file = try OutgoingFile(path: folder.file(".hidden"))
    #expect(throws: FileFailure(.hidden, name: Array(folder.path(".hidden").utf8), blame: .local)) {
      _ = try file.offeredName
    }
  }

  @Test("5 GiB: sizes and offsets are 64 bits wide")
  func large() throws {
    let folder = try TemporaryDirectory()
    let size = UInt64(5) << 30
    let path = try folder.file("large")
    #expect(truncate(path, off_t(size)) == 0)
    let file = try OutgoingFile(path: path, hashing: false)
    #expect(file.size == size)
    var buffer = [UInt8](repeating: 1, count: 100)
    #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: size - 60) } == 60)
    #expect(buffer[59] == 0 && buffer[60] == 1)
    #expect(try file.finish() == nil)
  }
}
