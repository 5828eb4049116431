import PiconetEngine
import PiconetRuntime

/// The functions of an event loop that discovery needs. All calls and all handlers are on the loop's thread.
public protocol DatagramLoop: AnyObject {
  var now: Instant { get }
  /// Tells `handler`, which is held weakly, whenever the descriptor can be read (level-triggered), until the
  /// registration is cancelled. The loop does not close the descriptor; its owner cancels first, and then closes it.
  /// - Throws: why the loop can't watch it.
  func watch(
    _ descriptor: Int32, for handler: any DescriptorHandler
  ) throws(LinkFailure) -> any DatagramLoopRegistration
  /// Calls `fire` once, at `deadline` or as soon after as possible, never from within this call.
  func setTimer(at deadline: Instant, _ fire: @escaping () -> Void) -> any DatagramLoopRegistration
}

public protocol DatagramLoopRegistration: AnyObject {
  /// Idempotent. The handler is not called afterwards.
  func cancel()
}

extension EventLoop: DatagramLoop {
  public func watch(
    _ descriptor: Int32, for handler: any DescriptorHandler
  ) throws(LinkFailure) -> any DatagramLoopRegistration {
    do throws(SystemError) {
      return try watch(descriptor, for: .read, handler: handler)
    } catch {
      throw LinkFailure(.other, "\(error)")
    }
  }

  public func setTimer(at deadline: Instant, _ fire: @escaping () -> Void) -> any DatagramLoopRegistration {
    let timer = LoopTimer(loop: self, handler: fire)
    timer.set(deadline)
    return timer
  }
}

extension DescriptorWatch: DatagramLoopRegistration {}

extension LoopTimer: DatagramLoopRegistration {
  public func cancel() { set(nil) }
}
