/// How long the files on their way to one peer have not moved. A value: its owner supplies the time.
struct DeliveryPatience: Sendable {
  /// After this long without movement the peer is given up.
  let limit: Duration
  private var waiting: WaitingTime
  /// Files whose bytes have all arrived, but that the receiver has not reported as stored.
  private var finishing = 0
  /// Files that this side is not ready to offer: something is taken out of them, or a person is asked.
  private var preparing = 0

  init(limit: Duration, at now: ContinuousClock.Instant) {
    self.limit = limit
    waiting = WaitingTime(limit, at: now)
  }

  /// When it is over if nothing moves before.
  var end: ContinuousClock.Instant { waiting.end }

  mutating func moved(at now: ContinuousClock.Instant) { waiting.restart(at: now) }

  /// All bytes of a file have arrived.
  mutating func beganFinishing() { finishing += 1 }

  /// The file has its outcome.
  mutating func finished() { finishing -= 1 }

  /// The peer waits for this side.
  mutating func beganPreparing() { preparing += 1 }

  mutating func endedPreparing(at now: ContinuousClock.Instant) {
    preparing -= 1
    waiting.restart(at: now)
  }

  /// Why the peer is given up now; nil as long as it is not. To be asked at `end`: a question that comes far later
  /// tells that this process did not run, and the peer gets its time anew. Writing a file to a slow disk may take a
  /// while, but a receiver that says nothing for this long may never do so.
  mutating func failure(at now: ContinuousClock.Instant) -> TransferFailure? {
    guard waiting.isOver(at: now) else { return nil }
    if preparing > 0 {
      waiting.restart(at: now)
      return nil
    }
    let message =
      finishing > 0
      ? "it has all the bytes, and did not say for \(HumanFigures.seconds(limit)) that they are stored"
      : "nothing moved for too long"
    return TransferFailure(word: "timed-out", message: message, exitCode: .linkLost, endsConnection: true)
  }
}
