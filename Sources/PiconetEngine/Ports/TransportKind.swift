/// The kinds of transport a link can run over, in no order of preference.
public enum TransportKind: String, Sendable, Hashable, CaseIterable {
  case tcp, l2cap, rfcomm, le, relay, simulated

  /// It goes over the Bluetooth radio, which scans and other links share.
  public var usesBluetooth: Bool {
    switch self {
    case .l2cap, .rfcomm, .le: true
    case .tcp, .relay, .simulated: false
    }
  }

  /// Over BR/EDR the peer's system may ask its user before it lets us in.
  public var mayAskUser: Bool {
    switch self {
    case .l2cap, .rfcomm: true
    case .tcp, .le, .relay, .simulated: false
    }
  }
}
