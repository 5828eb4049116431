import PiconetEngine
import PiconetFiles
import PiconetWire
import Synchronization

/// The source of an outgoing transfer, with the properties that the offer states before its first byte.
protocol OfferedSource: ResourceSource {
  var name: [UInt8] { get }
  /// Bytes.
  var size: UInt64 { get }
  /// The time of the last change; nil if the source has no such time.
  var modified: ResourceTime? { get }
  /// Identifies this very content; empty if no later transfer can resume it.
  var identity: [UInt8] { get }
  /// The digest of all bytes, once `finish` has returned it.
  var sentDigest: SHA256Digest? { get }
  /// What went wrong, with the path on this machine, which the remote side is not told.
  var sourceFailure: FileFailure? { get }
  /// Since when a call has been reading; nil while none is.
  var readingSince: ContinuousClock.Instant? { get }
}

extension OfferedSource {
  var readingSince: ContinuousClock.Instant? { nil }
}

/// Since when a call that may block has been at work.
final class BlockingCall: Sendable {
  private let begun = Mutex<ContinuousClock.Instant?>(nil)

  var since: ContinuousClock.Instant? { begun.withLock { $0 } }

  func run<Value, Failure: Error>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
    begun.withLock { $0 = .now }
    defer { begun.withLock { $0 = nil } }
    return try work()
  }
}
