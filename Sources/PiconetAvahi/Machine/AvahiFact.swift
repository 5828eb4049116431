import PiconetDBusValues
import PiconetDNSSD

/// What the machine hears.
enum AvahiFact: Sendable, Hashable {
  case errand(ResponderErrand)
  /// The bus can't be reached, or the connection to it has broken.
  case busFailed(DBusFailure)
  /// The unique name of the program that has Avahi's name on the bus; nil: there is no such program.
  case owner(String?)
  case answer(AvahiCall, Result<[DBusValue], DBusFailure>)
  case signal(path: String, interface: String, member: String, arguments: [DBusValue])
  /// The time of `nextDeadline` has come.
  case time
}
