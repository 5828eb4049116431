import CPiconetBluetooth
import Glibc
import PiconetSDP

/// The state of this machine's Bluetooth that is visible without any privilege and without using the radio.
public struct BluetoothProbe: Sendable, Hashable {
  /// An adapter as the kernel reports it.
  public struct Adapter: Sendable, Hashable {
    /// The N of `hciN`.
    public var number: UInt16
    /// `00:11:22:33:44:55`; all zeros if its firmware has not come up.
    public var address: String
    /// Whether it is powered on.
    public var isUp: Bool
    /// Whether it has Bluetooth Low Energy.
    public var hasLE: Bool
    /// Whether it has classic Bluetooth.
    public var hasBREDR: Bool

    /// `hci0`.
    public var name: String { "hci\(number)" }

    /// Creates an adapter of this kind.
    public init(
      number: UInt16, address: String, isUp: Bool = true, hasLE: Bool = true, hasBREDR: Bool = true
    ) {
      self.number = number
      self.address = address
      self.isUp = isUp
      self.hasLE = hasLE
      self.hasBREDR = hasBREDR
    }
  }

  /// Why the kernel won't make an L2CAP socket, as an errno; nil: it does.
  public var l2capError: Int32?
  /// Why the kernel won't make an RFCOMM socket, as an errno; nil: it does.
  public var rfcommError: Int32?
  /// Why the adapters can't be listed, as an errno; nil: they can.
  public var listError: Int32?
  /// In the order of their numbers.
  public var adapters: [Adapter]
  /// Whether anything answers SDP queries; nil if only a privileged process can tell.
  public var servesSDP: Bool?

  /// The kernel's own limit (HCI_MAX_DEV).
  private static let adapterLimit = 16

  /// Reads the kernel's state, which takes no time.
  public init() {
    func failure(_ code: Int32) -> Int32? { code == 0 ? nil : code }
    l2capError = failure(piconet_probe_l2cap())
    rfcommError = failure(piconet_probe_rfcomm())
    var found = [piconet_adapter](repeating: piconet_adapter(), count: Self.adapterLimit)
    let count = piconet_adapters(&found, Int32(found.count))
    listError = count < 0 ? errno : nil
    adapters = found.prefix(Int(max(0, count))).map(Adapter.init).sorted { $0.number < $1.number }
    let served = piconet_sdp_is_served()
    servesSDP = served < 0 ? nil : served > 0
  }

  /// Takes facts that were gathered elsewhere.
  public init(l2capError: Int32?, rfcommError: Int32?, listError: Int32?, adapters: [Adapter], servesSDP: Bool?) {
    self.l2capError = l2capError
    self.rfcommError = rfcommError
    self.listError = listError
    self.adapters = adapters
    self.servesSDP = servesSDP
  }
}

extension BluetoothProbe.Adapter {
  init(_ adapter: piconet_adapter) {
    self.init(
      number: adapter.index, address: "\(BluetoothAddress(rawValue: adapter.device))", isUp: adapter.is_up != 0,
      hasLE: adapter.has_le != 0, hasBREDR: adapter.has_bredr != 0)
  }
}
