/// How many links may be starting or closing, and for how long.
public struct LinkLimits: Sendable, Hashable {
  /// Accepted connections that are in their TLS handshake at once; when one more comes, the oldest is given up. Default
  /// 128.
  public var securing = 128
  /// The time from an accepted or dialled connection to the end of its TLS handshake. Default 10 s.
  public var securingTimeout: Duration = .seconds(10)
  /// How long securing takes at most for a dial of several addresses, not over Bluetooth, where the other addresses are
  /// tried next, and this one again at last: any device may have advertised an address at which nothing speaks. Default
  /// 3 s.
  public var securingTimeoutOfSeveral: Duration = .seconds(3)
  /// Closed links that still write their last bytes; when one more comes, the oldest is cut. Default 64.
  public var closing = 64
  /// How long a closed link may take to write its last bytes. Default 5 s.
  public var closingTimeout: Duration = .seconds(5)

  public init() {}
}
