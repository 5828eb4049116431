import Glibc

/// The verified part of a partial file, and its hash.
struct VerifiedPrefix {
  /// A multiple of the block size.
  let byteCount: UInt64
  let hash: RunningSHA256

  /// Reads the partial file block by block as far as the journal's digests agree with it. This takes as long as reading
  /// and hashing that part.
  init?(of file: FileDescriptor, journal: BlockJournal, size: UInt64) {
    guard var hash = RunningSHA256(), let status = file.status() else { return nil }
    let there = min(UInt64(clamping: status.st_size), size)
    let block = BlockJournal.blockByteCount
    var verified: UInt64 = 0
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FileContent.pieceByteCount, alignment: 4096)
    defer { buffer.deallocate() }
    while there - verified >= block, let expected = journal.digest(of: Int(verified / block)) {
      // A wrong block must leave no trace in the hash.
      guard let next = hash.copy(),
        Self.read(file, from: verified, count: block, buffer, into: next), next.digestSoFar == expected
      else { break }
      hash = next
      verified += block
    }
    byteCount = verified
    self.hash = hash
  }

  private static func read(
    _ file: FileDescriptor, from start: UInt64, count: UInt64, _ buffer: UnsafeMutableRawBufferPointer,
    into hash: RunningSHA256
  ) -> Bool {
    var offset = start
    while offset < start + count {
      let wanted = Int(min(UInt64(buffer.count), start + count - offset))
      let outcome = FileDescriptor.retrying { pread(file.number, buffer.baseAddress, wanted, off_t(offset)) }
      guard outcome.result > 0 else { return false }
      hash.update(UnsafeRawBufferPointer(rebasing: buffer.prefix(outcome.result)))
      offset += UInt64(outcome.result)
    }
    return true
  }
}
