/// How long the files on their way to one peer have not moved. A value: its owner supplies the time.
struct DeliveryPatience: Sendable {
  /// After this long without movement the peer is given up.
  let limit: Duration
  private var waiting: WaitingTime
  /// How long the receiver's disk may go on with nothing moved.
  private var storing = StoringTime()
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

  mutating func moved(at now: ContinuousClock.Instant) {
    waiting.restart(at: now)
    storing = StoringTime(isTold: storing.isTold)
  }

  /// The receiver says that its disk is still at work: it gets its time anew, but not for ever.
  /// - Returns: whether the person is told now.
  mutating func stores(at now: ContinuousClock.Instant) -> Bool {
    guard storing.goesOn(at: now) else { return false }
    waiting.restart(at: now)
    return storing.takeNote()
  }

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
      storing.isOver
      ? "its disk was at work for \(HumanFigures.seconds(StoringTime.limit)), and nothing came of it"
      : finishing > 0
        ? "it has all the bytes, and did not say for \(HumanFigures.seconds(limit)) that they are stored"
        : "nothing moved for too long"
    return TransferFailure(word: "timed-out", message: message, exitCode: .linkLost, endsConnection: true)
  }
}

/// How long the receiver's disk has been at work since something moved. A slow stick takes most of a minute to write
/// what the kernel has buffered; a disk that hangs never ends.
private struct StoringTime: Sendable {
  static let limit = Duration.seconds(300)
  /// After this long the person is told.
  private static let quiet = Duration.seconds(2)

  /// When the last sign came.
  private var last: ContinuousClock.Instant?
  /// Signs come twice a second while the receiver is there: a pause counts as no more than this.
  private static let longestPause = Duration.seconds(2)
  private var atWork = Duration.zero
  private(set) var isTold: Bool

  init(isTold: Bool = false) { self.isTold = isTold }

  var isOver: Bool { atWork >= Self.limit }

  /// - Returns: whether that is still no reason to give up.
  mutating func goesOn(at now: ContinuousClock.Instant) -> Bool {
    if let last { atWork += min(now - last, Self.longestPause) }
    last = now
    return !isOver
  }

  /// - Returns: whether the person is told, once for each peer.
  mutating func takeNote() -> Bool {
    guard !isTold, atWork >= Self.quiet else { return false }
    isTold = true
    return true
  }
}
