import PiconetEngine
import PiconetWire

/// The invariants after each step and at the end.
extension EngineFuzz {
  func check() {
    let census = engine.census
    let limits = Self.configuration
    if census.links > limits.handshakeLimit + limits.associationLimit + 2 { broken("\(census.links) links") }
    if census.links != links.count + 1 { broken("\(census.links) links; the driver has \(links.count + 1)") }
    if census.associations > limits.associationLimit { broken("\(census.associations) associations") }
    if census.members != members.count || census.members >= limits.capacity { broken("\(census.members) members") }
    if census.sightings > limits.sightingLimit { broken("\(census.sightings) sightings") }
    if census.transfersIncoming > limits.transferLimit * max(1, census.associations) {
      broken("\(census.transfersIncoming) transfers come in")
    }
    let perLink = (256 << 10) + limits.messageWindow + 2 * limits.messageLimit
    if census.queuedBytes > perLink * census.links { broken("\(census.queuedBytes) bytes are queued") }
    let strangers = census.associations - census.members + census.links
    if census.retainedBytes > census.members * limits.memberMemory + strangers * limits.strangerMemory {
      broken("\(census.retainedBytes) bytes are held for peers")
    }
    if !members.contains(honest.node) { broken("the honest peer is no member") }
  }

  /// Ends the run. The hostile peers fall silent, everything that the honest peer has begun ends, and then everything
  /// else.
  func end() {
    for link in links.keys.sorted() { close(link, .ended) }
    settle()
    finishHonestPeer()
    guard finding == nil else { return }
    isEnding = true
    command(.shutDown)
    settle()
    wait(milliseconds: 120_000)
    for dial in dials { take(.dialFailed(dial, LinkFailure(.cancelled))) }
    settle()
    let census = engine.census
    if census.links + census.dials + census.associations + census.attempts + census.queuedBytes
      + census.transfersIncoming + census.transfersOutgoing + census.members != 0
    {
      broken("something is left: \(census)")
    }
    if !pending.isEmpty { broken("commands without a reply: \(pending.map(\.rawValue).sorted())") }
    if !isFinished { broken("it does not finish") }
    if let deadline = engine.nextDeadline { broken("it waits for \(deadline.nanoseconds)") }
  }
}
