import PiconetDBusValues
import PiconetSDP

/// The properties of an adapter, as bluetoothd reports them.
public struct BlueZAdapter: Sendable, Hashable {
  /// Such as `/org/bluez/hci0`.
  public let path: String
  public var address: BluetoothAddress?
  /// The name others see: the user's choice or the host's name; at most 248 bytes.
  public var name = ""
  public var isPowered = false
  /// Whether rfkill holds the power off, if this BlueZ reports it.
  public var isBlocked = false
  public var isDiscoverable = false
  /// Whether others may pair with it; bluetoothd makes it so while a pairing agent is registered. nil: not reported.
  public var isPairable: Bool?
  /// In seconds; 0: forever.
  public var discoverableTimeout: UInt32 = 0
  /// Whether any program searches.
  public var isDiscovering = false
  /// The services on this adapter, at most 64.
  public var uuids: Set<BluetoothUUID> = []
  /// `central`, `peripheral`, `central-peripheral`; empty without LE.
  public var roles: [String] = []
  /// How many more LE advertisements may be registered; nil without LE advertising.
  public var advertisementsLeft: Int?
  /// The version of BlueZ, from the adapter's device id: `5.66`.
  public var daemonVersion: String?

  public init(path: String) { self.path = path }

  /// The kernel's name, such as `hci0`.
  public var kernelName: String { path.split(separator: "/").last.map(String.init) ?? "" }

  mutating func set(_ property: String, _ value: DBusValue) {
    switch property {
    case "Address": address = value.text.flatMap(BluetoothAddress.init)
    case "Alias": name = String(decoding: (value.text ?? "").utf8.prefix(248), as: UTF8.self)
    case "Powered": isPowered = value.boolean ?? isPowered
    case "PowerState": isBlocked = value.text == "off-blocked"
    case "Discoverable": isDiscoverable = value.boolean ?? isDiscoverable
    case "Pairable": isPairable = value.boolean ?? isPairable
    case "DiscoverableTimeout": discoverableTimeout = UInt32(exactly: value.integer ?? 0) ?? 0
    case "Discovering": isDiscovering = value.boolean ?? isDiscovering
    case "UUIDs": uuids = Set(value.texts.prefix(64).compactMap(BluetoothUUID.init))
    case "Roles": roles = value.texts.prefix(8).filter { $0.utf8.count <= 32 }
    case "Modalias": daemonVersion = value.text.flatMap(Self.version)
    default: break
    }
  }

  /// Reads the version that BlueZ writes into the device id: `usb:v1D6Bp0246d0542` is 5.66.
  static func version(_ modalias: String) -> String? {
    let text = Array(modalias.utf8.prefix(64))
    guard modalias.hasPrefix("usb:v1D6Bp0246d"), text.count >= 19,
      let number = UInt16(String(decoding: text[15..<19], as: UTF8.self), radix: 16)
    else { return nil }
    let minor = number & 0xFF
    return "\(number >> 8).\(minor < 10 ? "0" : "")\(minor)"
  }
}
