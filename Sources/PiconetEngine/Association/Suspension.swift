/// An association without a link. Both sides keep it and look for another link until the disconnect timeout.
struct Suspension: Sendable {
  /// What ended the last link.
  let cause: Ending
  /// When the remote side was last heard. The disconnect timeout counts from here: the silence that ended the link is
  /// part of it, so neither side waits twice. The time is moved forward if this process has not run for a while.
  var lastHeard: Instant
  let since: Instant
}
