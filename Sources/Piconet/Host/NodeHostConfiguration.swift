/// The settings of a host: those of the device, which all its nodes share. A wrong value is refused when the host
/// starts, with an error that names the rule.
public struct NodeHostConfiguration: Sendable, Hashable {
  /// Where the key is stored. Default: nowhere; each start makes a new key.
  public var identity = IdentityStorage.ephemeral
  /// One of these authorities must have issued each peer's certificate; nil (the default): no authority is needed.
  public var certificateAuthorities: CertificateAuthorities?
  /// The network interfaces for discovery, by name, such as `lo`; nil: all.
  public var interfaces: Set<String>?
  /// The settings of the transports over Bluetooth.
  public var bluetooth = BluetoothSettings()

  /// The defaults. Nothing is checked before the host starts.
  public init() {}
}

/// The settings of the device within a node's settings; nil where they are not set.
struct DeviceSettings: Sendable {
  var identity: IdentityStorage?
  var certificateAuthorities: CertificateAuthorities??
  var interfaces: Set<String>??
  var bluetooth: BluetoothSettings?

  /// The settings of a host that is made for one node.
  var host: NodeHostConfiguration {
    var host = NodeHostConfiguration()
    host.identity = identity ?? host.identity
    host.certificateAuthorities = certificateAuthorities ?? host.certificateAuthorities
    host.interfaces = interfaces ?? host.interfaces
    host.bluetooth = bluetooth ?? host.bluetooth
    return host
  }

  /// Returns the settings of a node on this host; the host provides what the node leaves out.
  /// - Throws: `invalidArgument`, naming the setting that differs.
  func settled(on host: NodeHostConfiguration) throws(PiconetError) -> DeviceSettings {
    let own = self.host
    var contradictions: [String] = []
    if identity != nil, own.identity != host.identity { contradictions.append("identity") }
    if certificateAuthorities != nil, own.certificateAuthorities != host.certificateAuthorities {
      contradictions.append("certificateAuthorities")
    }
    if interfaces != nil, own.interfaces != host.interfaces { contradictions.append("interfaces") }
    if bluetooth != nil, own.bluetooth != host.bluetooth { contradictions.append("bluetooth") }
    guard contradictions.isEmpty else {
      throw PiconetError(
        .invalidArgument, blame: .us,
        detail: "the host has settled it for all its nodes, and this one says otherwise: "
          + contradictions.joined(separator: ", "))
    }
    return DeviceSettings(
      identity: host.identity, certificateAuthorities: .some(host.certificateAuthorities),
      interfaces: .some(host.interfaces), bluetooth: host.bluetooth)
  }
}
