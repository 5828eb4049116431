#if Bluetooth
  import CPiconetSystem
  import Glibc
  import PiconetBluetooth
  import PiconetSDP

  /// Whether others can connect to an adapter of this machine, because it listens for pages.
  public enum PageScan {
    // <bluetooth/hci.h>: _IOR('H', 211, int); the offset of `flags` in struct hci_dev_info, and one of them.
    private static let getDeviceInfo: UInt = 0x8004_48D3
    private static let infoSize = 92
    private static let flagsOffset = 16
    private static let pageScanFlag: UInt32 = 1 << 3

    public static func isOn(adapter device: BluetoothAddress) -> Bool {
      guard let number = (try? AdapterTable.read())?.adapter(.address(device))?.number else { return false }
      // AF_BLUETOOTH, BTPROTO_HCI
      let descriptor = socket(31, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 1)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      return withUnsafeTemporaryAllocation(byteCount: infoSize, alignment: 4) { info in
        info.initializeMemory(as: UInt8.self, repeating: 0)
        info.storeBytes(of: number, as: UInt16.self)
        guard let base = info.baseAddress, ioctl(descriptor, getDeviceInfo, base) == 0 else { return false }
        return info.load(fromByteOffset: flagsOffset, as: UInt32.self) & pageScanFlag != 0
      }
    }
  }
#endif
