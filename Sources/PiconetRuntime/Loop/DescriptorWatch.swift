/// One descriptor that a loop watches. Confined to the loop, like everything that it calls.
///
/// The owner of the descriptor cancels the watch before it closes the descriptor.
public final class DescriptorWatch {
  public let descriptor: Int32
  /// The present interest.
  public var interest: Readiness { wanted }
  private var wanted: Readiness
  weak var handler: (any DescriptorHandler)?
  private unowned let loop: EventLoop
  /// The interest that the kernel was last told.
  var applied: Readiness
  var isChanged = false
  /// Its place in the loop's table; nil when cancelled.
  var token: WatchToken?

  init(descriptor: Int32, interest: Readiness, handler: any DescriptorHandler, loop: EventLoop) {
    self.descriptor = descriptor
    wanted = interest
    self.handler = handler
    self.loop = loop
    applied = interest
  }

  /// Changes the interest. It applies at once to events of this round that have not been delivered yet; the kernel is
  /// told once, before the loop sleeps.
  public func setInterest(_ interest: Readiness) {
    guard token != nil, interest != wanted else { return }
    wanted = interest
    if !isChanged {
      isChanged = true
      loop.noteChanged(self)
    }
  }

  /// Ends the watch: the handler is not called any more, not even for events already fetched. Idempotent.
  public func cancel() {
    guard token != nil else { return }
    loop.remove(self)
  }
}
