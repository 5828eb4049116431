import PiconetEngine
import PiconetWire

/// A node in sight. What it says of itself is a hint until a connection has proven its key.
public struct Peer: Sendable, Hashable, Identifiable, CustomStringConvertible {
  /// Who the peer claims to be: a hint until it is connected.
  public let id: NodeID
  /// What people call the device; the peer's own words: escape it before showing it on a terminal.
  public let name: String
  /// Free key=value pairs of the advertiser.
  public let info: [String: String]
  /// Where it can be reached, best first.
  public let addresses: [TransportAddress]
  /// How strong its Bluetooth signal is, in dBm; nil if the adapter does not tell, or the peer was found in another
  /// way. Only large changes are reported.
  public let signalStrength: Int?

  init(_ summary: PeerSummary) {
    id = summary.node
    name = summary.name
    info = summary.info
    addresses = summary.addresses
    signalStrength = summary.signalStrength
  }

  /// A peer of which a member has told.
  init(introduced node: NodeID, name: String) {
    id = node
    self.name = name
    info = [:]
    addresses = []
    signalStrength = nil
  }

  public var description: String { "\(name) (\(id))" }

  /// In the order of names, and of ids where names are equal.
  static func list(_ summaries: [NodeID: PeerSummary]) -> [Peer] {
    summaries.values.map(Peer.init).sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }
}
