import PiconetWire

/// Frames of one kind, and their bytes: bodies and headers, before encryption.
public struct LaneCount: Sendable, Hashable {
  /// How many frames.
  public var frames: UInt64 = 0
  /// How many bytes they have together.
  public var bytes: UInt64 = 0

  public init(frames: UInt64 = 0, bytes: UInt64 = 0) {
    self.frames = frames
    self.bytes = bytes
  }

  mutating func add(frames: UInt64 = 1, bytes: Int) {
    self.frames &+= frames
    self.bytes &+= UInt64(truncatingIfNeeded: bytes)
  }

  /// Takes back frames that were counted but did not go after all.
  mutating func takeBack(frames: UInt64, bytes: Int) {
    self.frames &-= frames
    self.bytes &-= UInt64(truncatingIfNeeded: bytes)
  }
}

/// What has gone one way between two nodes since their association began.
public struct TrafficCount: Sendable, Hashable {
  /// All bytes of the association's links, before encryption: those that the kernel has taken, or that have come.
  public var bytes: UInt64 = 0
  /// All other frames, such as invitations, credit, offers and pings.
  public var controlFrames: UInt64 = 0
  /// Reliable messages; a long one is many frames.
  public var messages = LaneCount()
  /// Unreliable messages that went out, or came.
  public var unreliable = LaneCount()
  /// Data of streams.
  public var streams = LaneCount()
  /// Chunks of files.
  public var chunks = LaneCount()
  /// Data of tunnels: links of ours through the other side, and what is relayed for others.
  public var tunnels = LaneCount()

  /// Nothing yet.
  public init() {}

  /// Frames of all kinds.
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
      .withdraw, .admit, .inviteByCode, .codeAnswer, .codeConfirm, .leave, .removeMember, .removed, .introduce,
      .introduced, .introductionFailed, .withdrawIntroduction, .askToIntroduce, .groupView, .openTunnel, .offerTunnel,
      .tunnelOpened, .closeTunnel, .tunnelCredit, .offer, .acceptOffer, .declineOffer, .stored, .present, .restart,
      .comparing, .abandon, .refuse, .senderPaused, .receiverPaused, .openStream, .endStream, .resetStream, .stopStream,
      .streamDone, .unknownOptional:
      controlFrames &+= 1
    }
  }

  /// The bytes of a frame whose body has this many.
  static func frameCount(_ body: Int) -> Int {
    1 + VariableInteger.byteCount(of: UInt64(truncatingIfNeeded: body)) + body
  }
}

/// What an association counts about itself: plain additions, no look at a clock.
struct AssociationCounts: Sendable, Hashable {
  var sent = TrafficCount()
  var received = TrafficCount()
  /// Sequenced frames that were sent again on another link.
  var retransmitted = LaneCount()
}
