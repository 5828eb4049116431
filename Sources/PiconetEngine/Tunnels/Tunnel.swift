import PiconetWire

/// One end of a tunnel, or one half of it at a relay: bytes both ways between us and one member.
final class Tunnel {
  /// What this side of the tunnel is connected to.
  enum End: Equatable {
    /// Our own link.
    case own(TunnelID, to: NodeID)
    /// The other half, at a relay.
    case relayed(TunnelPlace)
  }

  enum Phase: Equatable {
    /// Requested by either side, and not answered.
    case asked
    case open
    /// We close it once the queued bytes have been sent.
    case closing(Ending)
    /// Our `closeTunnel` is sent. Data that still comes is dropped.
    case closed
  }

  let number: UInt64
  /// Whether this side has chosen its number.
  let isOurs: Bool
  private(set) var end: End?
  private(set) var phase = Phase.asked
  /// The number of relays between us and the member when the tunnel was opened. A tunnel never continues over more.
  let relaysBelow: Int

  private var queue = ByteQueue()
  /// Bytes after those of `queue`, until there are enough for a piece.
  private var tail: [UInt8] = []
  private(set) var sent: UInt64 = 0
  private(set) var limit = WireLimits.tunnelWindow
  /// Bytes that the other side has passed on, or read.
  private(set) var acknowledged: UInt64 = 0
  private(set) var received: UInt64 = 0
  private(set) var consumed: UInt64 = 0
  private(set) var granted = WireLimits.tunnelWindow
  private var consumedTold: UInt64 = 0
  /// Whether it is in the queue of tunnels with something to send.
  private(set) var isQueued = false
  /// Bytes that it has sent in its turn, including those that it had sent too many before.
  private var sentInTurn = 0

  /// How many bytes the other side may send ahead.
  private var window = Tunnel.largestWindow

  /// Bytes that one side may send ahead. With so many, the ends and the relay, each on its own processor, seldom wait
  /// for one another. And a flush carries as much as one without a relay.
  static let largestWindow: UInt64 = 512 << 10
  private static let pieceCount = 16 << 10
  /// Bytes of our own link that may wait here.
  static let writeLimit = 256 << 10
  /// Bytes of the engine that may be on their way to a link over a tunnel.
  static let transmitWindow = 256 << 10

  init(number: UInt64, isOurs: Bool, end: End?, relaysBelow: Int) {
    self.number = number
    self.isOurs = isOurs
    self.end = end
    self.relaysBelow = relaysBelow
  }

  var queuedCount: Int { queue.count + tail.count }

  /// Connects this side of the tunnel.
  func lead(to end: End) { self.end = end }

  /// Limits how much the other side may send ahead from now on, except for what it was allowed before.
  func bound(window: Int) { self.window = UInt64(window) }

  func open() { if phase == .asked { phase = .open } }

  var isClosed: Bool { phase == .closed }
  private var isClosing: Bool { if case .closing = phase { true } else { false } }
  /// Whether the other side is told how much has been passed on.
  var givesCredit: Bool { phase == .open || isClosing }
  /// Whether the other side may send more ahead than at first, and has not been told.
  var hasUntoldWindow: Bool { phase == .open && consumed == 0 && granted < window }
  /// Whether credit was given, and may have been lost with the link.
  var hasGranted: Bool { consumed > 0 || granted > WireLimits.tunnelWindow }
  /// Whether more has been passed on than the other side was told.
  var hasUnreported: Bool { consumed > consumedTold }
  /// Whether it is half of a tunnel between two other nodes.
  var isRelayed: Bool { if case .relayed = end { true } else { false } }

  /// Whether bytes may be written: the tunnel is open, or may yet open.
  var takesBytes: Bool { phase == .open || phase == .asked }

  /// Notes that it enters or leaves the queue of tunnels with something to send.
  func setQueued(_ isQueued: Bool) {
    self.isQueued = isQueued
    sentInTurn = 0
  }

  /// Whether it has sent all that it may in its turn. Turns are counted in bytes and not in frames, some of which are
  /// short, because a link may take little at a time. A frame that is too long for a turn takes several.
  var hasHadTurn: Bool { sentInTurn >= Self.turnCount }

  /// Ends its turn.
  func endTurn() { sentInTurn = max(0, sentInTurn - Self.turnCount) }

  private static let turnCount = 2 << 10

  /// Whether something can be sent now.
  var hasSomething: Bool {
    switch phase {
    case .open: queuedCount > 0 && sent < limit
    case .closing: queuedCount == 0 || sent < limit
    case .asked, .closed: false
    }
  }

  /// Queues bytes. Bytes from a member are copied after earlier ones. A slice would keep the whole read alive that it
  /// came with, so a member could make us hold much by sending little. Our own link writes arrays of its own.
  func write(_ bytes: Bytes) {
    if !isRelayed, bytes.count >= Self.pieceCount {
      queueTail()
      return queue.append(bytes)
    }
    if tail.isEmpty, bytes.count >= 1 << 10 { tail.reserveCapacity(bytes.count + Self.pieceCount) }
    tail += bytes
    if tail.count >= Self.pieceCount { queueTail() }
  }

  private func queueTail() {
    queue.append(tail[...])
    tail = []
  }

  /// Takes credit from the other side.
  /// - Returns: how many more bytes have been passed on at the other side.
  func credit(consumed: UInt64, limit: UInt64) throws(Breach) -> Int {
    guard consumed <= sent else { throw Breach("more of a tunnel has gone on than the \(sent) bytes that were sent") }
    self.limit = max(self.limit, limit)
    let count = consumed - min(consumed, acknowledged)
    acknowledged += count
    return Int(count)
  }

  /// Ends writing; the goodbye follows the queued bytes. Data that comes is dropped from now on, and counts as passed
  /// on. The other side may be closing as well, and have more queued than its credit.
  func finish(_ ending: Ending) {
    guard phase == .open else { return }
    phase = .closing(ending)
    consumed = received
  }

  /// Closes the tunnel, and discards the queued bytes.
  func close() {
    phase = .closed
    queue.removeAll()
    tail = []
  }

  /// Takes bytes that have come.
  /// - Returns: whether they are wanted.
  func take(_ count: Int) throws(Breach) -> Bool {
    if phase == .asked { throw Breach("data of a tunnel that is not open") }
    received += UInt64(count)
    guard received <= granted else {
      throw Breach("more data of a tunnel than the credit of \(granted) bytes", .limitExceeded)
    }
    if isClosing { consumed = received }
    return phase == .open
  }

  /// Notes that this many bytes have been passed on, or read.
  /// - Returns: whether that is worth a frame. A sender that measures the path by these frames keeps little in flight,
  ///   and waits for them.
  func consume(_ count: Int) -> Bool {
    consumed = min(consumed + UInt64(max(0, count)), received)
    guard phase == .open else { return false }
    let unreported = consumed - consumedTold
    return unreported >= Self.acknowledgedAtOnce || (consumed == received && unreported >= Self.acknowledgedAtEnd)
  }

  /// Returns the credit for the other side.
  func grant() -> (consumed: UInt64, limit: UInt64) {
    consumedTold = consumed
    granted = max(granted, consumed + window)
    return (consumed, granted)
  }

  private static let acknowledgedAtOnce: UInt64 = 4 << 10
  /// The same number when everything that has come was passed on. A smaller number is acknowledged with the next bytes,
  /// so that a short message costs no frame.
  private static let acknowledgedAtEnd: UInt64 = 1 << 10

  /// Writes at most one frame of bytes, and then the goodbye if it is due. A frame is begun only if it fits whole.
  /// - Returns: frames, bytes that left the queue, and whether something did not fit.
  func takeTurn(into bytes: inout [UInt8], room: Int, frameLimit: Int) -> (frames: UInt64, count: Int, lacksRoom: Bool)
  {
    let end = bytes.count + room
    let credit = Int(clamping: limit - sent)
    let most = min(queuedCount, credit, frameLimit - VariableInteger.byteCount(of: number))
    var frames: UInt64 = 0
    var count = 0
    if most > 0 {
      // The rest of a long run goes with the next flush.
      count = min(most, end - bytes.count - FrameEncoder.numberedHeaderLimit)
      guard count == most || count >= 256 else { return (0, 0, true) }
      FrameEncoder.appendTunnelHeader(tunnel: number, payloadCount: count, to: &bytes)
      if queue.count < count { queueTail() }
      queue.take(count, into: &bytes)
      sent += UInt64(count)
      sentInTurn += count
      frames += 1
    }
    if queuedCount == 0, case .closing(let ending) = phase {
      let goodbye = FrameEncoder.encode(.closeTunnel(tunnel: number, ending.reason, detail: ending.detail))
      guard bytes.count + goodbye.count <= end else { return (frames, count, true) }
      bytes += goodbye
      phase = .closed
      frames += 1
    }
    return (frames, count, false)
  }
}

/// One half of a tunnel: the member that it leads to, and its number on the wire.
struct TunnelPlace: Hashable, Comparable, Sendable {
  let node: NodeID
  let number: UInt64

  static func < (left: TunnelPlace, right: TunnelPlace) -> Bool {
    (left.node, left.number) < (right.node, right.number)
  }
}
