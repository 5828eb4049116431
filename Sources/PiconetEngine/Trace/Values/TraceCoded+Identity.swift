import PiconetWire

extension PeerID: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes.bytes.append(contentsOf: self.bytes) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> PeerID {
    guard let peer = PeerID(bytes: try reader.bytes(UInt64(byteCount))) else {
      throw TraceError.malformed("not a peer's id")
    }
    return peer
  }
}

extension ResourceDigest: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(self.bytes) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> ResourceDigest {
    guard let digest = ResourceDigest(sha256: try reader() as [UInt8]) else {
      throw TraceError.malformed("not a digest")
    }
    return digest
  }
}

/// A number with a type of its own.
protocol TraceNumber: TraceCoded {
  associatedtype Number: TraceCoded
  var rawValue: Number { get }
  init(rawValue: Number)
}

extension TraceNumber {
  func write(to bytes: inout TraceBytes) { bytes(rawValue) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Self { Self(rawValue: try reader()) }
}

extension LinkID: TraceNumber {}
extension DialID: TraceNumber {}
extension CommandID: TraceNumber {}
extension TransferID: TraceNumber {}
extension CodeID: TraceNumber {}
extension TypedCodeID: TraceNumber {}
extension StreamID: TraceNumber {}
extension TunnelID: TraceNumber {}
extension Incarnation: TraceNumber {}
extension Reason: TraceNumber {}

extension AssociationID: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(high, low) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> AssociationID {
    AssociationID(high: try reader(), low: try reader())
  }
}

extension NodeID: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(peer, incarnation) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> NodeID {
    NodeID(peer: try reader(), incarnation: try reader())
  }
}

/// An enumeration without values, written as its index in `allCases`.
protocol TraceChoice: TraceCoded, CaseIterable, Equatable where AllCases == [Self] {}

extension TraceChoice {
  func write(to bytes: inout TraceBytes) { bytes.append(UInt64(Self.allCases.firstIndex(of: self) ?? 0)) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Self {
    let place = try reader.integer()
    guard place < UInt64(allCases.count) else { throw TraceError.malformed("\(Self.self) has no case \(place)") }
    return allCases[Int(place)]
  }
}

extension TransportKind: TraceChoice {}
extension Blame: TraceChoice {}
extension DeliveryMode: TraceChoice {}
extension LinkFailure.Code: TraceChoice {}
extension SecureChannelFailure.Code: TraceChoice {}
