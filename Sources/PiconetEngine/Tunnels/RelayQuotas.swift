/// How much a node passes on between its members, at most. What it sends and receives itself goes first.
///
/// Bytes count when their sender is told to go on, or when their tunnel ends, so that over any time no more pass than
/// its quota, a quarter of a second's, and what each of the tunnels open in that time may have ahead each way: a
/// quarter of a second's of the smaller rate, of 8 to 512 KiB.
public struct RelayQuotas: Sendable, Hashable {
  /// Tunnels that one key may have opened at once. Default 8; 1 to 1024.
  public var tunnelsPerMember = 8
  /// Tunnels of all keys together. Default 32; 1 to 1024.
  public var tunnels = 32
  /// Bytes a second that one key may have passed on, both ways of its tunnels together. Default 8 MiB; 16 KiB
  /// to 1 GiB.
  public var memberRate = 8 << 20
  /// Bytes a second for all keys together. Default 32 MiB; 16 KiB to 1 GiB.
  public var rate = 32 << 20

  /// The defaults.
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
  /// The bytes a second that one key gets at most, whatever others do.
  private var share: Int { min(memberRate, rate) }

  /// How many bytes each side of a tunnel may send ahead: a quarter of a second's, so that those who wait for the quota
  /// get a little often. Not less than a relay passes on in one go, nor more than a tunnel holds.
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

  /// When something may pass again; asking for it changes nothing.
  var nextTime: Instant {
    let (seconds, rest) = max(0, 1 - level).quotientAndRemainder(dividingBy: rate)
    return filledAt + .seconds(Int64(seconds)) + .nanoseconds(Int64(rest) * 1_000_000_000 / Int64(rate) + 1)
  }

  func isOpen(at now: Instant) -> Bool { level > 0 || nextTime <= now }

  /// Whether so much has passed on that it takes longer than the quarter of a second to make up for it that everybody
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
    // After so long any debt is made up for.
    let gained = isTooLong ? Int.max / 4 : whole + Int(rest * Int64(rate) / 1_000_000_000)
    // What is too little for a byte counts later.
    guard gained > 0 else { return }
    level = min(rate / 4, level + gained)
    filledAt = now
  }
}
