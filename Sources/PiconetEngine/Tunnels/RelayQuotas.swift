/// How much a node passes on between its members, at most. What it sends and receives itself goes first.
public struct RelayQuotas: Sendable, Hashable {
  /// Tunnels that one key may have opened at once. Default 8; 1 to 1024.
  public var tunnelsPerMember = 8
  /// Tunnels of all keys together. Default 32; 1 to 1024.
  public var tunnels = 32
  /// Bytes a second that one key may have passed on, both ways of its tunnels together. Default 8 MiB; 1024 to 1 GiB.
  public var memberRate = 8 << 20
  /// Bytes a second for all keys together. Default 32 MiB; 1024 to 1 GiB.
  public var rate = 32 << 20

  public init() {}

  func validate() throws(InvalidConfiguration) {
    guard (1...1024).contains(tunnelsPerMember), (1...1024).contains(tunnels) else {
      throw InvalidConfiguration(rule: "a relay has 1 to 1024 tunnels")
    }
    guard (1024...(1 << 30)).contains(memberRate), (1024...(1 << 30)).contains(rate) else {
      throw InvalidConfiguration(rule: "a relay passes on 1024 bytes to 1 GiB a second")
    }
  }
}

/// A budget of bytes over time: at most a quarter of a second's bytes at once. If more come, it goes into debt, by a
/// second's bytes at most, since what is on its way already is not thrown away.
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
    filledAt + .nanoseconds(Int64(max(0, 1 - level)) * 1_000_000_000 / Int64(rate) + 1)
  }

  func isOpen(at now: Instant) -> Bool { level > 0 || nextTime <= now }

  mutating func take(_ count: Int, at now: Instant) {
    fill(now)
    level = max(level - count, -rate)
  }

  private mutating func fill(_ now: Instant) {
    let passed = (now - filledAt).wholeNanoseconds
    guard passed > 0 else { return }
    // A second and a quarter fills it, whatever its debt. The cap keeps the product within 64 bits.
    let gained = passed >= 8_000_000_000 ? 8 * Int64(rate) : passed * Int64(rate) / 1_000_000_000
    // What is too little for a byte counts later.
    guard gained > 0 else { return }
    level = min(rate / 4, level + Int(gained))
    filledAt = now
  }
}
