import PiconetWire

extension Sighting: TraceCoded {
  func write(to bytes: inout TraceBytes) {
    bytes(peer, incarnation, name, info, addresses, otherNames, addresses.map { origins[$0] ?? "" })
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Sighting {
    var sighting = Sighting(
      peer: try reader(), incarnation: try reader(), name: try reader(), info: try reader(), addresses: try reader(),
      otherNames: try reader())
    let origins: [String] = try reader()
    for (address, origin) in zip(sighting.addresses, origins) where !origin.isEmpty {
      sighting.origins[address] = origin
    }
    return sighting
  }
}

extension DiscoveryReport: TraceCoded {
  private enum Tag: UInt8 { case seen, gone }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .seen(let sighting): bytes(Tag.seen, sighting)
    case .gone(let peer, let incarnation): bytes(Tag.gone, peer, incarnation)
    }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> DiscoveryReport {
    switch try reader.tag(Tag.self) {
    case .seen: .seen(try reader())
    case .gone: .gone(try reader(), try reader())
    }
  }
}

extension PeerSummary: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(node, name, info, addresses, otherNames, otherKinds) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> PeerSummary {
    PeerSummary(
      node: try reader(), name: try reader(), info: try reader(), addresses: try reader(), otherNames: try reader(),
      otherKinds: try reader())
  }
}

extension ProvenPeer: TraceCoded {
  func write(to bytes: inout TraceBytes) {
    bytes(
      node, name, traits, association, code, isKnown, messageLimit, unreliableLimit, isProven, invitationContext,
      greeting, channelLimit, introducedBy)
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> ProvenPeer {
    // This is not the optional that the initializer takes.
    func number() throws(TraceError) -> Int { try reader() }
    var peer = ProvenPeer(
      node: try reader(), name: try reader(), traits: try reader(), association: try reader(), code: try reader(),
      isKnown: try reader(), messageLimit: try reader(), unreliableLimit: try number())
    peer.isProven = try reader()
    peer.invitationContext = try reader()
    peer.greeting = try reader()
    peer.channelLimit = try reader()
    peer.introducedBy = try reader()
    return peer
  }
}

extension ResourceTime: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(seconds, UInt64(nanoseconds)) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> ResourceTime {
    let (seconds, nanoseconds): (Int64, UInt64) = (try reader(), try reader())
    guard let part = UInt32(exactly: nanoseconds), let time = ResourceTime(seconds: seconds, nanoseconds: part) else {
      throw .malformed("a resource's time")
    }
    return time
  }
}

extension ResourceOffer: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(name, size, mediaType, modified, metadata, identity, folder, group) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> ResourceOffer {
    ResourceOffer(
      name: try reader(), size: try reader(), mediaType: try reader(), modified: try reader(), metadata: try reader(),
      identity: try reader(), folder: try reader(), group: try reader())
  }
}

extension InvitationTarget: TraceCoded {
  private enum Tag: UInt8 { case node, addresses, nodeOver }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .node(let node, nil): bytes(Tag.node, node)
    case .node(let node, let transports?): bytes(Tag.nodeOver, node, transports)
    case .addresses(let addresses, let expected): bytes(Tag.addresses, addresses, expected)
    }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> InvitationTarget {
    switch try reader.tag(Tag.self) {
    case .node: .node(try reader())
    case .addresses: .addresses(try reader(), expected: try reader())
    case .nodeOver: .node(try reader(), over: try reader() as [TransportKind])
    }
  }
}

extension PeerCondition: TraceCoded {
  private enum Tag: UInt8 { case available, unavailable, connecting, connected, suspended, disconnected }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .available: bytes(Tag.available)
    case .unavailable: bytes(Tag.unavailable)
    case .connecting: bytes(Tag.connecting)
    case .connected: bytes(Tag.connected)
    case .suspended: bytes(Tag.suspended)
    case .disconnected(let ending): bytes(Tag.disconnected, ending)
    }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> PeerCondition {
    switch try reader.tag(Tag.self) {
    case .available: .available
    case .unavailable: .unavailable
    case .connecting: .connecting
    case .connected: .connected
    case .suspended: .suspended
    case .disconnected: .disconnected(try reader())
    }
  }
}
