import PiconetEngine
import PiconetSDP

/// Selects the adapter that a configuration means at the moment: adapters come, go, and are switched on and off.
struct AdapterPicker {
  private let wanted: BluetoothConfiguration.Adapter
  private let read: AdapterTable.Reading
  /// For any adapter: the one that finds others, since its peers may be out of another adapter's reach. Nil: Linux
  /// takes the latest one of those that are on.
  var preferred: BluetoothAddress?

  init(_ wanted: BluetoothConfiguration.Adapter, read: @escaping AdapterTable.Reading) {
    self.wanted = wanted
    self.read = read
  }

  /// Returns the address to which a dial is bound.
  /// - Throws: `.notAvailable` if the adapter is not there, or off.
  func source(for kind: SocketKind, to device: BluetoothAddress? = nil) throws(LinkFailure) -> SocketEnd {
    if wanted == .any { return SocketEnd(device: anyDevice(for: kind, to: device), port: 0) }
    let table = try read()
    if let problem = problem(in: table, kind) { throw problem }
    return SocketEnd(device: table.adapter(wanted)?.device ?? SocketEnd.anyDevice, port: 0)
  }

  /// Returns the address to which a listener is bound.
  /// - Throws: `.notAvailable` if no adapter has the configured name.
  func listeningDevice() throws(LinkFailure) -> BluetoothAddress {
    switch wanted {
    case .any: return SocketEnd.anyDevice
    case .address(let device): return device
    case .named(let name):
      guard let adapter = try read().adapter(wanted) else { throw Self.none(named: name) }
      // Bound to no address, the socket would listen on all adapters.
      if adapter.device == SocketEnd.anyDevice {
        throw LinkFailure(.notAvailable, "\(name) has no address yet: it is being set up")
      }
      return adapter.device
    }
  }

  /// Returns the address to which a question is bound, whether the adapter is on or off.
  /// - Throws: `.notAvailable` if the adapter is not there.
  func presentDevice() throws(LinkFailure) -> BluetoothAddress {
    if wanted == .any { return anyDevice(for: .l2cap) }
    let table = try read()
    guard let adapter = table.adapter(wanted), adapter.device != SocketEnd.anyDevice else {
      throw problem(in: table, .l2cap)
        ?? LinkFailure(.notAvailable, "the adapter has no address yet: it is being set up")
    }
    return adapter.device
  }

  /// An adapter does not reach itself, but another one of this machine does.
  private func anyDevice(for kind: SocketKind, to device: BluetoothAddress? = nil) -> BluetoothAddress {
    guard let preferred, preferred != device, let table = try? read(),
      table.adapter(.address(preferred))?.canDo(kind) == true
    else { return SocketEnd.anyDevice }
    return preferred
  }

  /// Returns the adapters at which a listener on all of them can be reached.
  func usable(for kind: SocketKind) -> [BluetoothAddress] {
    ((try? read())?.adapters ?? []).filter { $0.canDo(kind) }.map(\.device)
  }

  /// Explains a failure. If no adapter exists, or none is on, the kernel says "no route to host"; this says which it
  /// is.
  /// - Parameter isAtOnce: whether the call itself failed, before anything went on air.
  func explain(_ failure: LinkFailure, _ kind: SocketKind, isAtOnce: Bool = false) -> LinkFailure {
    if isAtOnce, failure.code == .refused {
      // The kernel's error for a controller that has the feature, but may not use it.
      let what = kind == .le ? "LE" : "BR/EDR"
      return LinkFailure(
        .notAvailable,
        "\(what) is switched off on this adapter: ControllerMode in /etc/bluetooth/main.conf must be dual")
    }
    guard failure.code == .unreachable, let table = try? read() else { return failure }
    return problem(in: table, kind) ?? failure
  }

  private func problem(in table: AdapterTable, _ kind: SocketKind) -> LinkFailure? {
    if table.adapters.isEmpty { return LinkFailure(.notAvailable, "there is no Bluetooth adapter") }
    guard let adapter = table.adapter(wanted) else {
      switch wanted {
      case .named(let name): return Self.none(named: name)
      case .address(let device): return LinkFailure(.notAvailable, "there is no adapter with the address \(device)")
      case .any: return nil
      }
    }
    if !adapter.isUp {
      return LinkFailure(
        .notAvailable, "\(adapter.name) is switched off: bluetoothctl power on, or rfkill unblock bluetooth")
    }
    let candidates = wanted == .any ? table.adapters : [adapter]
    if candidates.contains(where: { $0.canDo(kind) }) { return nil }
    return LinkFailure(.notAvailable, "\(adapter.name) can't do \(kind == .le ? "LE" : "BR/EDR")")
  }

  private static func none(named name: String) -> LinkFailure {
    LinkFailure(.notAvailable, "there is no adapter \(name)")
  }
}
