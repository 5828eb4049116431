import PiconetEngine
import PiconetWire

/// An enumeration of texts, written as its text, so that an additional case on one machine changes no other.
protocol RelayWord: RelayCoded, RawRepresentable<String> {}

extension RelayWord {
  func write(to bytes: inout RelayBytes) { bytes(rawValue) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> Self {
    let text: String = try reader()
    guard let value = Self(rawValue: text) else { throw RelayError("there is no \(Self.self) '\(text)'") }
    return value
  }
}

extension TransportKind: RelayWord {}
extension LinkFailure.Code: RelayWord {}

extension TransportAddress: RelayCoded {
  func write(to bytes: inout RelayBytes) { bytes(kind, text) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> TransportAddress {
    TransportAddress(kind: try reader(), text: try reader())
  }
}

extension LinkFailure: RelayCoded {
  func write(to bytes: inout RelayBytes) { bytes(code, detail) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> LinkFailure {
    LinkFailure(try reader(), try reader())
  }
}

extension LinkTraits: RelayCoded {
  func write(to bytes: inout RelayBytes) {
    bytes(kind, remoteAddress, localAddress, isPacket, largestWrite, transmitWindow, unreadLimit)
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> LinkTraits {
    let traits = LinkTraits(
      kind: try reader(), remoteAddress: try reader(), localAddress: try reader(), isPacket: try reader(),
      largestWrite: try reader(), transmitWindow: try reader(), unreadLimit: try reader())
    guard traits.largestWrite > 0, traits.transmitWindow ?? 1 > 0, traits.unreadLimit ?? 1 > 0 else {
      throw RelayError("a link that takes nothing")
    }
    return traits
  }
}

extension PeerID: RelayCoded {
  func write(to bytes: inout RelayBytes) { bytes.append(contentsOf: self.bytes) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> PeerID {
    guard let peer = PeerID(bytes: try reader.bytes(UInt64(byteCount))) else { throw RelayError("not a peer's id") }
    return peer
  }
}

extension Incarnation: RelayCoded {
  func write(to bytes: inout RelayBytes) { bytes(rawValue) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> Incarnation {
    Incarnation(rawValue: try reader())
  }
}

extension Sighting: RelayCoded {
  func write(to bytes: inout RelayBytes) { bytes(peer, incarnation, name, info, addresses, signalStrength, otherNames) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> Sighting {
    Sighting(
      peer: try reader(), incarnation: try reader(), name: try reader(), info: try reader(), addresses: try reader(),
      signalStrength: try reader(), otherNames: try reader())
  }
}

extension DiscoveryReport: RelayCoded {
  private enum Tag: UInt8 { case seen, gone }

  func write(to bytes: inout RelayBytes) {
    switch self {
    case .seen(let sighting): bytes(Tag.seen, sighting)
    case .gone(let peer, let incarnation): bytes(Tag.gone, peer, incarnation)
    }
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> DiscoveryReport {
    switch try reader.tag(Tag.self) {
    case .seen: .seen(try reader())
    case .gone: .gone(try reader(), try reader())
    }
  }
}

extension NodeAdvertisement: RelayCoded {
  func write(to bytes: inout RelayBytes) {
    bytes(
      peer, incarnation, name, info, sessionID, [String: UInt16](uniqueKeysWithValues: ports.map { ($0.rawValue, $1) }))
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> NodeAdvertisement {
    var advertisement = NodeAdvertisement(
      peer: try reader(), incarnation: try reader(), name: try reader(), info: try reader(), sessionID: try reader(),
      ports: [:])
    for (text, port) in try reader() as [String: UInt16] {
      guard let kind = TransportKind(rawValue: text) else { throw RelayError("there is no transport '\(text)'") }
      advertisement.ports[kind] = port
    }
    return advertisement
  }
}
