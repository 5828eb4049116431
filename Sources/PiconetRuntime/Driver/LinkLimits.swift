/// How many links may be at their beginning or their end, and for how long.
public struct LinkLimits: Sendable, Hashable {
  /// Accepted connections that are in their TLS handshake at once; when one more comes, the oldest is given up. Default
  /// 128.
  public var securing = 128
  /// From an accepted or dialled connection to the end of its TLS handshake. Default 10 s.
  public var securingTimeout: Duration = .seconds(10)
  /// Closed links that still write their last bytes; when one more comes, the oldest is cut. Default 64.
  public var closing = 64
  /// What a closed link may still take to write its last bytes. Default 5 s.
  public var closingTimeout: Duration = .seconds(5)

  public init() {}
}
