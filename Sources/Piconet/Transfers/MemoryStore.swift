import PiconetEngine
import PiconetFiles
import PiconetWire
import Synchronization

/// A resource that was received into memory.
public struct ReceivedData: Sendable, Hashable {
  /// The content.
  public let bytes: [UInt8]
  /// The SHA-256 of the content; the sender computed the same.
  public let digest: SHA256Digest
}

/// Memory as the store of a transfer. It grows with the bytes that arrive, never ahead of them: an offer of a large
/// size costs nothing.
final class MemoryStore: ResourceStore, @unchecked Sendable {
  // Sendable is right: bytes and hash are touched by one call of the port at a time; the result is behind the mutex.
  private var bytes: [UInt8] = []
  private let hash: RunningSHA256
  private let size: UInt64
  let stored = Mutex<ReceivedData?>(nil)

  init?(size: UInt64) {
    guard let hash = RunningSHA256() else { return nil }
    self.hash = hash
    self.size = size
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(ResourceFailure) {
    guard UInt64(self.bytes.count + bytes.count) <= size else {
      throw ResourceFailure(.sizeMismatch, "more bytes came than the \(size) that were offered")
    }
    hash.update(bytes)
    self.bytes.append(contentsOf: bytes)
  }

  func commit(size: UInt64, digest: ResourceDigest) throws(ResourceFailure) -> ResourceCommit {
    guard let sum = hash.finish(), sum.bytes == digest.bytes else {
      discard()
      throw ResourceFailure(.digestMismatch, "the content is not what was offered")
    }
    stored.withLock { $0 = ReceivedData(bytes: bytes, digest: sum) }
    bytes = []
    return .stored(name: [])
  }

  func discard() { bytes = [] }
}
