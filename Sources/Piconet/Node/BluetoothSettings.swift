/// The settings of a node's transports over Bluetooth.
public struct BluetoothSettings: Sendable, Hashable {
  /// The way to find other devices over Bluetooth and to make this one known to them.
  @nonexhaustive
  public enum Finder: Sendable, Hashable {
    /// bluetoothd where it runs, otherwise the kernel alone if this process may.
    case automatic
    /// bluetoothd only.
    case daemon
    /// The kernel alone, by HCI inquiry: needs CAP_NET_ADMIN and CAP_NET_RAW.
    case headless
  }

  /// The adapter, by the kernel's name such as `hci0` or by its address; nil: any adapter, including one that appears
  /// later.
  public var adapter: String?
  /// The way to find other devices. Default: automatic.
  public var finder = Finder.automatic
  /// Whether BlueZ is asked for pairing and link encryption as well. Default: no; TLS protects every link from its
  /// first byte.
  public var requiresPairing = false

  /// The defaults.
  public init() {}
}
