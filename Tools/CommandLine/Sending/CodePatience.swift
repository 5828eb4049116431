/// The time limit for a sender that waits for pauses in which a receiver takes no code, because wrong ones came before.
/// Pure: the elapsed time is an argument.
struct CodePatience: Sendable {
  /// For all pauses, and what is tried between them.
  let limit: Duration

  /// The receiver's figure is cut to milliseconds, and a sender that comes too early is refused again.
  static let margin = Duration.milliseconds(50)
  /// A receiver that names no time at all is not asked without a pause.
  static let shortest = Duration.milliseconds(200)

  /// - Parameters:
  ///   - pause: what is left of the pause, as the receiver says.
  ///   - elapsed: since the first attempt began.
  /// - Returns: for how long to wait before the next attempt; nil: that would be too late.
  func wait(for pause: Duration, after elapsed: Duration) -> Duration? {
    let wait = max(pause + Self.margin, Self.shortest)
    return wait < limit - elapsed ? wait : nil
  }
}
