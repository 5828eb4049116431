/// Limits on the number of links that are starting or closing, and on their time.
public struct LinkLimits: Sendable, Hashable {
  /// The number of accepted connections that may be in their TLS handshake at once; when one more comes, the oldest is
  /// closed. Default 128.
  public var securing = 128
  /// The time from an accepted or dialled connection to the end of its TLS handshake. Default 10 s.
  public var securingTimeout: Duration = .seconds(10)
  /// The time limit for securing a dial of several addresses. It does not apply over Bluetooth. If nothing speaks at
  /// one address, the others are tried next, and this one again at last: any device may have advertised it. Default 3
  /// s.
  public var securingTimeoutOfSeveral: Duration = .seconds(3)
  /// The number of closed links that may still write their last bytes; when one more comes, the oldest is cut. Default
  /// 64.
  public var closing = 64
  /// How long a closed link may take to write its last bytes. Default 5 s.
  public var closingTimeout: Duration = .seconds(5)

  public init() {}
}
