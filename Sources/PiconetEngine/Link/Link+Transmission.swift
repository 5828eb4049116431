import PiconetWire

/// What goes over a link: how much at once, and in which order.
extension Link {
  func queue(_ frame: Frame) {
    association?.count(sent: frame)
    FrameEncoder.append(frame, to: &control)
  }

  func answer(ping token: UInt64, _ turn: Turn) {
    queue(.pong(token))
    turn.flush(self)
  }

  /// Frames what waits, as far as there is room.
  func transmit(_ turn: Turn) {
    if let association { return association.transmit(on: self, turn) }
    if transmitWindow > outstanding { handOverControl(turn) }
  }

  /// Hands over all control frames, whatever the window says.
  func handOverControl(_ turn: Turn) {
    guard !control.isEmpty else { return }
    var bytes: [UInt8] = []
    takeControl(into: &bytes)
    hand(over: bytes[...], turn)
  }

  /// Ends the link in good order, after what waits.
  func close(_ reason: Reason, _ detail: String, _ turn: Turn) {
    // Whoever has not read what it was sent does not get all that waits on top of it.
    if outstanding + control.count > transmitWindow + controlLimit { control = [] }
    queue(.close(reason, detail: detail))
    handOverControl(turn)
    turn.add(.closeLink(id, flush: true))
  }

  /// Hands whole frames to the driver.
  func hand(over frames: Bytes, _ turn: Turn) {
    outstanding += frames.count
    spoke(turn.now)
    turn.add(.transmit(id, frames))
  }

  func takeControl(into bytes: inout [UInt8]) {
    guard !control.isEmpty else { return }
    if bytes.isEmpty {
      swap(&bytes, &control)
    } else {
      bytes += control
      control = []
    }
  }

  /// The kernel has taken so many bytes.
  func transmitted(_ count: Int, _ turn: Turn) {
    outstanding = max(0, outstanding - count)
    association?.count(sentBytes: count)
    if waitsForRoom { turn.flush(self) }
  }

  func paced(_ pace: BulkPace, _ turn: Turn) {
    bulkPace = pace
    if waitsForRoom { turn.flush(self) }
  }

  /// Whether a flush could find something to frame. If nothing waits, more room is no reason for one.
  private var waitsForRoom: Bool {
    if !control.isEmpty || unreliableCount > 0 { return true }
    return association.map { !$0.waiting.isEmpty } ?? false
  }

  // MARK: Windows

  /// The most bytes that may be with the driver and not yet with the kernel; a single longer frame may exceed it.
  var transmitWindow: Int {
    // A peer that is not a member gets little ahead of what it reads.
    association?.isMember == true ? largestWindow : min(KeepingLimits.strangerControl, largestWindow)
  }

  /// The same for bulk, which goes after everything else: no more than the path carries without a noticeable delay.
  var bulkWindow: Int { min(transmitWindow, bulkPace?.room ?? .max) }
}
