/// The file that a reader uses: the file itself, or in tests an object that counts reads.
public protocol ReadableFile: AnyObject {
  /// Bytes.
  var size: UInt64 { get }
  /// Fills the buffer from an offset; it gets fewer bytes only at the end. Returns the number of bytes.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileFailure) -> Int
  /// Throws if the file is not what it was when it was opened.
  func checkUnchanged() throws(FileFailure)
  /// The digest of the whole file, if it was read before and has not changed since.
  var knownDigest: SHA256Digest? { get }
  /// Remembers the digest of the whole file, unless the file has changed since it was opened.
  func note(_ digest: SHA256Digest)
}

extension ReadableFile {
  public var knownDigest: SHA256Digest? { nil }
  public func note(_ digest: SHA256Digest) {}
}

extension OutgoingFile: ReadableFile {
  public func checkUnchanged() throws(FileFailure) { _ = try finish() }
}

/// One file that several receivers read at their own pace. It is read from the disk once and hashed once as long as
/// they keep together.
///
/// The newest blocks, up to the window, are kept for receivers that lag behind. A receiver that falls further behind,
/// or that starts far ahead because it has the beginning already, reads separately: none waits for another, and memory
/// stays within the window. Calls block on the disk. Confined to one thread at a time.
public final class SharedFileReader {
  /// The size of a block in bytes; the disk is read in such pieces. 256 KiB.
  public static let blockByteCount = 256 << 10
  /// The number of bytes that a receiver may lag behind the first and still share its reads. 4 MiB.
  public static let usualWindow = 4 << 20

  private let file: any ReadableFile
  private let hash: RunningSHA256
  private let blockLimit: Int
  private var blocks: [UInt64: [UInt8]] = [:]
  /// Everything before this offset was read and hashed; a multiple of the block size, except at the end.
  private var front: UInt64 = 0

  /// Returns nil if OpenSSL failed.
  /// - Parameter window: in bytes; at least a block is kept.
  public init?(_ file: any ReadableFile, window: Int = SharedFileReader.usualWindow) {
    guard let hash = RunningSHA256() else { return nil }
    self.file = file
    self.hash = hash
    blockLimit = max(1, window / Self.blockByteCount)
  }

  public var size: UInt64 { file.size }

  /// The number of bytes that are kept in memory.
  public var keptByteCount: Int { blocks.values.reduce(0) { $0 + $1.count } }

  /// Fills the whole buffer. Throws `shrank` if the file ends before that, or `ioError`.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileFailure) {
    var done = 0
    while done < buffer.count {
      let position = offset + UInt64(done)
      let number = position / UInt64(Self.blockByteCount)
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      if blocks[number] == nil, isNext(number) { try readTo(number) }
      if let block = blocks[number] {
        let start = Int(position % UInt64(Self.blockByteCount))
        let count = min(rest.count, block.count - start)
        guard count > 0 else { throw FileFailure(.shrank(offered: size, size: position), path: "") }
        block.withUnsafeBytes { rest.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<(start + count)])) }
        done += count
      } else {
        try fill(rest, at: position)
        done = buffer.count
      }
    }
  }

  /// Returns the digest of the whole file. It reads the rest of the file now, unless the digest is known from before.
  /// Throws `grew`, `shrank` or `changed`; nil if OpenSSL failed. Every receiver calls this.
  public func finish() throws(FileFailure) -> SHA256Digest? {
    if front == 0, let known = file.knownDigest { return known }
    while front < size { try readTo(front / UInt64(Self.blockByteCount)) }
    try file.checkUnchanged()
    let digest = hash.finish()
    if let digest { file.note(digest) }
    return digest
  }

  /// Returns whether to read on up to this block for all receivers: the window would still reach back to the present
  /// front.
  private func isNext(_ number: UInt64) -> Bool {
    let next = front / UInt64(Self.blockByteCount)
    return front < size && number >= next && number < next + UInt64(blockLimit)
  }

  private func readTo(_ number: UInt64) throws(FileFailure) {
    while front < size, front / UInt64(Self.blockByteCount) <= number {
      let count = Int(min(UInt64(Self.blockByteCount), size - front))
      var failure: FileFailure?
      let block = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        do throws(FileFailure) {
          try fill(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]), at: front)
          filled = count
        } catch {
          failure = error
          filled = 0
        }
      }
      if let failure { throw failure }
      block.withUnsafeBytes { hash.update($0) }
      let place = front / UInt64(Self.blockByteCount)
      blocks[place] = block
      if place >= UInt64(blockLimit) { blocks[place - UInt64(blockLimit)] = nil }
      front += UInt64(count)
    }
  }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileFailure) {
    let count = try file.read(into: buffer, at: offset)
    guard count == buffer.count else {
      throw FileFailure(.shrank(offered: size, size: offset + UInt64(count)), path: "")
    }
  }
}

@available(*, unavailable, message: "A reader is used by one thread at a time.")
extension SharedFileReader: Sendable {}
