import PiconetDBusValues
import PiconetDNSSD

/// The inputs of the machine.
enum AvahiFact: Sendable, Hashable {
  case errand(ResponderErrand)
  /// The bus can't be reached, or the connection to it has broken.
  case busFailed(DBusFailure)
  /// The unique name of the program that has Avahi's name on the bus; nil: no program has it.
  case owner(String?)
  case answer(AvahiCall, Result<[DBusValue], DBusFailure>)
  case signal(path: String, interface: String, member: String, arguments: [DBusValue])
  /// The time of `nextDeadline` has come.
  case time
}
