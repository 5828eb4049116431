import PiconetEngine
import PiconetFiles
import PiconetWire
import Synchronization

/// Bytes in memory as the source of a transfer. They are shared, not copied.
final class DataSource: OfferedSource, @unchecked Sendable {
  // Sendable is right: the hash is touched by the disk thread only; the rest is constant or behind the mutex.
  private let bytes: ArraySlice<UInt8>
  private let hash: ReadingHash
  let name: [UInt8]
  let modified: ResourceTime? = nil
  let identity: [UInt8] = []
  let sourceFailure: FileFailure? = nil
  private let digest = Mutex<SHA256Digest?>(nil)

  init?(_ bytes: ArraySlice<UInt8>, name: [UInt8]) {
    guard let hash = ReadingHash() else { return nil }
    self.bytes = bytes
    self.name = name
    self.hash = hash
  }

  var size: UInt64 { UInt64(bytes.count) }
  var sentDigest: SHA256Digest? { digest.withLock { $0 } }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(ResourceFailure) {
    guard offset + UInt64(buffer.count) <= size else { throw ResourceFailure(.internalError, "a read beyond the end") }
    bytes.withUnsafeBytes { bytes in
      hash.take(bytes, at: 0, upTo: offset)
      let part = UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<(Int(offset) + buffer.count)])
      buffer.copyMemory(from: part)
      hash.take(part, at: offset)
    }
  }

  func finish() throws(ResourceFailure) -> ResourceDigest {
    bytes.withUnsafeBytes { hash.take($0, at: 0) }
    guard let sum = hash.finish(), let told = ResourceDigest(sha256: sum.bytes) else {
      throw ResourceFailure(.internalError, "no SHA-256")
    }
    digest.withLock { $0 = sum }
    return told
  }
}

/// The hash of bytes that are read in order; after a lost link some of them are read twice. Confined to one thread.
final class ReadingHash {
  private let hash: RunningSHA256
  /// Everything before this offset has been hashed.
  private(set) var position: UInt64 = 0

  init?() {
    guard let hash = RunningSHA256() else { return nil }
    self.hash = hash
  }

  /// Hashes the new ones of these bytes, up to `end`. They must not begin beyond the position.
  func take(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, upTo end: UInt64 = .max) {
    let end = min(end, offset + UInt64(bytes.count))
    guard offset <= position, end > position else { return }
    hash.update(UnsafeRawBufferPointer(rebasing: bytes[Int(position - offset)..<Int(end - offset)]))
    position = end
  }

  func finish() -> SHA256Digest? { hash.finish() }
}
