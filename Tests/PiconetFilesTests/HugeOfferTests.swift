import Glibc
import Testing

@testable import PiconetFiles

/// Sizes are what a peer states, free space is what a file system states: no sum of them stops the receiver.
@Suite("Offers larger than any disk") struct HugeOfferTests {
  /// The largest size that the wire can state is 2^62 - 1; a receiver does not rely on that either.
  private let huge = UInt64(1) << 62

  /// A directory whose file system has these blocks, and can't set space aside.
  private func directory(_ folder: TemporaryDirectory, _ space: FileSystemCalls.Space?) throws -> IncomingDirectory {
    var calls = FileSystemCalls()
    calls.space = { _ in space }
    calls.allot = { _, _ in EOPNOTSUPP }
    return try IncomingDirectory(path: folder.path, settings: .test(), calls: calls)
  }

  private func file(_ directory: IncomingDirectory, _ size: UInt64) throws -> IncomingFile {
    try IncomingFile(in: directory, name: try name("a"), offeredSize: size, policy: .rename)
  }

  @Test(
    "where the file system names no blocks, offers that add up to more than 64 bits are open at once, and give all back",
    arguments: [true, false])
  func noBlocks(fails: Bool) throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let none = FileSystemCalls.Space(blockCount: 0, availableCount: 0, blockByteCount: 4096)
    let directory = try directory(folder, fails ? nil : none)
    #expect(directory.freeSpace == nil)
    var files = try (0..<7).map { _ in try file(directory, huge) }
    #expect(directory.promisedByteCount == .max)
    // Four of the seven give theirs back: what is left fits, and is the sum of the other three.
    files.removeFirst(4)
    #expect(directory.promisedByteCount == 3 * huge)
    for file in files { file.discard() }
    #expect(directory.promisedByteCount == 0)
  }

  @Test("free space beyond 64 bits is as much as can be said, not what is left of the product")
  func hugeDisk() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    // 2^64 bytes in 2^52 blocks: a product of 64 bits would be 0.
    let disk = FileSystemCalls.Space(blockCount: 1 << 52, availableCount: 1 << 52, blockByteCount: 1 << 12)
    let directory = try directory(folder, disk)
    #expect(directory.freeSpace == .max)
    let files = try (0..<3).map { _ in try file(directory, huge) }
    #expect(failureCode { _ = try file(directory, huge) } == .diskFull(needed: huge, free: huge - 1))
    for file in files { file.discard() }
    #expect(directory.promisedByteCount == 0)
  }

  @Test("a size and a reserve that add up to more than 64 bits are more than what is free")
  func reserve() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    var settings = IncomingDirectory.Settings.test()
    settings.spaceReserve = .max
    let directory = try IncomingDirectory(path: folder.path, settings: settings)
    guard case .diskFull(needed: .max, _)? = failureCode({ _ = try file(directory, huge) }) else {
      Issue.record("it was let in")
      return
    }
  }
}
