import CSystemd
import Glibc
import PiconetDBusValues
import PiconetEngine
import PiconetRuntime

/// A connection to a message bus, by sd-bus, driven by the loop and confined to it. Nothing in it blocks.
package final class DBusConnection: DescriptorHandler {
  package enum Address: Sendable, Hashable {
    /// The system bus; DBUS_SYSTEM_BUS_ADDRESS names another one.
    case system
    /// The bus of this user's session: DBUS_SESSION_BUS_ADDRESS, or `bus` in XDG_RUNTIME_DIR.
    case session
    case custom(String)
  }

  /// The most messages taken in one round of the loop; the rest waits for the next.
  package static let messagesPerRound = 64
  /// The most calls under way.
  package static let callLimit = 64

  private let loop: EventLoop
  private var bus: OpaquePointer?
  private var watch: DescriptorWatch?
  private var timer: LoopTimer?
  private var slots: [UInt64: DBusSlot] = [:]
  private var lastID: UInt64 = 0
  private var isProcessing = false
  /// Called once, when the bus is lost; not after `close`.
  package var closed: ((DBusFailure) -> Void)?

  /// The number of calls, matches and objects that are held.
  package var slotCount: Int { slots.count }
  package var callCount: Int { slots.values.count { if case .call = $0.purpose { true } else { false } } }

  /// Connects; the handshake takes place while the loop goes on.
  /// - Throws: if no bus is at this address, or it refuses us.
  package init(loop: EventLoop, address: Address) throws(DBusFailure) {
    self.loop = loop
    let opened: Int32
    switch address {
    case .system: opened = sd_bus_open_system(&bus)
    case .session: opened = sd_bus_open_user(&bus)
    case .custom(let text):
      var result = sd_bus_new(&bus)
      if result >= 0 { result = sd_bus_set_address(bus, text) }
      if result >= 0 { result = sd_bus_set_bus_client(bus, 1) }
      if result >= 0 { result = sd_bus_start(bus) }
      opened = result
    }
    guard opened >= 0, bus != nil else {
      bus = sd_bus_close_unref(bus)
      throw Self.failure(opened)
    }
    let descriptor = sd_bus_get_fd(bus)
    timer = LoopTimer(loop: loop) { [weak self] in self?.process() }
    do {
      watch = try loop.watch(descriptor, for: .read, handler: self)
    } catch {
      close()
      throw DBusFailure(DBusFailure.disconnected, "\(error)")
    }
    update()
  }

  deinit { close() }

  /// Ends everything without a further message; no handler is called any more. A daemon drops its state for this
  /// connection by itself. Idempotent.
  package func close() {
    closed = nil
    watch?.cancel()
    watch = nil
    timer?.set(nil)
    timer = nil
    for slot in Array(slots.values) { slot.cancel() }
    // sd_bus_process, further up the stack, holds a reference of its own.
    bus = sd_bus_close_unref(bus)
  }

  // MARK: calls

  /// Calls a method. `completion` is called exactly once, on the loop, never from within this call, unless the
  /// connection is closed before.
  /// - Parameter starts: whether the bus may start a service that is not running; otherwise the system decides.
  package func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = [],
    timeout: Duration, starts: Bool = false, completion: @escaping (Result<[DBusValue], DBusFailure>) -> Void
  ) {
    var failure = DBusFailure(DBusFailure.disconnected)
    if bus != nil, callCount >= Self.callLimit {
      failure = DBusFailure("org.freedesktop.DBus.Error.LimitsExceeded", "more than \(Self.callLimit) calls under way")
    } else if bus != nil {
      do throws(DBusMessage.Refusal) {
        try send(destination, path, interface, member, arguments, timeout, starts, completion)
        update()
        return
      } catch {
        failure = Self.failure(error.code)
      }
    }
    loop.executeLater { completion(.failure(failure)) }
  }

  private func send(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue],
    _ timeout: Duration, _ starts: Bool, _ completion: @escaping (Result<[DBusValue], DBusFailure>) -> Void
  ) throws(DBusMessage.Refusal) {
    var message: OpaquePointer?
    defer { sd_bus_message_unref(message) }
    try DBusMessage.check(sd_bus_message_new_method_call(bus, &message, destination, path, interface, member))
    guard let message else { throw DBusMessage.Refusal(code: -ENOMEM) }
    try DBusMessage.check(sd_bus_message_set_auto_start(message, starts ? 1 : 0))
    for argument in arguments { try DBusMessage.append(argument, to: message) }
    let slot = add(.call(completion))
    let microseconds = UInt64(max(1, timeout.wholeNanoseconds / 1000))
    let result = sd_bus_call_async(bus, &slot.pointer, message, Self.trampoline, Self.userdata(slot), microseconds)
    if result < 0 {
      slot.cancel()
      throw DBusMessage.Refusal(code: result)
    }
  }

  // MARK: signals and objects

  /// Calls `handler` for each message that fits the rule (D-Bus Specification, "Match Rules"), until the slot is
  /// cancelled.
  package func match(_ rule: String, _ handler: @escaping (DBusArrival) -> Void) -> DBusSlot? {
    guard bus != nil else { return nil }
    let slot = add(.match(handler))
    // No answer is awaited: a refusal means that the bus is at its limit, and then nothing comes.
    let result = sd_bus_add_match_async(
      bus, &slot.pointer, rule, Self.trampoline, { _, _, _ in 0 }, Self.userdata(slot))
    update()
    if result >= 0 { return slot }
    slot.cancel()
    return nil
  }

  /// Lets others call an object, until the slot is cancelled.
  package func export(_ object: DBusObject, at path: String) -> DBusSlot? {
    guard bus != nil else { return nil }
    let slot = add(.object(object))
    if sd_bus_add_object(bus, &slot.pointer, path, Self.trampoline, Self.userdata(slot)) >= 0 { return slot }
    slot.cancel()
    return nil
  }

  private func add(_ purpose: DBusSlot.Purpose) -> DBusSlot {
    lastID += 1
    let slot = DBusSlot(id: lastID, purpose: purpose, connection: self)
    slots[lastID] = slot
    return slot
  }

  func forget(_ slot: DBusSlot) { slots[slot.id] = nil }

  private static func userdata(_ slot: DBusSlot) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(slot).toOpaque()
  }

  private static let trampoline: sd_bus_message_handler_t = { message, userdata, _ in
    guard let message, let userdata else { return 0 }
    // The table holds the slot as long as sd-bus has the pointer; this reference outlives a cancel in the handler.
    return Unmanaged<DBusSlot>.fromOpaque(userdata).takeUnretainedValue().arrived(message)
  }

  // MARK: the loop

  package func descriptorIsReady(_ readiness: Readiness) { process() }

  private func process() {
    // A handler that makes a call must not process further messages within itself.
    guard !isProcessing else { return }
    isProcessing = true
    let failure = takeMessages()
    // Before the update, which is skipped during processing: handlers may have made calls with timeouts of their own.
    isProcessing = false
    if let failure { lost(failure) } else { update() }
  }

  /// - Returns: a negative errno when the bus is lost.
  private func takeMessages() -> Int32? {
    for _ in 0..<Self.messagesPerRound {
      guard let bus else { return nil }
      let result = sd_bus_process(bus, nil)
      if result < 0 { return result }
      if result == 0 { break }
    }
    guard let bus, sd_bus_is_open(bus) <= 0 else { return nil }
    return -ENOTCONN
  }

  private func lost(_ code: Int32) {
    guard bus != nil else { return }
    let pending = slots.values.sorted { $0.id < $1.id }
    let closed = self.closed
    close()
    let failure = DBusFailure(DBusFailure.disconnected, String(cString: strerror(-code)))
    for slot in pending { if case .call(let completion) = slot.purpose { completion(.failure(failure)) } }
    closed?(failure)
  }

  /// Makes the loop wait for the events that sd-bus waits for.
  private func update() {
    guard let bus, let watch, let timer, !isProcessing else { return }
    let events = sd_bus_get_events(bus)
    var interest: Readiness = []
    if events < 0 || events & Int32(POLLIN) != 0 { interest.insert(.read) }
    if events > 0, events & Int32(POLLOUT) != 0 { interest.insert(.write) }
    watch.setInterest(interest)
    var microseconds: UInt64 = 0
    if sd_bus_get_timeout(bus, &microseconds) < 0 {
      // It is broken: the next round finds out how.
      timer.set(after: .zero)
    } else if microseconds == .max {
      timer.set(nil)
    } else {
      // On CLOCK_MONOTONIC, like the loop's clock; 0 if messages have already been read.
      timer.set(Instant(nanoseconds: microseconds.multipliedReportingOverflow(by: 1000).partialValue))
    }
  }

  // MARK: messages

  static func result(of message: OpaquePointer) -> Result<[DBusValue], DBusFailure> {
    if let error = sd_bus_message_get_error(message) {
      return .failure(
        DBusFailure(
          error.pointee.name.map { String(cString: $0) } ?? "", error.pointee.message.map { String(cString: $0) } ?? "")
      )
    }
    return DBusMessage.arguments(of: message)
  }

  static func arrival(_ message: OpaquePointer, _ arguments: [DBusValue]) -> DBusArrival {
    func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
    return DBusArrival(
      sender: text(sd_bus_message_get_sender(message)), path: text(sd_bus_message_get_path(message)),
      interface: text(sd_bus_message_get_interface(message)), member: text(sd_bus_message_get_member(message)),
      arguments: arguments)
  }

  static func reply(to call: OpaquePointer, _ answer: DBusObject.Answer) {
    // If no reply is expected there is no one to answer, and if one can't be made the caller is left to its timeout.
    guard sd_bus_message_get_expect_reply(call) > 0 else { return }
    var message: OpaquePointer?
    defer { sd_bus_message_unref(message) }
    switch answer {
    case .success(let values):
      guard sd_bus_message_new_method_return(call, &message) >= 0, let message else { return }
      for value in values { if (try? DBusMessage.append(value, to: message)) == nil { return } }
    case .failure(let failure):
      var error = sd_bus_error()
      defer { sd_bus_error_free(&error) }
      sd_bus_error_set(&error, failure.name, failure.message)
      guard sd_bus_message_new_method_error(call, &message, &error) >= 0 else { return }
    }
    sd_bus_send(nil, message, nil)
  }

  static func failure(_ code: Int32) -> DBusFailure {
    DBusFailure(
      code == -EACCES || code == -EPERM ? DBusFailure.accessDenied : DBusFailure.disconnected,
      String(cString: strerror(-code)))
  }
}
