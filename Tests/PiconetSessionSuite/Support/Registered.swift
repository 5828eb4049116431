/// What bluetoothd serves and advertises at the first adapter; counted in the virtual machine only, where nothing else
/// changes it.
struct Registered: Equatable {
  /// Classes of service records.
  var services: Int
  var advertisements: Int
  /// How many more it can advertise.
  var freeAdvertisements: Int

  static func now() -> Registered? {
    guard Holdings.countsRegistrations, let adapter = SuiteTransport.adapters.first else { return nil }
    func properties(of interface: String) -> [Substring] {
      Holdings.output(
        "dbus-send --system --print-reply=literal --dest=org.bluez /org/bluez/\(adapter) "
          + "org.freedesktop.DBus.Properties.GetAll string:org.bluez.\(interface) 2>&1"
      ).split { $0 == " " || $0 == "\n" }
    }
    let manager = properties(of: "LEAdvertisingManager1")
    func number(_ name: String) -> Int {
      guard let place = manager.firstIndex(of: name[...]) else { return 0 }
      return manager[place...].lazy.compactMap { Int($0) }.first ?? 0
    }
    return Registered(
      services: properties(of: "Adapter1").count { $0.count == 36 && $0.count { $0 == "-" } == 4 },
      advertisements: number("ActiveInstances"), freeAdvertisements: number("SupportedInstances"))
  }
}
