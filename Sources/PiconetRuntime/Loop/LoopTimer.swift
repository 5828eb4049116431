import PiconetEngine

/// One timer of a loop: at most one deadline, which may be moved or cleared at any time. Confined to the loop.
///
/// While it has a deadline the loop holds it: capture the owner weakly in the handler, or clear the deadline.
public final class LoopTimer {
  private unowned let loop: EventLoop
  let handler: () -> Void
  /// When it fires; nil while it is off.
  public internal(set) var deadline: Instant?
  /// Its place in the heap.
  var heapIndex = 0

  /// - Parameter handler: called on the loop, never before the deadline, once per deadline.
  public init(loop: EventLoop, handler: @escaping () -> Void) {
    self.loop = loop
    self.handler = handler
  }

  /// Sets, moves or (nil) clears the deadline. One in the past fires in the loop's next round. Timers with the same
  /// deadline fire in the order in which they were set.
  public func set(_ deadline: Instant?) {
    if deadline == self.deadline { return }
    loop.setTimer(self, deadline)
  }

  /// Sets, moves or clears a deadline of `EventLoop.awakeTime`. After a gap it fires too early by that time, and its
  /// handler sets it again.
  public func set(awake deadline: Instant?) { set(deadline.map(loop.clock(atAwake:))) }

  /// Sets the deadline this far from now.
  public func set(after duration: Duration) { set(loop.now + duration) }
}
