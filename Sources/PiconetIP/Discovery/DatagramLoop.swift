import PiconetEngine

/// What discovery asks of an event loop. All calls and all handlers are on the loop's thread.
public protocol DatagramLoop: AnyObject {
  var now: Instant { get }
  /// Calls `readable` whenever the descriptor can be read (level-triggered), until the registration is cancelled. The
  /// loop does not close the descriptor; its owner cancels first, and then closes it.
  /// - Throws: why the loop can't watch it.
  func watch(_ descriptor: Int32, _ readable: @escaping () -> Void) throws(LinkFailure) -> any DatagramLoopRegistration
  /// Calls `fire` once, at `deadline` or as soon after as possible, never from within this call.
  func setTimer(at deadline: Instant, _ fire: @escaping () -> Void) -> any DatagramLoopRegistration
}

public protocol DatagramLoopRegistration: AnyObject {
  /// Idempotent. The handler is not called afterwards.
  func cancel()
}
