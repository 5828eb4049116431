import PiconetEngine
import PiconetSDP

/// All Bluetooth settings of a node.
public struct BluetoothConfiguration: Sendable, Hashable {
  /// Which adapter is used.
  public enum Adapter: Sendable, Hashable {
    /// Whatever adapter there is, including one that appears later; if there are several, the first one that is
    /// powered.
    case any
    /// By the kernel's name, such as `hci0`.
    case named(String)
    case address(BluetoothAddress)

    /// `hci` and a number, or an address; anything else gives nil.
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

  /// What finds other devices and makes this one known to them.
  public enum Finder: Sendable, Hashable {
    /// bluetoothd where it runs, otherwise the kernel alone if we may.
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
  /// Which of `l2cap`, `rfcomm` and `le` are used. Default: all.
  public var transports = Set(TransportKind.bluetooth)
  /// Whether BlueZ is asked for pairing and link encryption too. Default: no; TLS protects the link from its first
  /// byte.
  public var requiresPairing = false
  /// The session id; the service UUID is derived from it.
  public var sessionID: String

  public init(sessionID: String) { self.sessionID = sessionID }
}
