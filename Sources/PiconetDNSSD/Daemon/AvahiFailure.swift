/// Why Avahi does not publish for us where it keeps the port of Multicast DNS to itself.
@nonexhaustive
public enum AvahiFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// This build can't speak D-Bus: it was made without the package trait `Bluetooth`.
  case notBuilt
  /// The system bus can't be reached; the system's words.
  case noBus(String)
  /// Nothing on the system bus has Avahi's name.
  case notOnBus
  /// The bus's policy or Avahi refuses; its words.
  case refused(String)
  /// No answer has come in time.
  case silent
  /// Avahi has taken the service, but does not publish it over this family.
  case unpublished

  /// The failure, in a clause without an end.
  public var description: String {
    switch self {
    case .notBuilt: "this build can't publish through Avahi, as it was made without D-Bus"
    case .noBus(let words): "Avahi can't be asked to publish, as the system bus can't be reached (\(words))"
    case .notOnBus: "nothing answers to Avahi's name on the system bus"
    case .refused(let words): "Avahi refuses to publish for us (\(words))"
    case .silent: "Avahi does not answer on the system bus"
    case .unpublished: "Avahi does not publish there"
    }
  }

  /// What a person can do about it.
  public var advice: String {
    switch self {
    case .notBuilt: "build with the trait Bluetooth"
    case .noBus: "start dbus; a container needs the host's /run/dbus/system_bus_socket"
    case .notOnBus: "set enable-dbus=yes in /etc/avahi/avahi-daemon.conf and restart Avahi"
    case .refused:
      "see disable-publishing and disable-user-service-publishing in /etc/avahi/avahi-daemon.conf, and the bus's policy"
    case .silent: "sudo systemctl restart avahi-daemon"
    case .unpublished: "see allow-interfaces, use-ipv4 and use-ipv6 in /etc/avahi/avahi-daemon.conf"
    }
  }
}
