import Glibc
import Piconet

/// The Bluetooth of this machine, as far as options that ask for it are concerned.
struct BluetoothHere: Hashable, Sendable {
  struct Adapter: Hashable, Sendable {
    /// `hci0`.
    var name: String
    var address: String
  }

  /// Why there is no Bluetooth at all; nil: the kernel has it.
  var lack: String?
  var adapters: [Adapter]

  /// The state of this machine.
  static var current: BluetoothHere {
    #if Bluetooth
      let probe = BluetoothProbe()
      let lack = probe.l2capError.map { "this kernel has no Bluetooth (\(ErrorNumber.text($0)))" }
      return BluetoothHere(lack: lack, adapters: probe.adapters.map { Adapter(name: $0.name, address: $0.address) })
    #else
      return BluetoothHere(lack: "this build of Piconet is without Bluetooth", adapters: [])
    #endif
  }

  /// Returns why the options can't be satisfied here; nil: they can, or they don't ask for Bluetooth.
  func refusal(
    of options: TransportOptions, address: DialPlace? = nil
  ) -> (word: String, message: String)? {
    guard options.asksForBluetooth(address) else { return nil }
    if let lack { return ("no-bluetooth", "Bluetooth was asked for, and \(lack)") }
    guard !adapters.isEmpty else {
      return ("no-adapter", "Bluetooth was asked for, and this machine has no Bluetooth adapter")
    }
    guard let adapter = options.adapter, !adapters.contains(where: { $0.name == adapter || $0.address == adapter })
    else { return nil }
    let list = adapters.map { "\($0.name) (\($0.address))" }.joined(separator: ", ")
    return ("no-adapter", "no Bluetooth adapter is called \(adapter); there is: \(list)")
  }
}
