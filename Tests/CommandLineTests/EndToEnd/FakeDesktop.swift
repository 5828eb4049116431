#if Bluetooth
  import CSystemd
  import Foundation
  import PiconetDBusValues
  import Synchronization

  @testable import PiconetBluetooth
  @testable import PiconetDBus
  @testable import PiconetCommandLine

  /// Something that calls itself org.freedesktop.Notifications on a bus, and does as a test says.
  final class FakeDesktop: Sendable {
    struct Shown: Sendable {
      let id: UInt32
      let program: String
      let summary: String
      let body: String
      let actions: [String]
    }

    struct Failure: Error {}

    private struct Signal: Sendable {
      let member: String
      let arguments: [DBusValue]
    }

    private struct State {
      var signals: [Signal] = []
      var lastID: UInt32 = 0
      var isStopping = false
      var hasStopped = false
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    private let capabilities: [String]
    private let state = Mutex(State())
    private let (shown, showing) = AsyncStream<Shown>.makeStream()
    private let (noticed, noticing) = AsyncStream<Shown>.makeStream()
    private let (selected, selecting) = AsyncStream<[String]>.makeStream()
    private let (opened, opening) = AsyncStream<String>.makeStream()
    private let (takenBack, takingBack) = AsyncStream<UInt32>.makeStream()

    /// - Parameters:
    ///   - isImpostor: whether it leaves the name to another one.
    ///   - opens: whether it opens files, as a portal.
    init(
      on address: String, capabilities: [String] = ["body", "body-markup", "actions"], isImpostor: Bool = false,
      opens: Bool = true
    ) throws {
      self.capabilities = capabilities
      var bus: OpaquePointer?
      guard sd_bus_new(&bus) >= 0, sd_bus_set_address(bus, address) >= 0, sd_bus_set_bus_client(bus, 1) >= 0,
        sd_bus_start(bus) >= 0, isImpostor || sd_bus_request_name(bus, Self.name, 0) >= 0,
        isImpostor || sd_bus_request_name(bus, "org.freedesktop.FileManager1", 0) >= 0,
        isImpostor || !opens || sd_bus_request_name(bus, "org.freedesktop.portal.Desktop", 0) >= 0
      else { throw Failure() }
      // From here on the thread's alone.
      let number = UInt(bitPattern: bus)
      Thread.detachNewThread { self.serve(OpaquePointer(bitPattern: number)) }
    }

    /// The next one that is no question.
    func nextNotice() async -> Shown? {
      await limited(to: ToolProcess.patience) { [noticed] in
        for await one in noticed { return one }
        return nil
      }
    }

    /// What a file manager was asked to show.
    func nextSelected() async -> [String]? {
      await limited(to: ToolProcess.patience) { [selected] in
        for await one in selected { return one }
        return nil
      }
    }

    /// The file that it was asked to open.
    func nextOpened() async -> String? {
      await limited(to: ToolProcess.patience) { [opened] in
        for await one in opened { return one }
        return nil
      }
    }

    /// The next question that it was asked to show; nil if none comes in time.
    func next() async -> Shown? {
      await limited(to: ToolProcess.patience) { [shown] in
        for await one in shown { return one }
        return nil
      }
    }

    /// The next one that was taken back.
    func nextTakenBack() async -> UInt32? {
      await limited(to: ToolProcess.patience) { [takenBack] in
        for await one in takenBack { return one }
        return nil
      }
    }

    /// How many it was asked to show.
    var count: UInt32 { state.withLock { $0.lastID } }

    func choose(_ key: String, of id: UInt32) { send("ActionInvoked", [.uint32(id), .string(key)]) }

    /// A person puts it away.
    func putAway(_ id: UInt32) { send("NotificationClosed", [.uint32(id), .uint32(2)]) }

    private func send(_ member: String, _ arguments: [DBusValue]) {
      state.withLock { $0.signals.append(Signal(member: member, arguments: arguments)) }
    }

    /// It dies, with all that it shows.
    func stop() async {
      state.withLock { $0.isStopping = true }
      while !state.withLock({ $0.hasStopped }) { await Task.yield() }
    }

    private func serve(_ bus: OpaquePointer?) {
      while true {
        let (signals, isStopping) = state.withLock { state in
          defer { state.signals = [] }
          return (state.signals, state.isStopping)
        }
        for signal in signals { emit(signal, on: bus) }
        if isStopping { break }
        var message: OpaquePointer?
        let result = sd_bus_process(bus, &message)
        if result < 0 { break }
        if let message { arrived(message) }
        sd_bus_message_unref(message)
        if result == 0 { sd_bus_wait(bus, 10_000) }
      }
      sd_bus_flush_close_unref(bus)
      state.withLock { $0.hasStopped = true }
    }

    private func arrived(_ message: OpaquePointer) {
      let member = sd_bus_message_get_member(message).map { String(cString: $0) }
      if member == "OpenFile" {
        var descriptor: Int32 = -1
        if sd_bus_message_skip(message, "s") >= 0, sd_bus_message_read_basic(message, 0x68, &descriptor) >= 0 {
          let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
          DBusConnection.reply(to: message, .success([.path("/org/freedesktop/portal/desktop/request/1")]))
          opening.yield(path ?? "")
        }
        return
      }
      guard let member, case .success(let arguments) = DBusMessage.arguments(of: message)
      else { return }
      switch member {
      case "GetCapabilities": DBusConnection.reply(to: message, .success([.strings(capabilities)]))
      case "Notify" where arguments.count == 8:
        let id = state.withLock { state in
          state.lastID += 1
          return state.lastID
        }
        DBusConnection.reply(to: message, .success([.uint32(id)]))
        let shown = Shown(
          id: id, program: arguments[0].text ?? "", summary: arguments[3].text ?? "", body: arguments[4].text ?? "",
          actions: arguments[5].texts)
        if shown.actions.contains("accept") { showing.yield(shown) } else { noticing.yield(shown) }
      case "ShowItems":
        DBusConnection.reply(to: message, .success([]))
        selecting.yield(arguments.first?.texts ?? [])
      case "CloseNotification":
        DBusConnection.reply(to: message, .success([]))
        if case .uint32(let id)? = arguments.first { takingBack.yield(id) }
      default: break
      }
    }

    private func emit(_ signal: Signal, on bus: OpaquePointer?) {
      var message: OpaquePointer?
      defer { sd_bus_message_unref(message) }
      guard sd_bus_message_new_signal(bus, &message, Self.path, Self.name, signal.member) >= 0, let message else {
        return
      }
      for argument in signal.arguments { if (try? DBusMessage.append(argument, to: message)) == nil { return } }
      sd_bus_send(bus, message, nil)
    }
  }
#endif
