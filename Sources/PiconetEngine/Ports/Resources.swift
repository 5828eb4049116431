import PiconetWire

/// The failure of a source or a store, in the words that the remote side is given.
public struct ResourceFailure: Error, Sendable, Hashable, CustomStringConvertible {
  public var reason: Reason
  public var detail: String

  public init(_ reason: Reason, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }

  public var description: String { detail.isEmpty ? "\(reason)" : "\(reason): \(detail)" }
}

/// The port of what an outgoing transfer reads from. Called on the disk thread, or on one of several if it has a lane;
/// one call at a time; released when the transfer ends.
public protocol ResourceSource: AnyObject, Sendable {
  /// Fills the whole buffer with the bytes at `offset`. Offsets grow without gaps, from the accepted one on. If the
  /// link breaks, they begin again at the offset that the remote side has stored.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(ResourceFailure)
  /// Reads a part of the bytes that the digest still needs and that were not requested. Called before `finish` until it
  /// returns true, so that other transfers get at the disk in between.
  func readOn() throws(ResourceFailure) -> Bool
  /// Checks that the source is still what was offered, after all offered bytes were read. Some may be read again
  /// afterwards.
  func finish() throws(ResourceFailure) -> ResourceDigest
  /// Stands for what it reads. That may be on a disk that hangs, and then holds up no other source: calls of sources
  /// with one and the same lane come one at a time. nil: it is called on the disk thread.
  var lane: (any AnyObject & Sendable)? { get }
  /// Whether bytes may still be on their way from elsewhere: then `whenReadable` is asked before each `read`, and
  /// `close` at the end.
  var arrives: Bool { get }
  /// Calls back once the bytes before `offset` can be read without waiting for more than a disk. Also calls back if
  /// they never can be; `read` then fails. It may be called on any thread, and calls back on any thread, in the order
  /// of the calls.
  func whenReadable(upTo offset: UInt64, _ proceed: @escaping @Sendable () -> Void)
  /// Closes the source. Called on the disk thread, once nothing is read any more.
  func close()
}

extension ResourceSource {
  /// Returns true: nothing is missing.
  public func readOn() throws(ResourceFailure) -> Bool { true }
  public var lane: (any AnyObject & Sendable)? { nil }
  /// All bytes are there.
  public var arrives: Bool { false }
  public func whenReadable(upTo offset: UInt64, _ proceed: @escaping @Sendable () -> Void) { proceed() }
  public func close() {}
}

/// The outcome for a resource whose bytes are all there.
public enum ResourceCommit: Sendable, Hashable {
  /// It is stored under this name.
  case stored(name: [UInt8])
  /// The same content was there already, under this name. Nothing was stored.
  case present(name: [UInt8])
  /// The content that was taken for it is something else. The store has begun again, and has `offset` bytes. This
  /// happens at most once, and only if the store had claimed to have everything.
  case restarted(offset: UInt64)
}

/// The port of an incoming transfer's store. It is called on the disk thread, one call at a time. `commit`, and a
/// `discard` or `keep` that comes during it, run on one of several threads, alongside the commits of other stores.
public protocol ResourceStore: AnyObject, Sendable {
  func write(_ bytes: UnsafeRawBufferPointer) throws(ResourceFailure)
  /// Verifies the resource, makes it durable and gives it its final name.
  func commit(size: UInt64, digest: ResourceDigest) throws(ResourceFailure) -> ResourceCommit
  /// Discards the written bytes. Nothing is called afterwards.
  func discard()
  /// Keeps the written bytes for the same offer, or discards them, since the transfer was lost with its association.
  /// Nothing is called afterwards.
  func keep()
}

extension ResourceStore {
  /// Discards everything, for stores that can't continue later.
  public func keep() { discard() }
}
