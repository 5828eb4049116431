import Piconet

/// The observed facts about Multicast DNS on this machine.
struct MulticastDNSFacts: Hashable, Sendable {
  /// Whether Avahi replaces our own responder if the port can't be shared.
  enum Avahi: Hashable, Sendable {
    /// The port can be shared.
    case notAsked
    case publishes
    case fails(AvahiFailure)
  }

  /// Why UDP port 5353 can't be shared over IPv4, in the system's words; nil: it can.
  var ipv4Failure: String?
  /// The same over IPv6.
  var ipv6Failure: String?
  var avahi = Avahi.notAsked
  /// Whether a program of Piconet's runs, which would be a member of the group on each interface.
  var isPiconetRunning = false
  /// The interfaces on which a program hears the group over IPv4; nil: unknown.
  var heardOnIPv4: Set<String>?
  /// The same over IPv6.
  var heardOnIPv6: Set<String>?
  /// The interfaces on which the system drops what is sent to the group: a firewall's output rules.
  var blockedInterfaces: Set<String> = []

  /// Whether others can be reached over an interface, as far as the port and output rules go.
  func isOpen(on interface: DoctorFacts.Interface) -> Bool {
    guard !blockedInterfaces.contains(interface.name) else { return false }
    return avahi == .publishes || interface.hasIPv4 && ipv4Failure == nil
      || interface.hasIPv6 && ipv6Failure == nil
  }

  /// Usable interfaces on which the running program hears nothing.
  func deaf(of interfaces: [DoctorFacts.Interface]) -> [String] {
    guard isPiconetRunning else { return [] }
    return interfaces.filter { interface in
      let hears4 = interface.hasIPv4 && ipv4Failure == nil ? heardOnIPv4?.contains(interface.name) : nil
      let hears6 = interface.hasIPv6 && ipv6Failure == nil ? heardOnIPv6?.contains(interface.name) : nil
      return hears4 == false && hears6 != true || hears6 == false && hears4 != true
    }.map(\.name)
  }

  /// The interfaces of `/proc/net/igmp` that are members of 224.0.0.251. A line without leading space begins an
  /// interface, the others are its groups, in the order of the machine's bytes.
  static func ipv4Members(of list: some StringProtocol) -> Set<String> {
    var members: Set<String> = []
    var name = ""
    for line in list.split(separator: "\n").dropFirst() {
      let fields = line.split { $0 == " " || $0 == "\t" }
      if line.first != "\t", line.first != " " {
        name = fields.count > 1 ? String(fields[1].prefix { $0 != ":" }) : ""
      } else if let group = fields.first, ["FB0000E0", "E00000FB"].contains(group) {
        members.insert(name)
      }
    }
    return members
  }

  /// The interfaces of `/proc/net/igmp6` that are members of ff02::fb: number, name, group.
  static func ipv6Members(of list: some StringProtocol) -> Set<String> {
    Set(
      list.split(separator: "\n").compactMap { line in
        let fields = line.split(separator: " ")
        return fields.count > 2 && fields[2] == "ff0200000000000000000000000000fb" ? String(fields[1]) : nil
      })
  }
}
