import PiconetWire

/// One discovery source's view of one peer. The identity in it is a hint. It may be used to keep one entry per peer,
/// never for admission.
public struct Sighting: Sendable, Hashable {
  public var peer: PeerID
  public var incarnation: Incarnation
  public var name: String
  /// Free key=value pairs of the advertiser: at most 255 bytes a pair, 400 in all.
  public var info: [String: String]
  /// All addresses known to this source, best first.
  public var addresses: [TransportAddress]
  /// The source of each address, such as the host that sent the packet, in the discovery source's own words. An address
  /// without an entry was stated by the device that it names.
  public var origins: [TransportAddress: String] = [:]
  /// The strength of the peer's radio signal in dBm; nil if the source can't tell. A source reports only large changes.
  public var signalStrength: Int?
  /// Other names of the same node. Any device can advertise it under any name, even before the node advertises itself.
  public var otherNames: [String]

  public init(
    peer: PeerID, incarnation: Incarnation, name: String, info: [String: String], addresses: [TransportAddress],
    signalStrength: Int? = nil, otherNames: [String] = []
  ) {
    self.peer = peer
    self.incarnation = incarnation
    self.name = name
    self.info = info
    self.addresses = addresses
    self.signalStrength = signalStrength
    self.otherNames = otherNames
  }

  /// The maximum number of names of a node in sight.
  public static let nameLimit = 8

  /// `name`, then `otherNames`.
  public var names: [String] { [name] + otherNames }

  /// Returns the names after the first one, each once, none of them empty. Together with the first there are at most
  /// `nameLimit`.
  /// - Parameter names: the advertised names in the order in which they came. Beyond the limit the last place goes to
  ///   the latest name, so that early names can't keep out later ones.
  public static func otherNames(_ names: [String]) -> [String] {
    guard let first = names.first else { return [] }
    var others: [String] = []
    for name in names where name != first && !name.isEmpty && !others.contains(name) { others.append(name) }
    guard others.count >= nameLimit, let last = names.last(where: { $0 != first && !$0.isEmpty }) else { return others }
    others.removeAll { $0 == last }
    return Array(others.prefix(nameLimit - 2)) + [last]
  }
}

/// The information that a node advertises.
public struct NodeAdvertisement: Sendable, Hashable {
  public var peer: PeerID
  public var incarnation: Incarnation
  public var name: String
  public var info: [String: String]
  /// The session id. Only nodes with the same session id see each other.
  public var sessionID: String
  /// The port of each transport on which we listen: TCP's port, the PSM of L2CAP and of LE, RFCOMM's channel. A
  /// discovery source advertises those of the transports that it serves.
  public var ports: [TransportKind: UInt16]

  public init(
    peer: PeerID, incarnation: Incarnation, name: String, info: [String: String], sessionID: String,
    ports: [TransportKind: UInt16]
  ) {
    self.peer = peer
    self.incarnation = incarnation
    self.name = name
    self.info = info
    self.sessionID = sessionID
    self.ports = ports
  }
}

/// A report of a discovery source. Only the engine's discovery table decides what "found" and "lost" mean.
public enum DiscoveryReport: Sendable, Hashable {
  /// New, or changed; carries the whole sighting each time.
  case seen(Sighting)
  /// This source no longer sees the peer in this incarnation (goodbye or expiry).
  case gone(PeerID, Incarnation)
}

/// The port of one discovery source. It is confined to the loop that made it.
public protocol Discovery: AnyObject {
  /// A short name of the source for logs and tables, such as `dns-sd`.
  var sourceName: String { get }
  /// Starts, changes or (nil) stops advertising; stopping says goodbye.
  func advertise(_ advertisement: NodeAdvertisement?)
  /// Starts (the session id to look for) or stops (nil) searching.
  func search(sessionID: String?)
  /// Tells whether the radio is needed for something else, such as dialling or sending. While it is, there is no scan,
  /// and no peer is lost for lack of a scan. Sources without a radio ignore it.
  func setRadioBusy(_ isBusy: Bool)
  /// Tells whether the source has a turn while the radio is busy with data that other nodes send. While it has a turn,
  /// it may scan alongside, at once and without rests.
  func setRadioTurn(_ hasTurn: Bool)
  /// Tells whether a peer may dial this node although it is not advertised: a peer that it expects, or a member that
  /// has lost its link. While that holds, a source whose radio would otherwise refuse connections lets in peers that
  /// have its address. It tells others nothing of the node. Sources without a radio ignore it.
  func setExpecting(_ isExpecting: Bool)
  /// Sets the handler of reports, which is called on the loop.
  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void)
  /// Says goodbye and closes everything. No handler is called afterwards.
  func close()
}

extension Discovery {
  public func setRadioBusy(_ isBusy: Bool) {}
  public func setRadioTurn(_ hasTurn: Bool) {}
  public func setExpecting(_ isExpecting: Bool) {}
}
