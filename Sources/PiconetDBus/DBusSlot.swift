import CSystemd
import PiconetDBusValues

/// An object that sd-bus keeps for this process: a call under way, a match, an exported object. Confined to the loop.
///
/// sd-bus has a pointer to it but no reference: the connection's table holds it until the slot is gone.
package final class DBusSlot {
  enum Purpose {
    case call((Result<[DBusValue], DBusFailure>) -> Void)
    case match((DBusArrival) -> Void)
    case object(DBusObject)
  }

  let id: UInt64
  let purpose: Purpose
  var pointer: OpaquePointer?
  /// Weak: the connection cancels what it still has when it is released.
  private weak var connection: DBusConnection?

  init(id: UInt64, purpose: Purpose, connection: DBusConnection) {
    self.id = id
    self.purpose = purpose
    self.connection = connection
  }

  /// Ends the slot: no function is called any more. Idempotent.
  package func cancel() {
    // The table's reference may be the last one.
    withExtendedLifetime(self) {
      connection?.forget(self)
      pointer = sd_bus_slot_unref(pointer)
    }
  }

  func arrived(_ message: OpaquePointer) -> Int32 {
    switch purpose {
    case .call(let completion):
      cancel()
      completion(DBusConnection.result(of: message))
      return 1
    case .match(let handler):
      guard case .success(let arguments) = DBusMessage.arguments(of: message) else { return 0 }
      handler(DBusConnection.arrival(message, arguments))
      return 0
    case .object(let object):
      let answer = DBusMessage.arguments(of: message).flatMap { object.answer(DBusConnection.arrival(message, $0)) }
      DBusConnection.reply(to: message, answer)
      return 1
    }
  }
}
