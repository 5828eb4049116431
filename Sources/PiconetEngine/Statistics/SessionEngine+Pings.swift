import PiconetWire

/// Pings that the application asks for: each ends with a round trip, or with why there is none.
extension SessionEngine {
  mutating func ping(
    _ command: CommandID, _ remote: NodeID, _ timeout: Duration, _ turn: Turn
  ) {
    guard let association = associations[remote], association.isMember else {
      return turn.reply(command, .failed(Ending(.noSuchAssociation, .us, "not connected to this peer")))
    }
    guard let link = association.activeLink else {
      return turn.reply(command, .failed(Ending(.linkFailed, .link, "no link leads to this peer now")))
    }
    guard !link.pings.isFull else {
      let detail = "\(PingTable.limit) pings to this peer are under way"
      return turn.reply(command, .failed(Ending(.limitExceeded, .us, detail)))
    }
    guard link.control.count <= Link.pingLimit else {
      return turn.reply(
        command, .failed(Ending(.limitExceeded, .us, "the peer takes nothing, and too much waits for it")))
    }
    link.queue(.ping(link.pings.begin(command, deadline: turn.now + timeout, at: turn.now)))
    turn.flush(link)
  }

  mutating func cancelPing(_ ping: CommandID, _ turn: Turn) {
    for link in links.values.filter({ $0.pings.commands.contains(ping) }).sorted(by: { $0.id < $1.id }) {
      link.pings.cancel(ping)
      turn.reply(ping, .failed(Ending(.cancelled, .us)))
    }
  }

  mutating func receivedPong(_ token: UInt64, on link: Link, _ turn: Turn) {
    probeAnswered(token, on: link, turn)
    guard let (command, roundTrip) = link.pings.answered(token, at: turn.now) else { return }
    turn.reply(command, .roundTrip(roundTrip))
  }

  mutating func pingDeadlines(_ turn: Turn) {
    let due = links.values.filter { link in link.pings.nextDeadline.map { $0 <= turn.now } ?? false }
    for link in due.sorted(by: { $0.id < $1.id }) {
      for command in link.pings.expired(at: turn.now) {
        turn.reply(command, .failed(Ending(.timedOut, .peer, "no answer to the ping")))
      }
    }
  }

  /// The link is gone, and the answers with it.
  mutating func pingsLostLink(_ link: Link, _ ending: Ending, _ turn: Turn) {
    for command in link.pings.commands { turn.reply(command, .failed(ending)) }
  }
}
