import PiconetDNSSD

/// What the machine wants done, in order.
enum AvahiEffect: Sendable, Hashable {
  case connect
  case disconnect
  case call(AvahiCall)
  case report(ResponderDaemonReport)
}
