import CPiconetBluetooth
import PiconetEngine

/// The three kinds of Bluetooth sockets that carry links.
public enum SocketKind: Sendable, Hashable, CaseIterable {
  /// L2CAP over BR/EDR: packets.
  case l2cap
  /// RFCOMM: a byte stream over L2CAP.
  case rfcomm
  /// LE's connection-oriented channels: packets.
  case le

  public init?(_ kind: TransportKind) {
    switch kind {
    case .l2cap: self = .l2cap
    case .rfcomm: self = .rfcomm
    case .le: self = .le
    case .tcp, .relay, .simulated: return nil
    }
  }

  public var transport: TransportKind {
    switch self {
    case .l2cap: .l2cap
    case .rfcomm: .rfcomm
    case .le: .le
    }
  }

  /// Whether one write is one SDU.
  public var isPacket: Bool { self != .rfcomm }

  /// Returns whether a dialler may name this port: channels 1 to 30; PSMs, which are odd with an even upper byte over
  /// BR/EDR (Core 5.4, Vol 3 Part A 4.2) and up to 0xFF over LE (4.22).
  public func isValid(port: UInt16) -> Bool {
    switch self {
    case .l2cap: port & 0x0101 == 1
    case .rfcomm: 1...30 ~= port
    case .le: 1...0xFF ~= port
    }
  }

  var number: Int32 {
    switch self {
    case .l2cap: Int32(piconet_bluetooth_l2cap)
    case .rfcomm: Int32(piconet_bluetooth_rfcomm)
    case .le: Int32(piconet_bluetooth_le)
    }
  }
}
