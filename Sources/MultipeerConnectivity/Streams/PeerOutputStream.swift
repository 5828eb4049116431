import Foundation
import Piconet

/// A stream to a peer as Foundation's `OutputStream`. Writing never needs a run loop; a delegate does.
final class PeerOutputStream: OutputStream {
  let state: OutputState

  init(named name: String, to member: Member) {
    state = OutputState(named: name, to: member)
    super.init(toMemory: ())
    state.events?.attach(self)
  }

  /// Required by the superclass. Such a stream leads nowhere, and none is made.
  required init(toMemory: ()) { preconditionFailure("a stream to a peer is made by MCSession.startStream") }

  deinit { state.close() }

  override func open() { state.open() }
  override func close() { state.close() }
  override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int { state.write(buffer, len) }
  override var hasSpaceAvailable: Bool { state.hasSpace }
  override var streamStatus: Stream.Status { state.currentStatus }
  override var streamError: (any Error)? { state.currentError }

  override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
    state.events?.schedule(in: aRunLoop, mode)
  }

  override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
    state.events?.remove(from: aRunLoop, mode)
  }

  override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
  override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
