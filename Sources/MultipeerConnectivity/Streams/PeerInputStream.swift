import Foundation
import Piconet

/// A stream from a peer as Foundation's `InputStream`. Reading it never needs a run loop; a delegate does.
final class PeerInputStream: InputStream {
  let state: InputState

  init(_ stream: IncomingStream) {
    state = InputState(stream)
    super.init(data: Data())
    state.events?.attach(self)
  }

  deinit { state.close() }

  override func open() { state.open() }
  override func close() { state.close() }
  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { state.read(buffer, len) }

  override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
  ) -> Bool { false }

  override var hasBytesAvailable: Bool { state.hasBytes }
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
