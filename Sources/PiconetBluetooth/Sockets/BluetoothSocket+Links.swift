import CPiconetBluetooth
import PiconetSDP

extension BluetoothSocket {
  /// Whether there is a link that a connect of this socket to a device goes over, so that what was asked there will be answered.
  func hasLink(to device: BluetoothAddress) -> Bool {
    guard let own = localEnd?.device, let adapter = try? AdapterTable.read().adapter(.address(own)),
      let number = UInt16(adapter.name.dropFirst("hci".count))
    else { return false }
    let wanted = kind == .le ? piconet_link_le : piconet_link_bredr
    return piconet_links(number, device.rawValue) & Int32(wanted.rawValue) != 0
  }
}
