import PiconetDBus
import PiconetDBusValues
import PiconetRuntime

/// Avahi on the bus: its name, its signals, its methods. Confined to the loop.
final class AvahiBus {
  enum Event {
    /// The unique name of the daemon; nil: Avahi is not on the bus.
    case owner(String?)
    /// The bus is lost, or has not answered.
    case failed(DBusFailure)
    case signal(DBusArrival)
  }

  private static let bus = "org.freedesktop.DBus"
  private static let noOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
  private static let interfaces = [
    AvahiNames.server, AvahiNames.entryGroup, AvahiNames.browser, AvahiNames.resolver,
  ]
  /// The most calls under way, fewer than the connection takes; further calls wait here.
  private static let callsAtOnce = 32
  private static let timeout = Duration.seconds(10)

  private let connection: DBusConnection
  private let handler: (Event) -> Void
  private var owner: String?
  private var isOwnerKnown = false
  private var callCount = 0
  private var waiting: [(call: AvahiCall, completion: (Result<[DBusValue], DBusFailure>) -> Void)] = []
  /// Returns whether a call that has waited is still wanted.
  var isWanted: (AvahiCall) -> Bool = { _ in true }

  init(
    loop: EventLoop, address: DBusConnection.Address, handler: @escaping (Event) -> Void
  ) throws(DBusFailure) {
    self.handler = handler
    connection = try DBusConnection(loop: loop, address: address)
    connection.closed = { [weak self] in self?.handler(.failed($0)) }
    subscribe()
  }

  func close() {
    waiting = []
    connection.close()
  }

  /// Calls a method, after those before it. `completion` is not called for a call that is no longer wanted.
  func call(_ call: AvahiCall, completion: @escaping (Result<[DBusValue], DBusFailure>) -> Void) {
    waiting.append((call, completion))
    callNext()
  }

  private func callNext() {
    var first = 0
    while first < waiting.count, callCount < Self.callsAtOnce {
      let (call, completion) = waiting[first]
      first += 1
      guard isWanted(call) else { continue }
      callCount += 1
      connection.call(
        AvahiNames.service, call.path, call.interface, call.member, call.arguments, timeout: Self.timeout
      ) { [weak self] result in
        self?.callCount -= 1
        completion(result)
        self?.callNext()
      }
    }
    waiting.removeFirst(first)
  }

  /// The bus handles our calls in order, so no signal is missed between subscription and question.
  private func subscribe() {
    let names = "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged'"
    _ = connection.match("\(names),arg0='\(AvahiNames.service)'") { [weak self] signal in
      // Any program may send something that looks like this signal, but the bus sets the sender.
      guard signal.sender == Self.bus, signal.arguments.count == 3, signal.arguments[0].text == AvahiNames.service
      else { return }
      self?.setOwner(signal.arguments[2].text)
    }
    for interface in Self.interfaces {
      _ = connection.match("type='signal',sender='\(AvahiNames.service)',interface='\(interface)'") {
        [weak self] signal in
        if let self, signal.sender == self.owner { self.handler(.signal(signal)) }
      }
    }
    connection.call(
      Self.bus, "/org/freedesktop/DBus", Self.bus, "GetNameOwner", [.string(AvahiNames.service)],
      timeout: Self.timeout
    ) { [weak self] result in
      // If a daemon came or went meanwhile, the signal has reported it.
      guard let self, !self.isOwnerKnown else { return }
      switch result {
      case .success(let values): self.setOwner(values.first?.text)
      case .failure(let failure) where failure.name == Self.noOwner: self.setOwner(nil)
      case .failure(let failure): self.handler(.failed(failure))
      }
    }
  }

  private func setOwner(_ name: String?) {
    owner = name?.isEmpty == true ? nil : name
    isOwnerKnown = true
    handler(.owner(owner))
  }
}
