import PiconetEngine

/// The state of the connection to one member at one moment (`Session.statistics`).
public struct MemberStatistics: Sendable, Hashable {
  /// The transport of the link in use; nil while the member can't be reached.
  public let transport: TransportKind?
  /// The remote end of the link in use, as the transport writes it; nil while the member can't be reached.
  public let remoteAddress: String?
  /// The near end of the link in use, as the transport writes it; nil while the member can't be reached.
  public let localAddress: String?
  /// How long the two nodes have been connected, over however many links.
  public let age: Duration
  /// The round trip of the link in use; nil until a ping over it has been answered.
  public let roundTrip: RoundTrip?
  /// Traffic sent to the member.
  public let sent: Traffic
  /// Traffic received from the member.
  public let received: Traffic
  /// Frames sent again on another link.
  public let retransmitted: Count
  /// Unreliable messages that were dropped: the link could not take them at once, or too many waited before it.
  public let unreliableDropped: UInt64
  /// Unreliable messages that arrived after a newer one and were not delivered.
  public let unreliableLate: UInt64
  /// Bytes of reliable messages that wait for credit from the remote side or for the link. A few more bytes are counted
  /// for each message.
  public let queuedBytes: Int
  /// Bytes that wait for the link, or are on their way to the kernel.
  public let linkBytes: Int
  /// How many more bytes of reliable messages the remote side accepts now in channel 0, measured as `queuedBytes` is.
  public let sendCredit: UInt64
  /// How many more bytes of reliable messages the remote side may send now in channel 0.
  public let receiveCredit: UInt64
  /// Frames that the remote side has not acknowledged.
  public let unacknowledgedFrames: UInt64
  /// Bytes of unacknowledged frames, kept to be sent again on another link.
  public let unacknowledgedBytes: Int

  /// - Parameter dropped: unreliable messages that were dropped before they reached the loop.
  init(_ statistics: AssociationStatistics, dropped: UInt64) {
    transport = statistics.transport
    remoteAddress = statistics.link?.remoteAddress
    localAddress = statistics.link?.localAddress
    age = statistics.age
    roundTrip = statistics.roundTrip.map(RoundTrip.init)
    sent = Traffic(statistics.sent)
    received = Traffic(statistics.received)
    retransmitted = Count(statistics.retransmitted)
    unreliableDropped = statistics.unreliableDropped + dropped
    unreliableLate = statistics.unreliableLate
    queuedBytes = statistics.queuedBytes
    linkBytes = statistics.linkBytes
    sendCredit = statistics.sendCredit
    receiveCredit = statistics.receiveCredit
    unacknowledgedFrames = statistics.unacknowledgedFrames
    unacknowledgedBytes = statistics.unacknowledgedBytes
  }
}

extension MemberStatistics {
  /// The traffic in one direction.
  public struct Traffic: Sendable, Hashable {
    /// All bytes of the links, before encryption: those that the kernel has taken, or those received.
    public let bytes: UInt64
    /// Frames of all kinds.
    public let frames: UInt64
    /// Frames that carry nothing of the application: invitations, credit, offers, pings.
    public let controlFrames: UInt64
    /// Frames of reliable messages; a long message is many frames.
    public let messages: Count
    /// Unreliable messages.
    public let unreliable: Count
    /// Data of streams.
    public let streams: Count
    /// Chunks of resources.
    public let chunks: Count

    init(_ count: TrafficCount) {
      bytes = count.bytes
      frames = count.frames
      controlFrames = count.controlFrames
      messages = Count(count.messages)
      unreliable = Count(count.unreliable)
      streams = Count(count.streams)
      chunks = Count(count.chunks)
    }
  }

  /// Frames of one kind.
  public struct Count: Sendable, Hashable {
    /// The number of frames.
    public let frames: UInt64
    /// All their bytes together, with the framing.
    public let bytes: UInt64

    init(_ count: LaneCount) { self.init(frames: count.frames, bytes: count.bytes) }

    init(frames: UInt64, bytes: UInt64) {
      self.frames = frames
      self.bytes = bytes
    }
  }

  /// How long a frame and its answer take, measured by pings. Time spent waiting for the link counts, since an
  /// application sees it as well.
  public struct RoundTrip: Sendable, Hashable {
    /// The round trip of the last ping.
    public let last: Duration
    /// Smoothed as in RFC 6298, section 2: each new one counts for an eighth.
    public let smoothed: Duration
    /// The shortest so far.
    public let shortest: Duration
    /// How many pings were answered on this link.
    public let count: UInt64

    init(_ roundTrip: RoundTripEstimate) {
      last = roundTrip.last
      smoothed = roundTrip.smoothed
      shortest = roundTrip.shortest
      count = roundTrip.count
    }
  }
}
