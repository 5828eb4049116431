import Glibc

/// Reads a file as a whole, piece by piece.
enum FileContent {
  static let pieceByteCount = 256 << 10

  /// The digest of the first `size` bytes; nil only if OpenSSL failed.
  static func digest(of file: FileDescriptor, size: UInt64, path: String) throws(FileFailure) -> SHA256Digest? {
    guard let hash = RunningSHA256() else { return nil }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceByteCount, alignment: 4096)
    defer { buffer.deallocate() }
    var offset: UInt64 = 0
    while offset < size {
      let wanted = Int(min(UInt64(buffer.count), size - offset))
      let count = FileDescriptor.retrying { pread(file.number, buffer.baseAddress, wanted, off_t(offset)) }
      guard count.result > 0 else { throw FileFailure(.ioError(count.result == 0 ? EIO : count.errno), path: path) }
      hash.update(UnsafeRawBufferPointer(rebasing: buffer.prefix(count.result)))
      offset += UInt64(count.result)
    }
    return hash.finish()
  }
}
