import PiconetEngine
import PiconetFiles
import PiconetWire
import Synchronization

/// What an outgoing transfer reads from, and what the offer says about it before its first byte.
protocol OfferedSource: ResourceSource {
  var name: [UInt8] { get }
  /// Bytes.
  var size: UInt64 { get }
  /// Nil if the source has no such time.
  var modified: ResourceTime? { get }
  /// Stands for this very content; empty if no later transfer can go on with it.
  var identity: [UInt8] { get }
  /// Of all bytes, once `finish` has given it.
  var sentDigest: SHA256Digest? { get }
  /// What went wrong, with the path of this machine that the remote side is not told.
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
