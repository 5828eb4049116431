import PiconetDBusValues
import PiconetSDP

/// The properties of a remote device, as bluetoothd reports them. All of them are the device's own claims.
public struct BlueZDevice: Sendable, Hashable {
  public let path: String
  public var address: BluetoothAddress?
  public var isRandom = false
  /// The device's own words, as they came; at most 248 bytes.
  public var name = ""
  /// At most 64.
  public var uuids: Set<BluetoothUUID> = []
  /// In dBm; nil: not reported since the last scan.
  public var signalStrength: Int16?
  /// The signal strength if it was measured: in HCI 127 stands for an unknown one.
  public var measuredStrength: Int16? { signalStrength == 127 ? nil : signalStrength }
  /// Whether it has ever had a strength: some controllers report none.
  public private(set) var hasToldStrength = false
  public var isConnected = false
  /// Whether BlueZ remembers it without hearing it.
  public var isKept: Bool { isPaired || isTrusted }
  private var isPaired = false
  private var isTrusted = false
  /// The data for services in the device's advertisements: at most 8 services, 32 bytes each.
  public var serviceData: [BluetoothUUID: [UInt8]] = [:]

  public init(path: String) { self.path = path }

  /// The path of the adapter that knows it.
  public var adapterPath: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

  /// Whether a scan hears it: by its signal strength or, if the controller reports none, because BlueZ lists it. Half a
  /// minute after last hearing a device, BlueZ forgets it unless it keeps it.
  public var isHeard: Bool { signalStrength != nil || (!hasToldStrength && !isKept) }

  /// Whether it may announce more than `uuids`. Once BlueZ has read a device's services over a link, it goes on listing
  /// those for as long as it knows the device, whatever the device announces later.
  public var mayAnnounceMore: Bool { signalStrength != nil && !isRandom && !uuids.isEmpty }

  mutating func set(_ property: String, _ value: DBusValue) {
    switch property {
    case "Address": address = value.text.flatMap(BluetoothAddress.init)
    case "AddressType": isRandom = value.text == "random"
    case "Alias": name = String(decoding: (value.text ?? "").utf8.prefix(248), as: UTF8.self)
    case "UUIDs": uuids = Set(value.texts.prefix(64).compactMap(BluetoothUUID.init))
    case "RSSI":
      signalStrength = value.integer.flatMap { Int16(exactly: $0) }
      if signalStrength != nil { hasToldStrength = true }
    case "Paired": isPaired = value.boolean ?? isPaired
    case "Trusted": isTrusted = value.boolean ?? isTrusted
    case "Connected": isConnected = value.boolean ?? isConnected
    case "ServiceData":
      serviceData = [:]
      for entry in value.entries.prefix(8) {
        guard let uuid = entry.key.text.flatMap(BluetoothUUID.init), case .bytes(let bytes) = entry.value.plain
        else { continue }
        serviceData[uuid] = Array(bytes.prefix(32))
      }
    default: break
    }
  }

  mutating func invalidate(_ property: String) {
    switch property {
    case "RSSI": signalStrength = nil
    case "ServiceData": serviceData = [:]
    case "UUIDs": uuids = []
    default: break
    }
  }
}
