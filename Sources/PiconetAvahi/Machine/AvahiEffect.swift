import PiconetDNSSD

/// The actions that the machine requests, in order.
enum AvahiEffect: Sendable, Hashable {
  case connect
  case disconnect
  case call(AvahiCall)
  case report(ResponderDaemonReport)
}
