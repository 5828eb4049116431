import PiconetEngine
import PiconetFiles
import PiconetWire
import Synchronization

/// A file as the source of a transfer.
final class FileSource: OfferedSource, @unchecked Sendable {
  // Sendable is right: after `init`, the file is touched in its lane only; what others see is constant or behind the
  // mutex.
  private let file: OutgoingFile
  let size: UInt64
  let name: [UInt8]
  let modified: ResourceTime?
  let identity: [UInt8]
  /// What went wrong, with the path on this machine, which the remote side is not told.
  let failure = Mutex<FileFailure?>(nil)
  let digest = Mutex<SHA256Digest?>(nil)
  private let call = BlockingCall()
  /// Called in the lane with how many bytes were read for the digest alone.
  let hashed = Mutex<(@Sendable (UInt64) -> Void)?>(nil)
  /// The number of bytes hashed before other transfers get a turn at the disk.
  static let hashedAtOnce: UInt64 = 32 << 20

  /// - Parameters:
  ///   - name: the name to offer it under; nil: its own name.
  ///   - identity: the name of its content; nil: derived from what the file system says.
  init(path: String, name: String?, identity: [UInt8]? = nil) throws(FileFailure) {
    file = try OutgoingFile(path: path)
    size = file.size
    self.name = if let name { Array(name.utf8) } else { Array(try file.offeredName.text.utf8) }
    modified = file.modificationTime.told
    self.identity = identity ?? file.contentIdentity
  }

  var sentDigest: SHA256Digest? { digest.withLock { $0 } }
  var sourceFailure: FileFailure? { failure.withLock { $0 } }
  var lane: (any AnyObject & Sendable)? { self }
  var readingSince: ContinuousClock.Instant? { call.since }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(ResourceFailure) {
    try call.run { () throws(ResourceFailure) in try readPart(into: buffer, at: offset) }
  }

  private func readPart(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(ResourceFailure) {
    do throws(FileFailure) {
      // Bytes that the receiver already has are still read: they are part of the digest.
      while try !file.skip(to: offset, atMost: Self.hashedAtOnce) { tellHashed() }
      // Bytes that were lost with a link are read again, but not hashed again.
      let again = Int(min(file.position - offset, UInt64(buffer.count)))
      if again > 0 {
        try fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<again]), offset) { part throws(FileFailure) in
          try file.read(into: part, at: offset)
        }
      }
      if again < buffer.count {
        try fill(UnsafeMutableRawBufferPointer(rebasing: buffer[again...]), file.position) { part throws(FileFailure) in
          try file.read(into: part)
        }
      }
    } catch {
      failure.withLock { $0 = error }
      throw error.told
    }
  }

  private func fill(
    _ buffer: UnsafeMutableRawBufferPointer, _ offset: UInt64,
    _ read: (UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int
  ) throws(FileFailure) {
    let count = try read(buffer)
    guard count == buffer.count else {
      throw FileFailure(.shrank(offered: size, size: offset + UInt64(count)), path: file.path)
    }
  }

  func readOn() throws(ResourceFailure) -> Bool {
    do throws(FileFailure) {
      let isDone = try call.run { () throws(FileFailure) in try file.skip(to: size, atMost: Self.hashedAtOnce) }
      if !isDone { tellHashed() }
      return isDone
    } catch {
      failure.withLock { $0 = error }
      throw error.told
    }
  }

  private func tellHashed() { hashed.withLock { $0 }?(file.position) }

  func finish() throws(ResourceFailure) -> ResourceDigest {
    do throws(FileFailure) {
      let sum = try call.run { () throws(FileFailure) in try file.finish() }
      guard let sum, let told = ResourceDigest(sha256: sum.bytes) else {
        throw FileFailure(.changed, path: file.path)
      }
      digest.withLock { $0 = sum }
      return told
    } catch {
      failure.withLock { $0 = error }
      throw error.told
    }
  }
}

extension ModificationTime {
  /// The time as an offer carries it.
  var told: ResourceTime? { ResourceTime(seconds: seconds, nanoseconds: nanoseconds) }

  init?(_ told: ResourceTime) { self.init(seconds: told.seconds, nanoseconds: told.nanoseconds) }
}
