import PiconetEngine
import PiconetWire

/// A node in sight. Its advertisement is a hint until a connection has proven its key.
public struct Peer: Sendable, Hashable, Identifiable, CustomStringConvertible {
  /// The id that the peer claims: a hint until it is connected.
  public let id: NodeID
  /// What people call the device; the peer's own words: escape it before showing it on a terminal.
  public let name: String
  /// The other names under which the node is advertised, at most 7. Any device can advertise another's id under any
  /// name, even before the node does so itself. An invitation reaches the node under the name that it gives, see
  /// `called(_:)`.
  public let otherNames: [String]
  /// Free key=value pairs of the advertiser.
  public let info: [String: String]
  /// Renamed to `info`.
  @available(*, unavailable, renamed: "info")
  public var discoveryInfo: [String: String] { info }
  /// The addresses where the peer can be reached, best first.
  public let addresses: [TransportAddress]
  /// The transports that the peer offers and this node does not use. A peer that offers only such can't be invited,
  /// unless a relay leads to it.
  public let otherTransports: [TransportKind]
  /// The strength of the peer's Bluetooth signal, in dBm; nil if the adapter does not report it, or the peer was found
  /// in another way. Only large changes are reported.
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

  /// Creates a peer that a member has introduced.
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

  /// Returns this peer under another one of its names; unchanged if it has no such name. A peer whose key is not known
  /// here is refused if it is invited under another name than it gives once connected.
  public func called(_ name: String) -> Peer { otherNames.contains(name) ? Peer(self, called: name) : self }

  public var description: String { "\(name) (\(id))" }

  /// Returns the peers in the order of their names; equal names in the order of their ids.
  static func list(_ summaries: [NodeID: PeerSummary]) -> [Peer] {
    summaries.values.map(Peer.init).sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }
}
