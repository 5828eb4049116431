import PiconetDNSSD

/// The place of a publication's entries: an interface, or all of them, and a family, or both.
struct AvahiPlace: Sendable, Hashable {
  var interface: Int32
  /// AVAHI_PROTO_INET, AVAHI_PROTO_INET6 or AVAHI_PROTO_UNSPEC.
  var proto: Int32

  /// Avahi takes 32 entries for a group (avahi-daemon.conf, entries-per-entry-group-max).
  static let limit = 32

  static func all(of errand: ResponderErrand) -> [AvahiPlace] {
    // Of two entries that differ in nothing but the family Avahi 0.8 says goodbye over IPv4 alone.
    guard let family = errand.families.first else { return [] }
    let proto = errand.families.count > 1 ? AvahiNames.anyProto : AvahiNames.proto(isIPv6: family)
    guard let interfaces = errand.interfaces else {
      return [AvahiPlace(interface: AvahiNames.anyInterface, proto: proto)]
    }
    return interfaces.sorted().compactMap(Int32.init(exactly:)).prefix(limit).map {
      AvahiPlace(interface: $0, proto: proto)
    }
  }
}
