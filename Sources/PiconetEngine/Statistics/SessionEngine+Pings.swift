import PiconetWire

/// Pings that the application asks for: each ends with a round trip, or with why there is none.
extension SessionEngine {
  mutating func ping(
    _ command: CommandID, _ far: NodeID, _ timeout: Duration, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let association = associations[far], association.isMember else {
      return reply(command, .failed(Ending(.noSuchAssociation, .us, "not connected to this peer")), &effects)
    }
    guard let link = links[association.link], link.association === association else {
      return reply(command, .failed(Ending(.linkFailed, .link, "no link leads to this peer now")), &effects)
    }
    guard !link.pings.isFull else {
      let detail = "\(PingTable.limit) pings to this peer are under way"
      return reply(command, .failed(Ending(.limitExceeded, .us, detail)), &effects)
    }
    guard link.control.count <= Link.pingLimit else {
      return reply(
        command, .failed(Ending(.limitExceeded, .us, "the peer takes nothing, and too much waits for it")), &effects)
    }
    link.queue(.ping(link.pings.begin(command, deadline: now + timeout, at: now)))
    dirty.insert(link.id)
    timesChanged = true
  }

  mutating func cancelPing(_ ping: CommandID, _ effects: inout [Effect]) {
    for link in links.values.filter({ $0.pings.commands.contains(ping) }).map(\.id).sorted() {
      links[link]?.pings.cancel(ping)
      timesChanged = true
      reply(ping, .failed(Ending(.cancelled, .us)), &effects)
    }
  }

  mutating func pongCame(_ token: UInt64, on link: Link, _ now: Instant, _ effects: inout [Effect]) {
    probeAnswered(token, on: link, now, &effects)
    guard let (command, roundTrip) = link.pings.answered(token, at: now) else { return }
    timesChanged = true
    reply(command, .roundTrip(roundTrip), &effects)
  }

  mutating func pingDeadlines(_ now: Instant, _ effects: inout [Effect]) {
    let due = links.values.filter { link in link.pings.deadline.map { $0 <= now } ?? false }
    for id in due.map(\.id).sorted() {
      for command in links[id]?.pings.expired(at: now) ?? [] {
        reply(command, .failed(Ending(.timedOut, .peer, "no answer to the ping")), &effects)
      }
    }
  }

  /// The link is gone, and the answers with it.
  mutating func pingsLostLink(_ link: Link, _ ending: Ending, _ effects: inout [Effect]) {
    for command in link.pings.commands { reply(command, .failed(ending), &effects) }
  }
}
