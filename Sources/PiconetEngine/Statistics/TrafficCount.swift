import PiconetWire

/// The frames of one kind, and their bytes: bodies and headers, before encryption.
public struct LaneCount: Sendable, Hashable {
  /// The number of frames.
  public var frames: UInt64 = 0
  /// The number of their bytes together.
  public var bytes: UInt64 = 0

  public init(frames: UInt64 = 0, bytes: UInt64 = 0) {
    self.frames = frames
    self.bytes = bytes
  }

  mutating func add(frames: UInt64 = 1, bytes: Int) {
    self.frames &+= frames
    self.bytes &+= UInt64(truncatingIfNeeded: bytes)
  }

  /// Takes back the count of frames that were not sent after all.
  mutating func takeBack(frames: UInt64, bytes: Int) {
    self.frames &-= frames
    self.bytes &-= UInt64(truncatingIfNeeded: bytes)
  }
}

/// The traffic in one direction between two nodes since their association began.
public struct TrafficCount: Sendable, Hashable {
  /// All bytes of the association's links, before encryption: those that the kernel has taken, or that have come.
  public var bytes: UInt64 = 0
  /// All other frames, such as invitations, credit, offers and pings.
  public var controlFrames: UInt64 = 0
  /// Reliable messages; a long one is many frames.
  public var messages = LaneCount()
  /// Unreliable messages that were sent or have come.
  public var unreliable = LaneCount()
  /// Data of streams.
  public var streams = LaneCount()
  /// Chunks of files.
  public var chunks = LaneCount()
  /// Data of tunnels: our own links through the other side, and data relayed for others.
  public var tunnels = LaneCount()

  /// Makes empty counts.
  public init() {}

  /// The number of frames of all kinds.
  public var frames: UInt64 {
    controlFrames &+ messages.frames &+ unreliable.frames &+ streams.frames &+ chunks.frames &+ tunnels.frames
  }

  /// Counts one frame. Reliable messages, which come by the million, are counted where they are taken.
  mutating func count(_ frame: Frame) {
    switch frame {
    case .message(let body), .fragment(let body): messages.add(bytes: Self.frameCount(body.count))
    case .channelMessage(_, let body), .channelFragment(_, let body):
      messages.add(bytes: Self.frameCount(body.count + FrameEncoder.channelCount))
    case .unreliableMessage(let number, let body):
      unreliable.add(bytes: Self.frameCount(body.count + VariableInteger.byteCount(of: number)))
    case .chunk(let transfer, let body):
      chunks.add(bytes: Self.frameCount(body.count + VariableInteger.byteCount(of: transfer)))
    case .streamData(let stream, let body):
      streams.add(bytes: Self.frameCount(body.count + VariableInteger.byteCount(of: stream)))
    case .tunnelData(let tunnel, let body):
      tunnels.add(bytes: Self.frameCount(body.count + VariableInteger.byteCount(of: tunnel)))
    case .hello, .associate, .associated, .close, .ping, .pong, .acknowledge, .messageCredit, .channelCredit,
      .listening, .codeNonce, .codeReveal, .position, .transferCredit, .end, .streamCredit, .invite, .accept, .decline,
      .withdraw, .admit, .inviteByCode, .codeAnswer, .codeConfirm, .comparison, .leave, .removeMember, .removed,
      .introduce,
      .introduced, .introductionFailed, .withdrawIntroduction, .askToIntroduce, .groupView, .openTunnel, .offerTunnel,
      .tunnelOpened, .closeTunnel, .tunnelCredit, .offer, .acceptOffer, .declineOffer, .stored, .present, .restart,
      .comparing, .abandon, .refuse, .senderPaused, .receiverPaused, .openStream, .endStream, .resetStream, .stopStream,
      .streamDone, .unknownOptional:
      controlFrames &+= 1
    }
  }

  /// Returns the bytes of a frame whose body has this many.
  static func frameCount(_ body: Int) -> Int {
    1 + VariableInteger.byteCount(of: UInt64(truncatingIfNeeded: body)) + body
  }
}

/// The counters of an association: plain additions, without reading a clock.
struct AssociationCounts: Sendable, Hashable {
  private(set) var sent = TrafficCount()
  private(set) var received = TrafficCount()
  /// Sequenced frames that were sent again on another link.
  private(set) var retransmitted = LaneCount()

  // MARK: Sent

  mutating func sent(_ frame: Frame) { sent.count(frame) }
  /// Counts bytes that the kernel has taken, of all kinds.
  mutating func sent(bytes: Int) { sent.bytes &+= UInt64(truncatingIfNeeded: bytes) }
  mutating func sent(messages frames: UInt64, bytes: Int) { sent.messages.add(frames: frames, bytes: bytes) }
  mutating func sent(streams frames: UInt64, bytes: Int) { sent.streams.add(frames: frames, bytes: bytes) }
  mutating func sent(tunnels frames: UInt64, bytes: Int) { sent.tunnels.add(frames: frames, bytes: bytes) }
  mutating func sent(chunks frames: UInt64, bytes: Int) { sent.chunks.add(frames: frames, bytes: bytes) }
  mutating func sentUnreliable(bytes: Int) { sent.unreliable.add(bytes: bytes) }
  /// Takes back the count of unreliable messages that were not sent after all.
  mutating func tookBack(unreliable frames: UInt64, bytes: Int) {
    sent.unreliable.takeBack(frames: frames, bytes: bytes)
  }
  mutating func sentAgain(_ count: LaneCount) { retransmitted.add(frames: count.frames, bytes: Int(count.bytes)) }

  // MARK: Received

  mutating func received(_ frame: Frame) { received.count(frame) }
  /// Counts bytes that have come over the link, of all kinds.
  mutating func received(bytes: Int) { received.bytes &+= UInt64(truncatingIfNeeded: bytes) }
  /// Counts a message: the fast path for the most frequent frame.
  mutating func receivedMessage(_ bytes: Int) { received.messages.add(bytes: TrafficCount.frameCount(bytes)) }
}
