/// The kinds of transport a link can run over, in no order of preference.
@nonexhaustive
public enum TransportKind: String, Sendable, Hashable, CaseIterable {
  /// TCP over IPv4 or IPv6.
  case tcp
  /// Bluetooth BR/EDR, an L2CAP connection-oriented channel.
  case l2cap
  /// Bluetooth BR/EDR, RFCOMM.
  case rfcomm
  /// Bluetooth LE, an L2CAP credit-based channel.
  case le
  /// A tunnel over another member, which passes ciphertext on.
  case relay
  /// The simulator's links; never those of a real node.
  case simulated

  /// Its number in a `listening` frame; nil for a kind that can't be listened on.
  var listeningNumber: UInt8? {
    switch self {
    case .tcp: 1
    case .l2cap: 2
    case .rfcomm: 3
    case .le: 4
    case .relay, .simulated: nil
    }
  }

  /// Whether it goes over the Bluetooth radio, which it shares with scans and other links.
  public var usesBluetooth: Bool {
    switch self {
    case .l2cap, .rfcomm, .le: true
    case .tcp, .relay, .simulated: false
    }
  }

  /// The transports used by default, in order of preference: a common IP network goes first.
  package static let defaultOrder: [TransportKind] = [.tcp] + bluetooth

  /// The transports that go over the Bluetooth radio, in order of preference.
  public static let bluetooth: [TransportKind] = [.l2cap, .rfcomm, .le]

  /// Whether several nodes of a device may listen at one place, so that a dialler states first which session it wants.
  /// With RFCOMM, two devices have one connection to a channel at a time (RFCOMM 1.2, 5.4: a DLCI is a channel and a
  /// direction). Two nodes that shared a channel would keep out each other's peers.
  package var sharesListeners: Bool {
    switch self {
    case .l2cap, .le: true
    case .tcp, .rfcomm, .relay, .simulated: false
    }
  }

  /// Whether the peer's system may ask its user before it lets us in, as over BR/EDR.
  public var mayAskUser: Bool {
    switch self {
    case .l2cap, .rfcomm: true
    case .tcp, .le, .relay, .simulated: false
    }
  }
}
