import PiconetEngine

/// The bound on bytes that wait in the kernel for the radio: enough to keep it busy, but so few that a small message is
/// quick.
///
/// The kernel counts waiting bytes with their overhead (truesize); so do all amounts here, unless they are called
/// payload. The rate at which the queue drains is measured from when the bound was reached until the socket is writable
/// again, which is when less than half of the bound waits (`sock_writeable`). A queue that ran empty meanwhile was too
/// short, as in BQL (dynamic queue limits): its bound grows, and shrinks again if the queue stays filled.
///
/// A pure value: facts with their times go in.
public struct UnsentBound: Sendable {
  public struct Configuration: Sendable, Hashable {
    /// The longest wait for the bytes in the queue.
    public var delay: Duration = .milliseconds(100)
    /// Payload that may wait however slow it goes: two packets.
    public var least = 2 * PacketArithmetic.largestPacket
    /// Payload that may wait before a rate is known.
    public var initial = 64 << 10
    /// Payload that may wait at most.
    public var most = 256 << 10
    /// The overhead that is assumed until it is known: a buffer of 2 KiB and its header for each packet.
    public var initialCost = 2.3

    public init() {}
  }

  private let configuration: Configuration
  /// The bytes that may wait.
  public private(set) var limit: Int
  /// The cost of a byte of payload: the highest of the recent values.
  public private(set) var costPerByte: Double
  /// The bytes that drain in a second; nil until measured.
  public private(set) var rate: Double?
  private var boost = 1.0
  private var stall: (unsent: Int, at: Instant)?

  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    costPerByte = configuration.initialCost
    limit = Int(Double(configuration.initial) * configuration.initialCost)
  }

  /// Returns the cost of `count` bytes of payload.
  public func cost(of count: Int) -> Int { Int((Double(count) * costPerByte).rounded(.up)) }

  /// Returns whether a write of `count` bytes stays within `limit`. It always may if nothing else waits.
  public func allows(_ count: Int, unsent: Int, limit: Int) -> Bool {
    unsent == 0 || unsent + cost(of: count) <= limit
  }

  /// Returns the most payload that costs no more than half of `limit`, so that there is room for it whenever the socket
  /// is writable. It is a number of whole packets, at least one, and at most `largest`.
  public func largestWrite(_ largest: Int, limit: Int) -> Int {
    let half = Int(Double(limit / 2) / costPerByte)
    return min(largest, max(PacketArithmetic.largestWrite(mtu: half), min(largest, Self.onePacket)))
  }

  private static let onePacket = PacketArithmetic.largestPacket - PacketArithmetic.basicHeader

  /// Notes that a write of `count` bytes has added `cost` to the waiting bytes. Some may have left meanwhile, so the
  /// highest value counts, for a while.
  public mutating func wrote(_ count: Int, cost: Int) {
    // A short message is nearly all overhead, and says nothing about bulk.
    guard count >= Self.onePacket / 2 else { return }
    costPerByte = max(costPerByte * 0.99, Double(cost) / Double(count), 1)
  }

  /// Notes that the kernel had no room for a write of `count` bytes, so it costs more than the remaining room.
  public mutating func refused(_ count: Int, unsent: Int, limit: Int) {
    guard count >= Self.onePacket / 2 else { return }
    costPerByte = max(costPerByte, Double(limit - unsent) / Double(count) * 1.05)
  }

  /// Notes that the bound was reached.
  public mutating func stalled(unsent: Int, at now: Instant) { stall = (unsent, now) }

  /// Notes that the socket is writable again.
  /// - Returns: whether `limit` has changed.
  public mutating func resumed(unsent: Int, at now: Instant) -> Bool {
    guard let stall else { return false }
    self.stall = nil
    let seconds = Double((now - stall.at).wholeNanoseconds) / 1e9
    let drained = Double(stall.unsent - unsent)
    guard seconds > 0, drained > 0 else { return false }
    let sample = drained / seconds
    if unsent == 0 {
      // It may have been empty for a long time: the rate is at least this.
      rate = max(rate ?? sample, sample)
      boost = min(boost * 2, 8)
    } else {
      rate = rate.map { $0 + (sample - $0) / 4 } ?? sample
      boost = max(boost * 0.9, 1)
    }
    let wanted = (rate ?? sample) * boost * Double(configuration.delay.wholeNanoseconds) / 1e9
    let bounded = min(
      max(wanted, Double(configuration.least) * costPerByte), Double(configuration.most) * costPerByte)
    // Small changes are not worth a call.
    guard abs(bounded - Double(limit)) > Double(limit) / 8 else { return false }
    limit = Int(bounded)
    return true
  }
}
