import PiconetWire

/// Pings that the application asks for. Each ends with a round trip, or with the reason why there is no round trip.
extension Link {
  func ping(by caller: Caller<ResultKind.RoundTrip>, _ timeout: Duration, _ turn: Turn) {
    guard !pings.isFull else {
      let detail = "\(PingTable.limit) pings to this peer are under way"
      return turn.reply(caller, .failed(Ending(.limitExceeded, .us, detail)))
    }
    guard control.count <= Self.pingLimit else {
      let detail = "the peer takes nothing, and too much waits for it"
      return turn.reply(caller, .failed(Ending(.limitExceeded, .us, detail)))
    }
    queue(.ping(pings.begin(caller, deadline: turn.now + timeout, at: turn.now)))
    turn.flush(self)
  }

  func cancelPing(_ ping: CommandID, _ turn: Turn) {
    guard let caller = pings.cancel(ping) else { return }
    turn.reply(caller, .failed(Ending(.cancelled, .us)))
  }

  func received(pong token: UInt64, _ turn: Turn) {
    guard let (caller, roundTrip) = pings.answered(token, at: turn.now) else { return }
    turn.reply(caller, .roundTrip(roundTrip))
  }

  func pingDeadlineReached(_ turn: Turn) {
    for caller in pings.expired(at: turn.now) {
      turn.reply(caller, .failed(Ending(.timedOut, .peer, "no answer to the ping")))
    }
  }

  /// Fails all pings, because the link is gone.
  func endPings(_ ending: Ending, _ turn: Turn) {
    for caller in pings.callers { turn.reply(caller, .failed(ending)) }
  }
}
