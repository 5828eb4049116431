/// The kind of service that is published or looked for (RFC 6763, section 4.1.2).
public struct ServiceType: Sendable, Hashable {
  /// Such as `_piconet._tcp.local`.
  public let name: DomainName

  /// Nil unless `dotted` is a name of at least two labels.
  public init?(_ dotted: String) {
    guard let name = DomainName(dotted), name.labels.count >= 2 else { return nil }
    self.name = name
  }

  private init(labels: [String]) { name = DomainName(labels: labels.map { Array($0.utf8) }) ?? DomainName() }

  public static let piconet = ServiceType(labels: ["_piconet", "_tcp", "local"])

  /// `_services._dns-sd._udp.local`, whose pointers list the types of a network (RFC 6763, section 9).
  static let enumeration = ServiceType(labels: ["_services", "_dns-sd", "_udp", "local"]).name
}
