/// An association without a link: both sides keep it, and look for another way, until the disconnect timeout.
struct Suspension: Sendable {
  /// What took the last link away.
  let cause: Ending
  /// When the remote side was last heard. The disconnect timeout counts from here, so the silence that killed the link
  /// is part of it and neither side waits twice. Later, if this process has not run for a while.
  var lastHeard: Instant
  let since: Instant
}
