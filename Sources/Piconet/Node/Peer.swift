import PiconetEngine
import PiconetWire

/// A node in sight. What it says of itself is a hint until a connection has proven its key.
public struct Peer: Sendable, Hashable, Identifiable, CustomStringConvertible {
  /// Who the peer claims to be: a hint until it is connected.
  public let id: NodeID
  /// What people call the device; the peer's own words: escape it before showing it on a terminal.
  public let name: String
  /// What else the node is advertised as, at most 7 names. Any device can advertise another's id under any name, also
  /// before the node does so itself; an invitation reaches it under the name that it gives, see `called(_:)`.
  public let otherNames: [String]
  /// Free key=value pairs of the advertiser.
  public let info: [String: String]
  /// It is `info`.
  @available(*, unavailable, renamed: "info")
  public var discoveryInfo: [String: String] { info }
  /// Where it can be reached, best first.
  public let addresses: [TransportAddress]
  /// The transports that it offers and this node does not use. One that offers only such can't be invited, unless a
  /// relay leads to it.
  public let otherTransports: [TransportKind]
  /// How strong its Bluetooth signal is, in dBm; nil if the adapter does not tell, or the peer was found in another
  /// way. Only large changes are reported.
  public let signalStrength: Int?

  init(_ summary: PeerSummary) {
    id = summary.node
    name = summary.name
    otherNames = summary.otherNames
    info = summary.info
    addresses = summary.addresses
    otherTransports = summary.otherKinds
    signalStrength = summary.signalStrength
  }

  /// A peer of which a member has told.
  init(introduced node: NodeID, name: String) {
    id = node
    self.name = name
    otherNames = []
    info = [:]
    addresses = []
    otherTransports = []
    signalStrength = nil
  }

  private init(_ peer: Peer, called name: String) {
    id = peer.id
    self.name = name
    otherNames = ([peer.name] + peer.otherNames).filter { $0 != name }
    info = peer.info
    addresses = peer.addresses
    otherTransports = peer.otherTransports
    signalStrength = peer.signalStrength
  }

  /// This peer under another one of its names; unchanged, if it has no such name. Whose key is not known here is
  /// refused when it is invited under another name than it gives once it is connected.
  public func called(_ name: String) -> Peer { otherNames.contains(name) ? Peer(self, called: name) : self }

  public var description: String { "\(name) (\(id))" }

  /// In the order of names, and of ids where names are equal.
  static func list(_ summaries: [NodeID: PeerSummary]) -> [Peer] {
    summaries.values.map(Peer.init).sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }
}
