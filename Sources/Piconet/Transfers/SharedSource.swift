import PiconetEngine
import PiconetFiles
import PiconetWire
import Synchronization

/// A file for several members: opened once, and read once for those that keep together.
final class SharedFile: @unchecked Sendable {
  // Sendable is right: after `init`, the reader is touched in the lane of the file only; the rest is constant.
  let call = BlockingCall()
  let reader: SharedFileReader
  let path: String
  let name: [UInt8]
  let modified: ResourceTime?
  let identity: [UInt8]
  let size: UInt64

  /// - Parameters: see `FileSource`.
  init(path: String, name: String?, identity: [UInt8]? = nil) throws(FileFailure) {
    let file = try OutgoingFile(path: path, hashing: false)
    guard let reader = SharedFileReader(file) else { throw FileFailure(.unreadable, path: path) }
    self.reader = reader
    self.path = path
    self.name = if let name { Array(name.utf8) } else { Array(try file.offeredName.text.utf8) }
    modified = file.modificationTime.told
    self.identity = identity ?? file.contentIdentity
    size = file.size
  }
}

/// One receiver's share of a shared file.
final class SharedSource: OfferedSource {
  private let file: SharedFile
  private let failure = Mutex<FileFailure?>(nil)
  private let digest = Mutex<SHA256Digest?>(nil)

  init(_ file: SharedFile) { self.file = file }

  var name: [UInt8] { file.name }
  var size: UInt64 { file.size }
  var modified: ResourceTime? { file.modified }
  var identity: [UInt8] { file.identity }
  var sentDigest: SHA256Digest? { digest.withLock { $0 } }
  var sourceFailure: FileFailure? { failure.withLock { $0 } }
  var lane: (any AnyObject & Sendable)? { file }
  var readingSince: ContinuousClock.Instant? { file.call.since }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(ResourceFailure) {
    do throws(FileFailure) {
      try file.call.run { () throws(FileFailure) in try file.reader.read(into: buffer, at: offset) }
    } catch {
      throw noted(error)
    }
  }

  func finish() throws(ResourceFailure) -> ResourceDigest {
    do throws(FileFailure) {
      let sum = try file.call.run { () throws(FileFailure) in try file.reader.finish() }
      guard let sum, let told = ResourceDigest(sha256: sum.bytes) else {
        throw FileFailure(.changed, path: file.path)
      }
      digest.withLock { $0 = sum }
      return told
    } catch {
      throw noted(error)
    }
  }

  private func noted(_ error: FileFailure) -> ResourceFailure {
    let error = error.path.isEmpty ? FileFailure(error.code, path: file.path, blame: error.blame) : error
    failure.withLock { $0 = error }
    return error.told
  }
}
