import PiconetSDP

/// One Bluetooth adapter, as the kernel reports it.
public struct Adapter: Sendable, Hashable {
  /// Such as `hci0`. An adapter that is plugged in again gets a new one.
  public var name: String
  public var device: BluetoothAddress
  /// Whether it is switched on.
  public var isUp: Bool
  /// Whether its controller supports BR/EDR, which L2CAP and RFCOMM need.
  public var hasBREDR: Bool
  public var hasLE: Bool

  public init(name: String, device: BluetoothAddress, isUp: Bool, hasBREDR: Bool = true, hasLE: Bool = true) {
    self.name = name
    self.device = device
    self.isUp = isUp
    self.hasBREDR = hasBREDR
    self.hasLE = hasLE
  }

  /// The number of `hciN`, which identifies it to the kernel.
  public var number: UInt16? { UInt16(name.dropFirst("hci".count)) }

  /// Whether it is on and supports this kind of link.
  public func canDo(_ kind: SocketKind) -> Bool { isUp && (kind == .le ? hasLE : hasBREDR) }
}
