import Glibc
import PiconetWire
import Testing

@testable import PiconetFiles

/// Between fork and exec a child has copies of all descriptors of its parent, and flock(2) counts a copy as the lock's
/// owner. An application may start a program at any moment.
@Suite("A lock ends with its file, though a child has a copy of the descriptor") struct ForkedCopyTests {
  private let block = PartialReception.block

  /// Copies of all descriptors that this process has of a file, as a child has them.
  private func copies(of path: String) throws -> [Int32] {
    var wanted = stat()
    try #require(stat(path, &wanted) == 0)
    let numbers = try entries("/proc/self/fd").compactMap { Int32($0) }
    return numbers.compactMap { number in
      var status = stat()
      guard fstat(number, &status) == 0, status.st_ino == wanted.st_ino, status.st_dev == wanted.st_dev else {
        return nil
      }
      return fcntl(number, F_DUPFD_CLOEXEC, 0)
    }
  }

  @Test("what is kept can be gone on with at once")
  func kept() throws {
    let reception = try PartialReception()
    let file = try reception.open()
    try file.write(Array(PartialReception.whole[..<(2 * block)]))
    let copies = try copies(of: reception.part)
    try #require(!copies.isEmpty)
    defer { for number in copies { close(number) } }
    file.keep()
    #expect(try reception.finish() == UInt64(2 * block))
  }

  @Test("what a sweep has looked at can be gone on with at once")
  func sweep() throws {
    let reception = try PartialReception()
    try reception.die(after: 2 * block)
    let name = try PartialReception.key().partialName
    let copies = try #require(
      try reception.directory.whileAbandoned(name) { _ in Result { try self.copies(of: reception.part) } }?.get())
    try #require(!copies.isEmpty)
    defer { for number in copies { close(number) } }
    #expect(try reception.finish() == UInt64(2 * block))
  }
}
