/// One descriptor that a loop watches. Confined to the loop, like everything that it calls.
///
/// The owner of the descriptor cancels the watch before it closes the descriptor.
public final class DescriptorWatch {
  public let descriptor: Int32
  /// What is wanted now.
  public var interest: Readiness { wanted }
  private var wanted: Readiness
  weak var handler: (any DescriptorHandler)?
  private unowned let loop: EventLoop
  /// What the kernel was told last.
  var applied: Readiness
  var isChanged = false
  /// Where it stands in the loop's table; nil when cancelled.
  var token: WatchToken?

  init(descriptor: Int32, interest: Readiness, handler: any DescriptorHandler, loop: EventLoop) {
    self.descriptor = descriptor
    wanted = interest
    self.handler = handler
    self.loop = loop
    applied = interest
  }

  /// Changes what is wanted. It holds at once for events of this round that were not delivered yet; the kernel is told
  /// once, before the loop sleeps.
  public func setInterest(_ interest: Readiness) {
    guard token != nil, interest != wanted else { return }
    wanted = interest
    if !isChanged {
      isChanged = true
      loop.noteChanged(self)
    }
  }

  /// Ends the watch: the handler is not called any more, not even for events that are already there. Idempotent.
  public func cancel() {
    guard token != nil else { return }
    loop.remove(self)
  }
}
