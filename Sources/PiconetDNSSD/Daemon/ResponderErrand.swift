/// The whole work of a `ResponderDaemon` for this process.
public struct ResponderErrand: Sendable, Hashable {
  /// The families whose port the daemon has, by whether each is IPv6. This process serves the others.
  public var families: Set<Bool>
  /// The indices of the interfaces to use; nil: all that the daemon uses.
  public var interfaces: Set<UInt32>?
  /// The services to publish, by numbers that the caller chooses.
  public var services: [Int: ServiceRegistration]
  /// Whether to look for others' services of our type.
  public var searches: Bool

  public init(
    families: Set<Bool> = [], interfaces: Set<UInt32>? = nil, services: [Int: ServiceRegistration] = [:],
    searches: Bool = false
  ) {
    self.families = families
    self.interfaces = interfaces
    self.services = services
    self.searches = searches
  }

  public var isIdle: Bool { families.isEmpty || services.isEmpty && !searches }
}
