import PiconetEngine

/// How many bytes of bulk one connection may have in flight, unsent or unacknowledged: enough to keep the path busy,
/// little enough that a message which comes now is not behind seconds of a file, in the socket's buffer or in a queue
/// on the way.
///
/// It is the path's rate times its shortest round trip, and a little more, so that there is always something to carry.
/// The rate is that of the bytes acknowledged while there was; the kernel's own (`tcpi_delivery_rate`) is of no use
/// here, because it takes whoever keeps below the congestion window for one who has nothing to send. A path that has
/// carried away everything before we looked again could have carried more: the bound doubles.
///
/// A pure value: samples with their time in.
struct FlightBound: Sendable {
  struct Configuration: Sendable, Hashable {
    /// How long what is in flight beyond the round trip may take; a quarter of the round trip where that is more.
    var delay: Duration = .milliseconds(10)
    /// Bytes that may be in flight however slow it goes: two segments of Ethernet's, so that the remote side
    /// acknowledges at once.
    var least = 3 << 10
    /// Bytes that may be in flight before a rate is known.
    var initial = 14 << 10
    /// Bytes of a bound that is none any more: more than a kernel keeps by itself.
    var most = 64 << 20
  }

  /// What the kernel says of the connection.
  struct Sample: Sendable, Hashable {
    /// Bytes unsent or unacknowledged.
    var inFlight: Int
    /// Bytes handed to it so far.
    var written: UInt64
    /// The shortest round trip seen.
    var roundTrip: Duration
    var at: Instant
  }

  private let configuration: Configuration
  private(set) var limit: Int
  /// Bytes a second of late; nil until seen.
  private(set) var rate: Double?
  /// The last rates, of which the highest counts.
  private var rates: [Double] = []
  /// Where the span began over which a rate is seen; nil while the path may have nothing to carry.
  private var span: (acknowledged: UInt64, at: Instant, hasBegun: Bool)?
  /// At the last look most of the bound was used: the sender may have had more.
  private var isFull = false

  /// A rate is seen over no less than this, nor than a round trip: acknowledgements come in bursts.
  private static let shortestSpan = Duration.milliseconds(25)
  private static let ratesKept = 4

  init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    limit = configuration.initial
  }

  /// Bytes of bulk that may go now.
  func room(inFlight: Int) -> Int { max(0, limit - inFlight) }

  /// So much is in flight that the path is busy, and the room worth a look.
  func isNear(_ inFlight: Int) -> Bool { inFlight > limit / 2 }

  /// The kernel was asked: because the bound is near, or some time after that.
  mutating func looked(_ sample: Sample) {
    let acknowledged = sample.written - min(sample.written, UInt64(max(0, sample.inFlight)))
    let wasFull = isFull
    isFull = sample.inFlight > limit / 4 * 3
    guard sample.inFlight > 0 else {
      span = nil
      // Where the bound was not what kept it from sending more, that says nothing of the path.
      if wasFull { set(max(2 * limit, wanted(sample.roundTrip))) }
      return
    }
    guard let begun = span else {
      if isNear(sample.inFlight) { span = (acknowledged, sample.at, hasBegun: false) }
      return
    }
    let carried = Double(acknowledged - min(acknowledged, begun.acknowledged))
    guard begun.hasBegun else {
      // What came before the first acknowledgement was the way there.
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

  /// When to look again: when a good part of the bound should be free.
  var patience: Duration {
    guard let rate, rate > 0 else { return .milliseconds(1) }
    return .nanoseconds(Int64(min(5_000_000, max(500_000, Double(limit) / 4 / rate * 1_000_000_000))))
  }

  private func wanted(_ roundTrip: Duration) -> Int {
    let roundTrip = roundTrip.inSeconds
    let seconds = roundTrip + max(configuration.delay.inSeconds, roundTrip / 4)
    return Int(min(Double(configuration.most), (rate ?? 0) * seconds))
  }

  private mutating func set(_ wanted: Int) {
    limit = min(configuration.most, max(configuration.least, wanted))
  }
}

extension Duration {
  fileprivate var inSeconds: Double { Double(wholeNanoseconds) / 1_000_000_000 }
}
