/// A service instance with everything needed to reach it, over all interfaces on which it was seen.
public struct ResolvedInstance: Sendable, Hashable {
  /// One address on one interface. The zone of a link-local address is the interface.
  public struct Endpoint: Sendable, Hashable {
    public var interface: InterfaceID
    public var address: IPAddress
    public var port: UInt16
    /// The sender of the SRV record that leads there; nil: not known.
    public var origin: IPAddress?

    public init(interface: InterfaceID, address: IPAddress, port: UInt16, origin: IPAddress? = nil) {
      self.origin = origin
      self.interface = interface
      self.address = address
      self.port = port
    }
  }
  public var name: DomainName
  /// The strings of the TXT record: the latest one of the first device that has sent one.
  public var text: [[UInt8]]
  /// The strings of other TXT records: any device can send one for any instance.
  public var otherTexts: [[[UInt8]]]
  /// By interface, then service, newest first, then address. One address can appear twice: seen over IPv4 and IPv6.
  public var endpoints: [Endpoint]

  public init(name: DomainName, text: [[UInt8]], endpoints: [Endpoint], otherTexts: [[[UInt8]]] = []) {
    self.otherTexts = otherTexts
    self.name = name
    self.text = text
    self.endpoints = endpoints
  }

  public var label: [UInt8] { name.firstLabel }

  /// Returns the same instance, joined with another browser's knowledge of it.
  public func joined(with other: ResolvedInstance) -> ResolvedInstance {
    var joined = self
    joined.endpoints += other.endpoints
    for text in [other.text] + other.otherTexts where text != self.text && !joined.otherTexts.contains(text) {
      joined.otherTexts.append(text)
    }
    return joined
  }
}

/// What a browser reports.
public enum BrowserReport: Sendable, Hashable {
  case resolved(ResolvedInstance)
  case updated(ResolvedInstance)
  case removed(DomainName)
}

/// The actions that a browser requests after a fact, in order.
public struct BrowserOutput: Sendable, Hashable {
  public var transmissions: [Transmission] = []
  public var reports: [BrowserReport] = []
}
