import PiconetWire

/// Why a source or a store failed, in the words that the remote side is given.
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
  /// Fills the whole buffer with the bytes at `offset`. Offsets grow without gaps, from the accepted one on, unless the
  /// link breaks: then they begin again at what the remote side has stored.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(ResourceFailure)
  /// Called before `finish` until it returns true: reads a part of what the digest still needs and was not asked for,
  /// so that others get at the disk in between.
  func readOn() throws(ResourceFailure) -> Bool
  /// All offered bytes were read: checks that the source is still what was offered. Some may be read again afterwards.
  func finish() throws(ResourceFailure) -> ResourceDigest
  /// Stands for what it reads. That may be on a disk that hangs, and then holds up no other source: calls of sources
  /// with one and the same lane come one at a time. nil: it is called on the disk thread.
  var lane: (any AnyObject & Sendable)? { get }
  /// Whether bytes may still be on their way from elsewhere: then `whenReadable` is asked before each `read`, and
  /// `close` at the end.
  var arrives: Bool { get }
  /// Any thread. Calls back, on any thread and in the order of the calls, once the bytes before `offset` can be read
  /// without waiting for more than a disk, or never will be, as `read` then says.
  func whenReadable(upTo offset: UInt64, _ proceed: @escaping @Sendable () -> Void)
  /// On the disk thread, once nothing is read any more.
  func close()
}

extension ResourceSource {
  /// Nothing is missing.
  public func readOn() throws(ResourceFailure) -> Bool { true }
  public var lane: (any AnyObject & Sendable)? { nil }
  /// All bytes are there.
  public var arrives: Bool { false }
  public func whenReadable(upTo offset: UInt64, _ proceed: @escaping @Sendable () -> Void) { proceed() }
  public func close() {}
}

/// What has become of a resource whose bytes are all there.
public enum ResourceCommit: Sendable, Hashable {
  /// It is stored under this name.
  case stored(name: [UInt8])
  /// The same content was there already, under this name; nothing was stored.
  case present(name: [UInt8])
  /// What was taken for it is something else: the store has begun again, and has `offset` bytes. At most once, and only
  /// if it had claimed to have everything.
  case restarted(offset: UInt64)
}

/// The port of what an incoming transfer is written to. One call at a time, on the disk thread; `commit`, and a
/// `discard` or `keep` that comes during it, run on one of several threads, alongside the commits of other stores.
public protocol ResourceStore: AnyObject, Sendable {
  func write(_ bytes: UnsafeRawBufferPointer) throws(ResourceFailure)
  /// Verifies the resource, makes it durable and gives it its final name.
  func commit(size: UInt64, digest: ResourceDigest) throws(ResourceFailure) -> ResourceCommit
  /// Throws away what was written. Nothing is called afterwards.
  func discard()
  /// The transfer was lost with its association: keeps what was written for the same offer, or throws it away. Nothing
  /// is called afterwards.
  func keep()
}

extension ResourceStore {
  /// A store that can't go on later keeps nothing.
  public func keep() { discard() }
}
