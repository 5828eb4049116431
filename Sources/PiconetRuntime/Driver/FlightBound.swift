import PiconetEngine

/// The bound on the bytes of bulk that one connection, over TCP or through a tunnel, may have in flight, unsent or
/// unacknowledged. It is enough to keep the path busy, but so little that a new message does not wait behind seconds of
/// a file, in the socket's buffer or in a queue on the way.
///
/// It is the path's rate times its shortest round trip, and a little more, so that there is always something to carry.
/// The rate is measured from the bytes acknowledged while there was. The kernel's own figure (`tcpi_delivery_rate`) is
/// of no use here: a sender that stays below the congestion window seems to it to have nothing to send. If everything
/// was carried away before the next look, the path could have carried more: the bound doubles.
///
/// A pure value: samples with their times go in.
public struct FlightBound: Sendable {
  public struct Configuration: Sendable, Hashable {
    /// The time that bytes in flight may take beyond the round trip; a quarter of the round trip if that is more.
    public var delay: Duration = .milliseconds(10)
    /// Bytes that may be in flight however slow it goes: two Ethernet segments, so that the remote side acknowledges at
    /// once.
    public var least = 3 << 10
    /// Bytes that may have arrived without a report; they may be in flight besides.
    public var unreported = 0
    /// Bytes that may be in flight before a rate is known.
    public var initial = 14 << 10
    /// A bound of this many bytes no longer restricts anything: a kernel keeps less.
    public var most = 64 << 20

    public init() {}
  }

  /// The state of the connection at a moment, from its kernel or its relay.
  public struct Sample: Sendable, Hashable {
    /// Bytes unsent or unacknowledged.
    public var inFlight: Int
    /// Bytes handed to the kernel so far.
    public var written: UInt64
    /// The shortest round trip seen; 0 if none is known.
    public var roundTrip: Duration
    public var at: Instant

    public init(inFlight: Int, written: UInt64, roundTrip: Duration, at: Instant) {
      self.inFlight = inFlight
      self.written = written
      self.roundTrip = roundTrip
      self.at = at
    }
  }

  private let configuration: Configuration
  /// Bytes that may be in flight now.
  public private(set) var limit: Int
  /// The recent rate in bytes per second; nil until measured.
  public private(set) var rate: Double?
  /// The last rates, of which the highest counts.
  private var rates: [Double] = []
  /// The beginning of the span over which a rate is measured; nil while the path may have nothing to carry.
  private var span: (acknowledged: UInt64, at: Instant, hasBegun: Bool)?
  /// Whether most of the bound was in use at the last look: the sender may have had more to send.
  private var isFull = false

  /// A rate is measured over at least this, and at least a round trip: acknowledgements come in bursts.
  private static let shortestSpan = Duration.milliseconds(25)
  private static let ratesKept = 4

  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    limit = configuration.initial
  }

  /// Returns how many bytes of bulk may go now.
  public func room(inFlight: Int) -> Int { max(0, limit - inFlight) }

  /// Returns whether so much is in flight that the path is busy, and the room is worth a look.
  public func isNear(_ inFlight: Int) -> Bool { inFlight > limit / 2 }

  /// Takes a sample from the kernel, requested because the bound is near, or some time after that.
  public mutating func sampled(_ sample: Sample) {
    let acknowledged = sample.written - min(sample.written, UInt64(max(0, sample.inFlight)))
    let wasFull = isFull
    isFull = sample.inFlight > limit / 4 * 3
    guard sample.inFlight > 0 else {
      span = nil
      // Unless the bound kept it from sending more, this says nothing about the path.
      if wasFull { set(max(2 * limit, wanted(sample.roundTrip))) }
      return
    }
    guard let begun = span else {
      if isNear(sample.inFlight) { span = (acknowledged, sample.at, hasBegun: false) }
      return
    }
    let carried = Double(acknowledged - min(acknowledged, begun.acknowledged))
    guard begun.hasBegun else {
      // The time before the first acknowledgement was the way there.
      if carried > 0 { span = (acknowledged, sample.at, hasBegun: true) }
      return
    }
    let seconds = (sample.at - begun.at).inSeconds
    guard seconds >= max(Self.shortestSpan.inSeconds, sample.roundTrip.inSeconds) else { return }
    rates.append(carried / seconds)
    if rates.count > Self.ratesKept { rates.removeFirst() }
    rate = rates.max()
    span = (acknowledged, sample.at, hasBegun: true)
    set(wanted(sample.roundTrip))
  }

  /// Notes that the sender has paused for its own reason: the bytes carried meanwhile do not show the path's rate.
  public mutating func paused() {
    span = nil
    isFull = false
  }

  /// The time until the next look: when a good part of the bound should be free.
  public var patience: Duration {
    guard let rate, rate > 0 else { return .milliseconds(1) }
    return .nanoseconds(Int64(min(5_000_000, max(500_000, Double(limit) / 4 / rate * 1_000_000_000))))
  }

  private func wanted(_ roundTrip: Duration) -> Int {
    let roundTrip = roundTrip.inSeconds
    let seconds = roundTrip + max(configuration.delay.inSeconds, roundTrip / 4)
    return Int(min(Double(configuration.most), (rate ?? 0) * seconds)) + configuration.unreported
  }

  private mutating func set(_ wanted: Int) {
    limit = min(configuration.most, max(configuration.least, wanted))
  }
}

extension Duration {
  fileprivate var inSeconds: Double { Double(wholeNanoseconds) / 1_000_000_000 }
}
