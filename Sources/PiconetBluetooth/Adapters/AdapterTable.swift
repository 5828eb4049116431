import CPiconetBluetooth
import Glibc
import PiconetEngine
import PiconetSDP

/// The adapters of this host, in the order of their numbers.
public struct AdapterTable: Sendable, Hashable {
  typealias Reading = () throws(LinkFailure) -> AdapterTable

  /// At most 16, the kernel's own limit for its list.
  public static let limit = 16
  public var adapters: [Adapter]

  public init(_ adapters: [Adapter]) { self.adapters = adapters }

  /// Reads the kernel's list, which needs no privilege.
  /// - Throws: `.notAvailable` if the kernel has no Bluetooth.
  public static func read() throws(LinkFailure) -> AdapterTable {
    var count: Int32 = 0
    var error: Int32 = 0
    let found = [piconet_adapter](unsafeUninitializedCapacity: limit) { buffer, initialized in
      count = piconet_adapters(buffer.baseAddress, Int32(limit))
      error = errno
      initialized = Int(max(count, 0))
    }
    if count < 0 { throw LinkFailure(bluetooth: "list of adapters", number: error) }
    return AdapterTable(
      found.sorted { $0.index < $1.index }.map {
        Adapter(
          name: "hci\($0.index)", device: BluetoothAddress(rawValue: $0.device), isUp: $0.is_up != 0,
          hasBREDR: $0.has_bredr != 0, hasLE: $0.has_le != 0)
      })
  }

  /// Returns the adapter that a configuration means. For `any`, the first that is on, otherwise the first. Nil: no such
  /// adapter exists.
  public func adapter(_ wanted: BluetoothConfiguration.Adapter) -> Adapter? {
    switch wanted {
    case .any: adapters.first(where: \.isUp) ?? adapters.first
    case .named(let name): adapters.first { $0.name == name }
    case .address(let device): adapters.first { $0.device == device }
    }
  }
}
