import Glibc

/// Reads a file as a whole, piece by piece.
enum FileContent {
  static let pieceByteCount = 256 << 10

  /// Returns the piece size for this many bytes. Most small files fit into one page; a full-size buffer would be new
  /// memory from the kernel each time.
  static func pieceByteCount(of count: UInt64) -> Int {
    count >= UInt64(pieceByteCount) ? pieceByteCount : max(4096, (Int(count) + 4095) / 4096 * 4096)
  }

  /// Returns the digest of the first `size` bytes; nil only if OpenSSL failed.
  static func digest(of file: FileDescriptor, size: UInt64, path: String) throws(FileFailure) -> SHA256Digest? {
    guard let hash = RunningSHA256() else { return nil }
    guard add(file, from: 0, count: size, to: hash) == size else { throw FileFailure(.ioError(EIO), path: path) }
    return hash.finish()
  }

  /// Hashes bytes of a file.
  /// - Returns: how many; fewer if the file ends before, or can't be read.
  static func add(_ file: FileDescriptor, from start: UInt64, count: UInt64, to hash: RunningSHA256) -> UInt64 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceByteCount(of: count), alignment: 4096)
    defer { buffer.deallocate() }
    var done: UInt64 = 0
    while done < count {
      let wanted = Int(min(UInt64(buffer.count), count - done))
      let outcome = FileDescriptor.retrying { pread(file.number, buffer.baseAddress, wanted, off_t(start + done)) }
      guard outcome.result > 0 else { return done }
      hash.update(UnsafeRawBufferPointer(rebasing: buffer.prefix(outcome.result)))
      done += UInt64(outcome.result)
    }
    return done
  }
}
