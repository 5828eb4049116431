import Glibc
import PiconetWire
import Synchronization
import Testing

@testable import PiconetFiles

/// File systems that answer some calls as network shares, cloud mounts and FUSE file systems do.
@Suite("Disks that can't do everything") struct SharesTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory(inMemory: true) }

  private func directory(unnamed: Bool = true, _ calls: FileSystemCalls) throws -> IncomingDirectory {
    try IncomingDirectory(path: folder.path, settings: .test(unnamed: unnamed), calls: calls)
  }

  @Test(
    "what the disk says at close(2) is heard before the file has its name", arguments: [true, false],
    [EDQUOT, EIO, ENOSPC])
  func failingClose(unnamed: Bool, number: Int32) throws {
    var calls = FileSystemCalls()
    calls.flush = { _ in number }
    let directory = try directory(unnamed: unnamed, calls)
    let code = failureCode { _ = try receive("a.jpg", pattern(3_000), in: directory) }
    switch number {
    case EDQUOT: #expect(code == .quotaExceeded)
    case ENOSPC: if case .diskFull = code {} else { Issue.record("\(String(describing: code))") }
    default: #expect(code == .ioError(number))
    }
    #expect(try entries(folder.path).isEmpty)
  }

  @Test("the disk is asked once for each file that is stored, while it is still open")
  func asked() throws {
    let asked = Mutex(0)
    var calls = FileSystemCalls()
    let real = calls
    calls.flush = { file in
      asked.withLock { $0 += 1 }
      return real.flush(file)
    }
    let directory = try directory(calls)
    for number in 0..<3 { _ = try receive("\(number).jpg", pattern(3_000), in: directory) }
    #expect(asked.withLock { $0 } == 3)
    #expect(try content(folder.path("2.jpg")) == pattern(3_000))
  }

  @Test("closing a copy leaves the file open and locked")
  func copy() throws {
    let file = FileDescriptor(open(try folder.file("a", [1, 2]), O_RDWR | O_CLOEXEC))
    #expect(file.lock() == 0)
    #expect(FileSystemCalls().flush(file.number) == 0)
    let other = FileDescriptor(open(folder.path("a"), O_RDWR | O_CLOEXEC))
    #expect(other.lock() == EWOULDBLOCK && file.status()?.st_size == 2)
    #expect(FileSystemCalls().flush(-1) == EBADF)
  }

  @Test("a disk that can't synchronize still takes files", arguments: [EINVAL, ENOSYS, EOPNOTSUPP, ENOTTY])
  func unsynchronized(number: Int32) throws {
    var calls = FileSystemCalls()
    calls.synchronizeContent = { _ in number }
    calls.synchronizeEntries = { _ in number }
    let directory = try directory(calls)
    guard case .stored = try receive("a.jpg", pattern(3_000), in: directory) else {
      Issue.record("not stored")
      return
    }
    calls.synchronizeContent = { _ in EIO }
    let broken = try self.directory(calls)
    #expect(failureCode { _ = try receive("b.jpg", pattern(10), in: broken) } == .ioError(EIO))
  }

  @Test("a disk that sets no sizes takes large files, too", arguments: [EPERM, EOPNOTSUPP, ENOSYS])
  func noSizes(number: Int32) throws {
    var calls = FileSystemCalls()
    calls.resize = { _, _ in number }
    calls.allot = { _, _ in number }
    let directory = try directory(unnamed: false, calls)
    let bytes = pattern(Int(BlockJournal.blockByteCount) + 500_000)
    let peer = try #require(PeerID(bytes: [UInt8](repeating: 7, count: PeerID.byteCount)))
    let key = try #require(ResumptionKey(sender: peer, isKnown: true, identity: [1], size: UInt64(bytes.count)))
    let file = try IncomingFile(
      in: directory, name: try name("a.jpg"), offeredSize: UInt64(bytes.count), policy: .rename, resuming: key)
    try file.write(bytes)
    guard case .stored = try file.commit(expectedDigest: digest(bytes)) else {
      Issue.record("not stored")
      return
    }
    #expect(try content(folder.path("a.jpg")) == bytes)
  }

  @Test("where no mode can be changed, a file has the rights of any new file", arguments: [EPERM, EOPNOTSUPP])
  func fixedModes(number: Int32) throws {
    var calls = FileSystemCalls()
    calls.setMode = { _, _ in number }
    let directory = try directory(unnamed: false, calls)
    _ = try receive("a.jpg", pattern(3_000), in: directory)
    let model = FileDescriptor(open(folder.path("model"), O_CREAT | O_WRONLY | O_CLOEXEC, 0o666))
    #expect(try status(folder.path("a.jpg")).st_mode == #require(model.status()).st_mode)
    #expect(try entries(folder.path).sorted() == ["a.jpg", "model"])
  }
}
