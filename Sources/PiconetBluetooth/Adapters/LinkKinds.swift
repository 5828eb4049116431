import CPiconetBluetooth
import PiconetSDP

/// The kinds of links that an adapter has to a device.
struct LinkKinds: OptionSet {
  let rawValue: UInt32

  static let bredr = LinkKinds(rawValue: piconet_link_bredr.rawValue)
  static let le = LinkKinds(rawValue: piconet_link_le.rawValue)
  /// The kernel is about to connect to it over LE.
  static let lePending = LinkKinds(rawValue: piconet_link_le_pending.rawValue)

  init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Reads the kernel's present links; none if they can't be read.
  init(from adapter: BluetoothAddress, to device: BluetoothAddress) {
    let number = (try? AdapterTable.read())?.adapter(.address(adapter))?.number
    rawValue = number.map { UInt32(piconet_links($0, device.rawValue)) } ?? 0
  }
}
