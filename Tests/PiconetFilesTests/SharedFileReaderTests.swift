import PiconetEngine
import Testing

@testable import PiconetFiles

/// A file in memory that counts what is read of it.
final class CountedFile: ReadableFile {
  var bytes: [UInt8]
  let size: UInt64
  private(set) var readByteCount = 0
  var isChanged = false

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    size = UInt64(bytes.count)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileFailure) -> Int {
    let count = min(buffer.count, bytes.count - Int(offset))
    guard count > 0 else { return 0 }
    bytes.withUnsafeBytes { bytes in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<(Int(offset) + count)]))
    }
    readByteCount += count
    return count
  }

  func checkUnchanged() throws(FileFailure) {
    if isChanged { throw FileFailure(.changed, path: "") }
  }
}

@Suite("One file for many receivers") struct SharedFileReaderTests {
  static let content = pattern(3 << 20 | 12_345)
  static let block = SharedFileReader.blockByteCount

  /// A receiver that reads in pieces of its own.
  private final class Receiver {
    var received: [UInt8] = []
    var offset: Int
    let piece: Int

    init(from offset: Int = 0, piece: Int) {
      self.offset = offset
      self.piece = piece
    }

    /// - Returns: false at the end.
    func step(_ reader: SharedFileReader) throws -> Bool {
      let count = min(piece, Int(reader.size) - offset)
      guard count > 0 else { return false }
      var buffer = [UInt8](repeating: 0, count: count)
      // withUnsafeMutableBytes rethrows without the error's type.
      let result = buffer.withUnsafeMutableBytes { buffer in
        Result { () throws(FileFailure) in try reader.read(into: buffer, at: UInt64(offset)) }
      }
      try result.get()
      received += buffer
      offset += count
      return true
    }
  }

  @Test("receivers that keep together cost one reading, however many and in whatever pieces", arguments: [1, 2, 8])
  func together(count: Int) throws {
    let file = CountedFile(Self.content)
    let reader = try #require(SharedFileReader(file))
    let receivers = (0..<count).map { Receiver(piece: 16_000 + 111 * $0) }
    while try receivers.map({ try $0.step(reader) }).contains(true) {}
    for receiver in receivers {
      #expect(receiver.received == Self.content)
      #expect(try reader.finish() == digest(Self.content))
    }
    #expect(file.readByteCount == Self.content.count)
  }

  @Test("a slow one within the window costs nothing; the fast one is done before it has begun")
  func slowWithinWindow() throws {
    let file = CountedFile(Self.content)
    let reader = try #require(SharedFileReader(file, window: 4 << 20))
    let (fast, slow) = (Receiver(piece: 16_000), Receiver(piece: 16_000))
    while try fast.step(reader) {}
    #expect(try reader.finish() == digest(Self.content))
    while try slow.step(reader) {}
    #expect(slow.received == Self.content && fast.received == Self.content)
    #expect(file.readByteCount == Self.content.count)
  }

  @Test("a receiver stalled beyond the window reads for itself, holds up no other, and memory stays within the window")
  func slowBeyondWindow() throws {
    let file = CountedFile(Self.content)
    let window = 2 * Self.block
    let reader = try #require(SharedFileReader(file, window: window))
    let (fast, other, slow) = (Receiver(piece: 16_000), Receiver(piece: 16_000), Receiver(piece: 16_000))
    _ = try slow.step(reader)
    while try fast.step(reader) {
      _ = try other.step(reader)
      #expect(reader.keptByteCount <= window)
    }
    while try other.step(reader) {}
    #expect(file.readByteCount == Self.content.count)
    while try slow.step(reader) {}
    for receiver in [fast, other, slow] { #expect(receiver.received == Self.content) }
    #expect(file.readByteCount <= 2 * Self.content.count)
    #expect(file.readByteCount > Self.content.count)
  }

  @Test("one that begins far ahead reads for itself, and the digest is that of the whole")
  func ahead() throws {
    let file = CountedFile(Self.content)
    let reader = try #require(SharedFileReader(file, window: Self.block))
    let start = 2 << 20
    let resumed = Receiver(from: start, piece: 16_000)
    while try resumed.step(reader) {}
    #expect(resumed.received == Array(Self.content[start...]))
    #expect(try reader.finish() == digest(Self.content))
  }

  @Test("whatever the pace, each gets every byte", arguments: 0..<12 as Range<UInt64>)
  func anyPace(seed: UInt64) throws {
    var dice = SeededRandom(seed: seed)
    let reader = try #require(
      SharedFileReader(CountedFile(Self.content), window: Int.random(in: 0...6, using: &dice) * Self.block))
    let receivers = (0..<4).map { _ in
      Receiver(
        from: Bool.random(using: &dice) ? 0 : Int.random(in: 0...Self.content.count, using: &dice),
        piece: Int.random(in: 1_000...400_000, using: &dice))
    }
    let starts = receivers.map(\.offset)
    var running = receivers
    while let next = running.randomElement(using: &dice) {
      if try !next.step(reader) { running.removeAll { $0 === next } }
    }
    for (receiver, start) in zip(receivers, starts) { #expect(receiver.received == Array(Self.content[start...])) }
    #expect(try reader.finish() == digest(Self.content))
  }

  @Test("an empty file, and one that shrinks or changes meanwhile")
  func troubles() throws {
    let empty = try #require(SharedFileReader(CountedFile([])))
    #expect(try empty.finish() == digest([]))
    let file = CountedFile(Self.content)
    let reader = try #require(SharedFileReader(file))
    let receiver = Receiver(piece: 16_000)
    _ = try receiver.step(reader)
    file.bytes.removeLast(3 << 20)
    let code = failureCode { while try receiver.step(reader) {} }
    guard case .shrank? = code else {
      Issue.record("\(String(describing: code))")
      return
    }
    let other = CountedFile([1])
    other.isChanged = true
    #expect(failureCode { _ = try SharedFileReader(other)?.finish() } == .changed)
  }
}
