import PiconetWire

/// Why a source or a store failed, in the words that the far side is told.
public struct ResourceFailure: Error, Sendable, Hashable, CustomStringConvertible {
  public var reason: Reason
  public var detail: String

  public init(_ reason: Reason, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }

  public var description: String { detail.isEmpty ? "\(reason)" : "\(reason): \(detail)" }
}

/// The port of what an outgoing transfer reads from. Called on the disk thread, one call at a time; released when the transfer
/// ends.
public protocol ResourceSource: AnyObject, Sendable {
  /// Fills the whole buffer with the bytes at `offset`. Offsets grow without gaps, from the accepted one on.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(ResourceFailure)
  /// All offered bytes were read: checks that the source is still what was offered.
  func finish() throws(ResourceFailure) -> ResourceDigest
}

/// The port of what an incoming transfer is written to. Called on the disk thread, one call at a time.
public protocol ResourceStore: AnyObject, Sendable {
  func write(_ bytes: UnsafeRawBufferPointer) throws(ResourceFailure)
  /// Verifies, makes durable, gives the final name, which it returns.
  func commit(size: UInt64, digest: ResourceDigest) throws(ResourceFailure) -> [UInt8]
  /// Throws away what was written. Nothing is called afterwards.
  func discard()
}
