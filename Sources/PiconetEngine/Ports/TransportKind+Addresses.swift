/// How addresses of a kind are made.
extension TransportKind {
  /// Whether it goes over Bluetooth BR/EDR, where a device has one address for all its channels.
  public var usesBREDR: Bool {
    switch self {
    case .l2cap, .rfcomm: true
    case .tcp, .le, .relay, .simulated: false
    }
  }

  /// The kinds whose addresses name a device as those of this kind do. A device's address over LE may be another one
  /// than that over BR/EDR.
  public var kindsAtSameHost: [TransportKind] { usesBREDR ? Self.allCases.filter(\.usesBREDR) : [self] }

  /// What stands between the host and the port, PSM or channel in an address of this kind.
  public var portSeparator: Character {
    switch self {
    case .tcp: ":"
    case .l2cap, .rfcomm, .le, .relay, .simulated: "/"
    }
  }
}
