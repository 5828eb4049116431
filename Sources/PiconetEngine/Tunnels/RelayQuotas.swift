/// Limits on what a node passes on between its members. What the node itself sends and receives goes first.
///
/// Bytes count when their sender is told to continue, or when their tunnel ends. So over any time, the bytes that pass
/// are limited by the sum of:
/// - the quota for that time,
/// - the quota for a quarter of a second,
/// - what each tunnel open in that time may have ahead each way: a quarter of a second's quota at the smaller rate,
///   within 8 to 512 KiB.
public struct RelayQuotas: Sendable, Hashable {
  /// Tunnels that one key may have opened at once. Default 8; 1 to 1024.
  public var tunnelsPerMember = 8
  /// Tunnels of all keys together. Default 32; 1 to 1024.
  public var tunnels = 32
  /// Bytes a second that one key may have passed on, in both directions of its tunnels together. Default 8 MiB; 16 KiB
  /// to 1 GiB.
  public var memberRate = 8 << 20
  /// Bytes a second for all keys together. Default 32 MiB; 16 KiB to 1 GiB.
  public var rate = 32 << 20

  /// Makes the default quotas.
  public init() {}

  func validate() throws(InvalidConfiguration) {
    guard (1...1024).contains(tunnelsPerMember), (1...1024).contains(tunnels) else {
      throw InvalidConfiguration(rule: "a relay has 1 to 1024 tunnels")
    }
    guard [memberRate, rate].allSatisfy((16 << 10...1 << 30).contains) else {
      throw InvalidConfiguration(rule: "a relay passes on 16 KiB to 1 GiB a second")
    }
  }
}

extension RelayQuotas {
  /// The maximum number of bytes a second that one key gets, whatever others do.
  private var share: Int { min(memberRate, rate) }

  /// How many bytes each side of a tunnel may send ahead: a quarter of a second's quota, so that senders that wait for
  /// the quota get a little often. It is at least what a relay passes on at once, and at most what a tunnel holds.
  var window: Int { min(max(share / 4, Self.leastWindow), Int(Tunnel.largestWindow)) }

  private static let leastWindow = 8 << 10
}

/// A budget of bytes over time: a quarter of a second's at once, and no debt is forgiven.
struct RateBudget: Sendable {
  private let rate: Int
  private var level: Int
  private var filledAt: Instant

  init(rate: Int, at now: Instant) {
    self.rate = rate
    level = rate / 4
    filledAt = now
  }

  /// When bytes may pass again. Asking for it changes nothing.
  var nextTime: Instant {
    let (seconds, rest) = max(0, 1 - level).quotientAndRemainder(dividingBy: rate)
    return filledAt + .seconds(Int64(seconds)) + .nanoseconds(Int64(rest) * 1_000_000_000 / Int64(rate) + 1)
  }

  func isOpen(at now: Instant) -> Bool { level > 0 || nextTime <= now }

  /// Returns whether so much has passed that making up for it takes longer than the quarter of a second that every key
  /// may be ahead.
  func isInDebt(at now: Instant) -> Bool {
    var filled = self
    filled.fill(now)
    return filled.level < -rate / 4
  }

  mutating func take(_ count: Int, at now: Instant) {
    fill(now)
    level -= count
  }

  private mutating func fill(_ now: Instant) {
    let passed = (now - filledAt).wholeNanoseconds
    guard passed > 0 else { return }
    let (seconds, rest) = passed.quotientAndRemainder(dividingBy: 1_000_000_000)
    let (whole, isTooLong) = Int(seconds).multipliedReportingOverflow(by: rate)
    // After such a long time, any debt is paid off.
    let gained = isTooLong ? Int.max / 4 : whole + Int(rest * Int64(rate) / 1_000_000_000)
    // A remainder too small for a byte counts later.
    guard gained > 0 else { return }
    level = min(rate / 4, level + gained)
    filledAt = now
  }
}
