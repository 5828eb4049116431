import PiconetDBus
import PiconetDBusValues
import PiconetRuntime

/// The desktop's notifications on the session's bus (Desktop Notifications Specification 1.2). Close it when it is no
/// longer needed.
package actor NotificationService {
  package enum Outcome: Hashable, Sendable {
    /// A person has chosen the action with this key.
    case chosen(String)
    /// A person or the desktop has dismissed it.
    case dismissed
    /// The task was cancelled, and the notification was withdrawn.
    case withdrawn
    /// It is not shown, or no longer shown, or shown without the actions.
    case failed
  }

  /// A notification that is shown.
  private enum Shown {
    /// Before a task waits for it.
    case begun
    case ended(Outcome)
    case awaited(CheckedContinuation<Outcome, Never>)
  }

  private static let name = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  /// The bus may have to start the service.
  private static let timeout = Duration.seconds(20)

  private let loop: EventLoop
  private var connection: DBusConnection?
  private var shown: [UInt32: Shown] = [:]

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Returns nil without a session bus. Each notification checks whether a service shows it: a desktop may start later,
  /// or restart.
  package static func connect() async -> NotificationService? {
    guard let loop = try? EventLoop(name: "piconet-desktop") else { return nil }
    let service = NotificationService(loop: loop)
    if await service.begin() { return service }
    await service.close()
    return nil
  }

  private init(loop: EventLoop) { self.loop = loop }

  /// Begins without waiting.
  private func begin() -> Bool {
    guard let connection = try? DBusConnection(loop: loop, address: .session) else { return false }
    self.connection = connection
    // Signals from the owner of the name. Another program of this session may send us the same, but such a program can
    // act as its user anyway.
    let signals = connection.match(
      "type='signal',sender='\(Self.name)',path='\(Self.path)',interface='\(Self.name)'"
    ) { [weak self] signal in
      self?.assumeIsolated { $0.arrived(signal) }
    }
    let owners = connection.match(
      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.name)'"
    ) { [weak self] _ in
      // A new owner does not know what the previous one has shown.
      self?.assumeIsolated { $0.endAll() }
    }
    connection.closed = { [weak self] _ in self?.assumeIsolated { $0.lost() } }
    return signals != nil && owners != nil
  }

  /// Ends everything that is shown. Idempotent.
  package func close() {
    for id in shown.keys { takeBack(id) }
    endAll()
    connection?.close()
    connection = nil
    loop.stop()
  }

  /// Whether the bus has a service that shows notifications which a person can answer.
  package func takesActions() async -> Bool {
    guard case .success(let answer) = await call(Self.name, Self.path, "GetCapabilities") else { return false }
    return answer.first?.texts.contains("actions") == true
  }

  /// Shows a notification until a person answers it; cancelling the task withdraws it.
  package func ask(_ notification: DesktopNotification) async -> Outcome {
    guard case .success(let answer) = await call(Self.name, Self.path, "GetCapabilities"),
      let capabilities = answer.first?.texts,
      notification.actions.isEmpty || capabilities.contains("actions"), !Task.isCancelled
    else { return .failed }
    guard let id = await show(notification.arguments(markup: capabilities.contains("body-markup"))) else {
      return .failed
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        switch shown[id] {
        case .begun: shown[id] = .awaited(continuation)
        case .ended(let outcome):
          shown[id] = nil
          continuation.resume(returning: outcome)
        case .awaited, nil: continuation.resume(returning: .failed)
        }
      }
    } onCancel: {
      loop.execute { [weak self] in
        self?.assumeIsolated { service in
          service.takeBack(id)
          service.end(id, .withdrawn)
        }
      }
    }
  }

  /// - Returns: its number, which is entered at once: a person's answer may follow immediately.
  private func show(_ arguments: [DBusValue]) async -> UInt32? {
    let answer = await call(Self.name, Self.path, "Notify", arguments) { [weak self] answer in
      guard let id = Self.number(answer) else { return }
      self?.assumeIsolated { service in
        // A desktop that reuses a number no longer shows the notification that had it before.
        service.end(id, .dismissed)
        service.shown[id] = .begun
      }
    }
    return Self.number(answer)
  }

  /// The number of a notification in the answer to `Notify`.
  private static func number(_ answer: Result<[DBusValue], DBusFailure>) -> UInt32? {
    guard case .success(let values) = answer, case .uint32(let id)? = values.first, id > 0 else { return nil }
    return id
  }

  /// Makes the file manager of the session show files in their folders (org.freedesktop.FileManager1); it is no child
  /// of this process. Without a file manager nothing happens.
  /// - Parameter uris: such as `file:///home/ada/a.jpg`.
  package func showInFileManager(_ uris: [String]) async {
    let name = "org.freedesktop.FileManager1"
    _ = await call(name, "/org/freedesktop/FileManager1", "ShowItems", [.strings(uris), .string("")])
  }

  /// Makes the desktop open a file with the program that its user has chosen for such files
  /// (org.freedesktop.portal.OpenURI); that program is no child of this process.
  /// - Parameter file: a descriptor, open for reading.
  /// - Returns: false if no such service exists.
  package func open(_ file: Int32) async -> Bool {
    let portal = "org.freedesktop.portal"
    let answer = await call(
      "\(portal).Desktop", "/org/freedesktop/portal/desktop", "OpenFile",
      [.string(""), .descriptor(file), .properties([:])], of: "\(portal).OpenURI")
    if case .success = answer { return true }
    return false
  }

  /// - Parameters:
  ///   - name: the name of the service.
  ///   - interface: nil: the interface has the service's name.
  ///   - came: called with the answer, on the loop.
  private func call(
    _ name: String, _ path: String, _ member: String, _ arguments: [DBusValue] = [], of interface: String? = nil,
    came: @escaping (Result<[DBusValue], DBusFailure>) -> Void = { _ in }
  ) async -> Result<[DBusValue], DBusFailure> {
    await withCheckedContinuation { continuation in
      guard let connection else {
        return continuation.resume(returning: .failure(DBusFailure(DBusFailure.disconnected)))
      }
      connection.call(name, path, interface ?? name, member, arguments, timeout: Self.timeout, starts: true) { answer in
        came(answer)
        continuation.resume(returning: answer)
      }
    }
  }

  private func takeBack(_ id: UInt32) {
    guard shown[id] != nil else { return }
    connection?.call(
      Self.name, Self.path, Self.name, "CloseNotification", [.uint32(id)], timeout: Self.timeout
    ) { _ in }
  }

  private func arrived(_ signal: DBusArrival) {
    guard case .uint32(let id)? = signal.arguments.first else { return }
    switch signal.member {
    case "ActionInvoked":
      guard signal.arguments.count > 1, let key = signal.arguments[1].text else { return }
      end(id, .chosen(key))
    case "NotificationClosed": end(id, .dismissed)
    default: break
    }
  }

  /// The first end counts.
  private func end(_ id: UInt32, _ outcome: Outcome) {
    switch shown[id] {
    case .begun: shown[id] = .ended(outcome)
    case .awaited(let continuation):
      shown[id] = nil
      continuation.resume(returning: outcome)
    case .ended, nil: break
    }
  }

  private func endAll() { for id in shown.keys.sorted() { end(id, .failed) } }

  private func lost() {
    connection = nil
    endAll()
  }
}
