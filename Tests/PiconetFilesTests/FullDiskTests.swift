import Glibc
import Testing

@testable import PiconetFiles

@Suite(.enabled("needs root, to mount a small tmpfs in a namespace of its own") { SmallDisk.isAvailable })
struct FullDiskTests {
  @Test("a file that does not fit is refused before a byte is written", arguments: [true, false])
  func before(unnamed: Bool) throws {
    let (code, left) = try SmallDisk.run { path in
      let directory = try IncomingDirectory(path: path, settings: .test(unnamed: unnamed))
      let code = failureCode {
        _ = try IncomingFile(in: directory, name: name("a"), offeredSize: 65_537, policy: .rename)
      }
      return (code, try entries(path))
    }
    #expect(code == .diskFull(needed: 65_537, free: SmallDisk.byteCount))
    #expect(left == [])
  }

  @Test("the reserve stays free")
  func reserve() throws {
    let code = try SmallDisk.run { path in
      var settings = IncomingDirectory.Settings.test()
      settings.spaceReserve = 16 << 10
      let directory = try IncomingDirectory(path: path, settings: settings)
      try receive("fits", pattern(48 << 10), in: directory)
      return failureCode { try receive("a", [1], in: directory) }
    }
    #expect(code == .diskFull(needed: (16 << 10) + 1, free: 16 << 10))
  }

  @Test("space promised to one file is not promised to a second one, until the first one ends")
  func promised() throws {
    let (codes, stored) = try SmallDisk.run { path in
      let directory = try IncomingDirectory(path: path, settings: .test())
      func file(_ text: String) throws -> IncomingFile {
        try IncomingFile(in: directory, name: name(text), offeredSize: 40 << 10, policy: .rename)
      }
      var codes: [FileFailure.Code?] = []
      let bytes = pattern(40 << 10)
      let discarded = try file("discarded")
      codes.append(failureCode { _ = try file("b") })
      discarded.discard()
      let failed = try file("failed")
      codes.append(failureCode { try failed.write(pattern(41 << 10)) })
      let forgotten: IncomingFile? = try file("forgotten")
      try forgotten?.write(Array(bytes.prefix(8 << 10)))
      codes.append(failureCode { _ = try file("b") })
      _ = consume forgotten
      let first = try file("a")
      try first.write(bytes)
      let stored = try first.commit(expectedDigest: digest(bytes)).stored
      codes.append(failureCode { _ = try file("b") })
      return (codes, stored)
    }
    let full = FileFailure.Code.diskFull(needed: 40 << 10, free: 24 << 10)
    #expect(codes == [full, .tooManyBytes(offered: 40 << 10), full, full])
    #expect(stored?.size == 40 << 10)
  }

  @Test("a disk that fills up in mid-file ends the file and frees what it took", arguments: [true, false])
  func middle(unnamed: Bool) throws {
    let (code, again, names, free) = try SmallDisk.run { path in
      let directory = try IncomingDirectory(path: path, settings: .test(unnamed: unnamed))
      let file = try IncomingFile(in: directory, name: name("a"), offeredSize: 60 << 10, policy: .rename)
      try file.write(pattern(20 << 10))
      let filler = open(path + "/filler", O_CREAT | O_WRONLY, 0o600)
      _ = pattern(32 << 10).withUnsafeBytes { write(filler, $0.baseAddress, $0.count) }
      close(filler)
      let code = failureCode { try file.write(pattern(40 << 10)) }
      let again = failureCode { _ = try file.commit(expectedDigest: digest([])) }
      return (code, again, try entries(path), directory.freeSpace)
    }
    guard case .diskFull(let needed, let freeThen) = code else {
      Issue.record("\(String(describing: code))")
      return
    }
    #expect(needed == 28 << 10 && freeThen == 0)
    #expect(again == code)
    #expect(names == ["filler"])
    #expect(free == 32 << 10)
  }

  @Test("a file system that can hold no more files is not called full of bytes")
  func noRoomForFiles() throws {
    let (code, again) = try SmallDisk.run(options: "size=64k,nr_inodes=4") { path in
      let directory = try IncomingDirectory(path: path, settings: .test(unnamed: false))
      var files: [IncomingFile] = []
      let code = failureCode {
        for number in 0..<4 {
          files.append(
            try IncomingFile(in: directory, name: name("\(number)"), offeredSize: 10, policy: .rename))
        }
      }
      // If no byte is free either, the failure says that.
      return (code, directory.failure(errno: ENOSPC, name: "a", needed: 1 << 20).code)
    }
    #expect(code == .noRoomForFiles(free: SmallDisk.byteCount), "\(String(describing: code))")
    #expect(again == .diskFull(needed: 1 << 20, free: SmallDisk.byteCount))
    #expect(code?.explanation == "the disk can hold no more files: its inodes are used up, although 66 kB are free")
  }

  @Test("a read-only file system is refused at the start")
  func readOnly() throws {
    let code = try SmallDisk.run(readOnly: true) { path in failureCode { _ = try IncomingDirectory(path: path) } }
    #expect(code == .readOnly)
  }
}
