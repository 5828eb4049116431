/// The form of the addresses of a kind.
extension TransportKind {
  /// Whether it goes over Bluetooth BR/EDR, where a device has one address for all its channels.
  public var usesBREDR: Bool {
    switch self {
    case .l2cap, .rfcomm: true
    case .tcp, .le, .relay, .simulated: false
    }
  }

  /// The kinds whose addresses name a device in the same way as this kind's. A device's address over LE may differ from
  /// that over BR/EDR.
  public var kindsAtSameHost: [TransportKind] { usesBREDR ? Self.allCases.filter(\.usesBREDR) : [self] }

  /// The character between the host and the port, PSM or channel in an address of this kind.
  public var portSeparator: Character {
    switch self {
    case .tcp: ":"
    case .l2cap, .rfcomm, .le, .relay, .simulated: "/"
    }
  }
}
