import PiconetBlueZ
import PiconetDBus
import PiconetDBusValues
import PiconetEngine
import PiconetRuntime

/// bluetoothd on the bus: its name, its signals, its methods. Confined to the loop.
///
/// The absence of a bus or a daemon is a state, not an error: the bus is tried again, and the daemon is waited for.
final class BlueZBus {
  /// How long to wait before trying an absent bus again.
  static let retry = Duration.seconds(5)
  private static let bus = "org.freedesktop.DBus"

  enum Event {
    /// The unique name of the daemon; nil: the daemon has ended.
    case daemon(String?)
    case signal(BlueZFact)
  }

  private let loop: EventLoop
  private let address: DBusConnection.Address
  private let objects: [(path: String, object: DBusObject)]
  private var timer: LoopTimer?
  private var isClosed = false
  private(set) var connection: DBusConnection?
  /// The daemon's unique name.
  private(set) var owner: String?
  private(set) var failure: DBusFailure?
  private let handler: (Event) -> Void

  /// - Parameter objects: the objects exported on each connection; only the daemon may call them.
  init(
    loop: EventLoop, address: DBusConnection.Address, objects: [(path: String, object: DBusObject)],
    handler: @escaping (Event) -> Void
  ) {
    self.loop = loop
    self.address = address
    self.objects = objects
    self.handler = handler
    timer = LoopTimer(loop: loop) { [weak self] in self?.open() }
    timer?.set(after: .zero)
  }

  func close() {
    isClosed = true
    timer?.set(nil)
    connection?.close()
    connection = nil
    owner = nil
  }

  func call(_ call: BlueZCall, completion: @escaping (Result<[DBusValue], DBusFailure>) -> Void) {
    guard let connection else {
      return loop.executeLater { completion(.failure(DBusFailure(DBusFailure.disconnected))) }
    }
    connection.call(
      BlueZNames.service, call.path, call.interface, call.member, call.arguments, timeout: call.timeout,
      completion: completion)
  }

  private func open() {
    guard !isClosed, connection == nil else { return }
    do throws(DBusFailure) {
      let connection = try DBusConnection(loop: loop, address: address)
      connection.closed = { [weak self] failure in self?.lost(failure) }
      self.connection = connection
      failure = nil
      subscribe(connection)
    } catch {
      failure = error
      timer?.set(after: Self.retry)
    }
  }

  private func lost(_ failure: DBusFailure) {
    connection = nil
    self.failure = failure
    timer?.set(after: Self.retry)
    setOwner(nil)
  }

  /// The bus handles our calls in order, so no signal is missed between subscription and list.
  private func subscribe(_ connection: DBusConnection) {
    for (path, object) in objects {
      var guarded = object
      guarded.handle = { [weak self] call in
        guard let owner = self?.owner, call.sender == owner else {
          return .failure(DBusFailure(DBusFailure.accessDenied, "only bluetoothd may call this"))
        }
        return object.handle(call)
      }
      _ = connection.export(guarded, at: path)
    }
    let names = "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged'"
    _ = connection.match("\(names),arg0='\(BlueZNames.service)'") { [weak self] signal in
      // Any program may send something that looks like this signal, but the bus sets the sender.
      guard signal.sender == Self.bus, signal.arguments.count == 3, signal.arguments[0].text == BlueZNames.service
      else { return }
      self?.setOwner(signal.arguments[2].text)
    }
    for (interface, member) in [
      (BlueZNames.objectManagerInterface, "InterfacesAdded"), (BlueZNames.objectManagerInterface, "InterfacesRemoved"),
      (BlueZNames.propertiesInterface, "PropertiesChanged"),
    ] {
      let rule = "type='signal',sender='\(BlueZNames.service)',interface='\(interface)',member='\(member)'"
      _ = connection.match(rule) { [weak self] in self?.signalled($0) }
    }
    connection.call(
      Self.bus, "/org/freedesktop/DBus", Self.bus, "GetNameOwner", [.string(BlueZNames.service)], timeout: .seconds(10)
    ) { [weak self] result in
      // If a daemon came meanwhile, the signal has reported it.
      guard let self, self.owner == nil, case .success(let values) = result else { return }
      self.setOwner(values.first?.text)
    }
  }

  private func setOwner(_ name: String?) {
    let owner = name?.isEmpty == true ? nil : name
    if owner == self.owner || isClosed { return }
    if self.owner != nil, owner != nil { handler(.daemon(nil)) }
    self.owner = owner
    handler(.daemon(owner))
  }

  private func signalled(_ signal: DBusArrival) {
    guard signal.sender == owner else { return }
    let arguments = signal.arguments
    switch signal.member {
    case "InterfacesAdded" where arguments.count == 2:
      guard let path = arguments[0].text else { return }
      handler(.signal(.interfacesAdded(path: path, ObjectTree.interfaces(arguments[1]))))
    case "InterfacesRemoved" where arguments.count == 2:
      guard let path = arguments[0].text else { return }
      handler(.signal(.interfacesRemoved(path: path, arguments[1].texts)))
    case "PropertiesChanged" where arguments.count == 3:
      guard let interface = arguments[0].text else { return }
      handler(
        .signal(
          .propertiesChanged(
            path: signal.path, interface: interface, changed: arguments[1].properties,
            invalidated: arguments[2].texts)))
    default: break
    }
  }
}
