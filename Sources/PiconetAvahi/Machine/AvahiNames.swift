/// Names and numbers of Avahi's interface on D-Bus (avahi 0.8: avahi-daemon/*.xml, avahi-common/defs.h).
enum AvahiNames {
  static let service = "org.freedesktop.Avahi"
  static let serverPath = "/"
  static let server = "org.freedesktop.Avahi.Server"
  static let entryGroup = "org.freedesktop.Avahi.EntryGroup"
  static let browser = "org.freedesktop.Avahi.ServiceBrowser"
  static let resolver = "org.freedesktop.Avahi.ServiceResolver"
  static let collision = "org.freedesktop.Avahi.CollisionError"
  static let timeout = "org.freedesktop.Avahi.TimeoutError"
  /// That of `ServiceType.piconet`, and its domain.
  static let type = "_piconet._tcp"
  static let domain = "local"

  /// AVAHI_IF_UNSPEC: all interfaces.
  static let anyInterface: Int32 = -1
  /// AVAHI_PROTO_UNSPEC: both families.
  static let anyProto: Int32 = -1
  /// AVAHI_SERVER_RUNNING: its host name is settled, and services can be published.
  static let serverRunning: Int64 = 2
  /// AVAHI_ENTRY_GROUP_ESTABLISHED, _COLLISION, _FAILURE.
  static let groupEstablished: Int64 = 2
  static let groupCollision: Int64 = 3
  static let groupFailure: Int64 = 4
  /// AVAHI_PUBLISH_NO_COOKIE: the TXT record is ours alone.
  static let publishFlags: UInt32 = 32
  /// AVAHI_LOOKUP_RESULT_LOCAL: a program of this host has published it.
  static let resultLocal: Int64 = 8

  /// AVAHI_PROTO_INET and AVAHI_PROTO_INET6.
  static func proto(isIPv6: Bool) -> Int32 { isIPv6 ? 1 : 0 }

  static func isIPv6(_ proto: Int64?) -> Bool? { proto == 0 ? false : proto == 1 ? true : nil }
}
