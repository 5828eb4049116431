import CPiconetBluetooth
import PiconetSDP

extension BluetoothSocket {
  /// Whether there is a link that a connect of this socket to a device goes over, so that what was asked there will be answered.
  func hasLink(to device: BluetoothAddress) -> Bool {
    let wanted = kind == .le ? piconet_link_le : piconet_link_bredr
    return links(to: device) & Int32(wanted.rawValue) != 0
  }

  /// Whether a connect of this socket waits in vain: the device has connected to us over LE meanwhile, and Linux (6.1 to 6.12) gives up its own
  /// attempt then, but tells nobody who waits for it. Whoever connects next waits with it, until it is closed.
  func isStranded(to device: BluetoothAddress) -> Bool {
    guard kind == .le else { return false }
    let both = Int32(piconet_link_le.rawValue | piconet_link_le_pending.rawValue)
    return links(to: device) & both == both
  }

  private func links(to device: BluetoothAddress) -> Int32 {
    guard let own = localEnd?.device, let adapter = try? AdapterTable.read().adapter(.address(own)),
      let number = UInt16(adapter.name.dropFirst("hci".count))
    else { return 0 }
    return piconet_links(number, device.rawValue)
  }
}
