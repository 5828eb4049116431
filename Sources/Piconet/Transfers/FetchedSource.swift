import PiconetEngine
import PiconetFiles
import PiconetHTTP
import PiconetWire
import Synchronization

/// A fetch for several receivers, which ends with the last of them.
final class SharedFetch: Sendable {
  let fetch: HTTPFetch
  private let receivers: Mutex<Int>
  private let ended: @Sendable () -> Void

  /// - Parameters:
  ///   - receivers: the number of receivers; each leaves once.
  ///   - ended: called once the fetch is closed.
  init(_ fetch: HTTPFetch, receivers: Int, ended: @escaping @Sendable () -> Void) {
    self.fetch = fetch
    self.receivers = Mutex(receivers)
    self.ended = ended
  }

  /// Notes that one of the receivers needs nothing more. Call it on a thread that may wait for the fetching one.
  func leave() {
    let isLast = receivers.withLock { count in
      count -= 1
      return count == 0
    }
    guard isLast else { return }
    fetch.close()
    ended()
  }
}

/// A URL as the source of a transfer: bytes that have arrived are passed on while the rest arrives.
final class FetchedSource: OfferedSource, @unchecked Sendable {
  // Sendable is right: the hash is touched by the disk thread only; the rest is constant or behind mutexes.
  private let shared: SharedFetch
  private let hash: ReadingHash
  let name: [UInt8]
  let size: UInt64
  let modified: ResourceTime? = nil
  let identity: [UInt8] = []
  let sourceFailure: FileFailure? = nil
  let arrives = true
  private let digest = Mutex<SHA256Digest?>(nil)
  private let isOpen = Mutex(true)
  private var fetch: HTTPFetch { shared.fetch }

  /// Returns nil if OpenSSL failed.
  init?(_ shared: SharedFetch, name: [UInt8], size: UInt64) {
    guard let hash = ReadingHash() else { return nil }
    self.shared = shared
    self.hash = hash
    self.name = name
    self.size = size
  }

  var sentDigest: SHA256Digest? { digest.withLock { $0 } }

  func whenReadable(upTo offset: UInt64, _ proceed: @escaping @Sendable () -> Void) {
    fetch.whenAvailable(upTo: offset, for: self, proceed)
  }

  func close() {
    let isFirst = isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
    if isFirst { shared.leave() }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(ResourceFailure) {
    do throws(HTTPFailure) {
      try fetch.read(into: buffer, at: offset)
    } catch {
      throw ResourceFailure(.sourceUnreadable, error.description)
    }
    hash.take(UnsafeRawBufferPointer(buffer), at: offset)
  }

  func finish() throws(ResourceFailure) -> ResourceDigest {
    // All offered bytes have been read; more would make it another resource.
    switch fetch.end {
    case .failure(let failure)?: throw ResourceFailure(.sourceUnreadable, failure.description)
    case .success(let count)? where count != size: throw ResourceFailure(.sourceChanged, "\(count) bytes came")
    case .success?, nil: break
    }
    guard hash.position == size else {
      throw ResourceFailure(.internalError, "\(hash.position) of \(size) bytes were read in order")
    }
    guard let sum = hash.finish(), let told = ResourceDigest(sha256: sum.bytes) else {
      throw ResourceFailure(.internalError, "no SHA-256")
    }
    digest.withLock { $0 = sum }
    return told
  }
}

extension HTTPFailure {
  /// The failure in words for this node's own user.
  func piconetError(peer: NodeID?) -> PiconetError {
    let code: PiconetError.Code =
      switch self.code {
      case .invalidURL: .invalidArgument
      case .tooLarge: .tooLarge
      case .timedOut: .timedOut
      case .unreachable: .unreachable
      case .cancelled: .cancelled
      case .noLibrary: .internalError
      case .status, .tooManyRedirects, .forbiddenRedirect, .certificate, .cutOff, .spool, .other: .sourceUnreadable
      }
    return PiconetError(code, peer: peer, blame: .us, detail: description, underlying: self)
  }
}
