import CPiconetSystem
import Glibc

/// The file beside a partial one that says how much of it is known to be right: the SHA-256 of everything up to the end
/// of each whole block, written after the block's own bytes.
///
/// 64 bytes of header (magic, block size, size of the whole file, both big-endian, key), 32 bytes that say how long the
/// file has been waiting (`KeptAge`; zeros while it is written to), then 32 bytes per block.
///
/// Nothing in it is trusted: a digest counts only if the partial file's bytes have it. A journal that is torn, damaged
/// or forged costs at worst that bytes are sent again. Without a journal the transfer still goes on. Confined to one
/// thread.
package final class BlockJournal {
  /// Bytes per block; a resumed transfer continues at a multiple of it. 1 MiB.
  package static let blockByteCount: UInt64 = 1 << 20
  static let headerByteCount = ageOffset + KeptAge.byteCount
  private static let ageOffset = 64
  private static let magic = Array("piconet journal2".utf8)

  private let descriptor: FileDescriptor
  private let header: [UInt8]
  /// The number of its digests that count.
  private(set) var count = 0

  /// Opens the journal of a partial file, or begins one; nil if that is not possible.
  init?(of name: PartialFileName, key: ResumptionKey, in directory: IncomingDirectory) {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(directory.descriptor.number, name.journal, flags, 0o600) }
    guard opened.result >= 0 else { return nil }
    descriptor = FileDescriptor(opened.result)
    var header = Self.magic
    for number in [Self.blockByteCount, key.size] {
      for shift in stride(from: UInt64(56), through: 0, by: -8) {
        header.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    header += key.digest.bytes
    self.header = header
    guard let status = descriptor.status(), directory.isOwnRegularFile(status) else { return nil }
    if read(at: 0, count: header.count) != header, !begin() { return nil }
    // From here on the file no longer waits.
    guard write([UInt8](repeating: 0, count: KeptAge.byteCount), at: Self.ageOffset) else { return nil }
  }

  /// Opens the journal of a dead owner, to examine it; nil if no journal with at least one digest exists.
  init?(existing name: PartialFileName, in directory: IncomingDirectory) {
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(directory.descriptor.number, name.journal, flags) }
    guard opened.result >= 0 else { return nil }
    descriptor = FileDescriptor(opened.result)
    header = []
    guard let status = descriptor.status(), directory.isOwnRegularFile(status),
      read(at: 0, count: Self.magic.count) == Self.magic, digest(of: 0) != nil
    else { return nil }
  }

  /// Whether it still has its name. A transfer that has stored the same content meanwhile removes it.
  var isThere: Bool { (descriptor.status()?.st_nlink ?? 0) > 0 }

  /// How long the file has been waiting; nil if no receiver has looked yet.
  var age: KeptAge? { read(at: Self.ageOffset, count: KeptAge.byteCount).flatMap { KeptAge(bytes: $0) } }

  /// Notes an age. If that can't be written, the file merely stays longer.
  func note(_ age: KeptAge) { _ = write(age.bytes, at: Self.ageOffset) }

  /// Returns the digest of all bytes up to the end of a block; nil beyond the last whole entry.
  func digest(of block: Int) -> SHA256Digest? {
    read(at: Self.place(of: block), count: SHA256Digest.byteCount).flatMap { SHA256Digest(bytes: $0) }
  }

  /// The number of digests.
  var entryCount: Int {
    guard let status = descriptor.status() else { return 0 }
    return max(0, Int(status.st_size) - Self.headerByteCount) / SHA256Digest.byteCount
  }

  /// The size of the whole file in bytes, as the header says; nil if that can't be read.
  var fileSize: UInt64? {
    read(at: Self.magic.count + 8, count: 8)?.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns whether both are the same file.
  func isSame(as other: BlockJournal) -> Bool {
    guard let own = descriptor.status(), let others = other.descriptor.status() else { return true }
    return own.st_ino == others.st_ino && own.st_dev == others.st_dev
  }

  /// Forgets all entries but the first `count`: their blocks will be written again.
  /// - Returns: false if the file can't be cut.
  func keep(_ count: Int) -> Bool {
    self.count = count
    return ftruncate(descriptor.number, off_t(Self.place(of: count))) == 0
  }

  /// Adds the digest of the next block.
  /// - Returns: false if it can't be written.
  func append(_ digest: SHA256Digest) -> Bool {
    guard write(digest.bytes, at: Self.place(of: count)) else { return false }
    count += 1
    return true
  }

  private func begin() -> Bool { ftruncate(descriptor.number, 0) == 0 && write(header, at: 0) }

  private static func place(of block: Int) -> Int { headerByteCount + block * SHA256Digest.byteCount }

  private func write(_ bytes: [UInt8], at offset: Int) -> Bool {
    bytes.withUnsafeBytes { bytes in
      FileDescriptor.retrying { pwrite(descriptor.number, bytes.baseAddress, bytes.count, off_t(offset)) }.result
        == bytes.count
    }
  }

  private func read(at offset: Int, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeMutableBytes { buffer in
      FileDescriptor.retrying { pread(descriptor.number, buffer.baseAddress, count, off_t(offset)) }.result
    }
    return result == count ? bytes : nil
  }
}
