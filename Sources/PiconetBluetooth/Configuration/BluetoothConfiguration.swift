import PiconetEngine
import PiconetSDP

/// All Bluetooth settings of a node.
public struct BluetoothConfiguration: Sendable, Hashable {
  /// The adapter to use.
  public enum Adapter: Sendable, Hashable {
    /// Any adapter, including one that appears later; of several, the first that is powered.
    case any
    /// The adapter with the kernel's name, such as `hci0`.
    case named(String)
    case address(BluetoothAddress)

    /// Reads `hci` and a number, or an address; nil for any other text.
    public init?(_ text: String) {
      if let address = BluetoothAddress(text) {
        self = .address(address)
      } else if text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)), text == "hci\(number)" {
        self = .named(text)
      } else {
        return nil
      }
    }
  }

  /// The way to find other devices and to make this one known to them.
  public enum Finder: Sendable, Hashable {
    /// bluetoothd where it runs, otherwise the kernel alone if this process may.
    case automatic
    /// bluetoothd only.
    case daemon
    /// The kernel alone: HCI inquiry. Needs CAP_NET_ADMIN and CAP_NET_RAW.
    case headless
  }

  /// Default: any.
  public var adapter = Adapter.any
  /// Default: automatic.
  public var finder = Finder.automatic
  /// The transports to use, of `l2cap`, `rfcomm` and `le`. Default: all.
  public var transports = Set(TransportKind.bluetooth)
  /// Whether BlueZ is asked for pairing and link encryption too. Default: no; TLS protects the link from its first
  /// byte.
  public var requiresPairing = false
  /// The session id; the service UUID is derived from it.
  public var sessionID: String

  public init(sessionID: String) { self.sessionID = sessionID }
}
