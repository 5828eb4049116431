/// Why attributes are not a node's record, or a record can't be published.
public enum NodeRecordRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// Not a record of Piconet, or one of an unsupported version.
  case badVersion
  case serviceClassMissing
  /// Missing, or not 32 bytes.
  case badPeer
  /// Missing, or not a 64-bit number.
  case badIncarnation
  case nameMissing
  /// Empty, above 63 bytes, not UTF-8, or with a control character.
  case badName(String)
  /// Missing, empty, above 128 bytes, not UTF-8, or with a control character.
  case badSessionID(String)
  /// Not a 48-bit number, or 0.
  case badAdapter
  /// Not odd, with an odd upper byte, or below 0x1001 (Core 5.4, Vol 3 Part A 4.2).
  case badPSM
  /// Not 1 to 30.
  case badChannel
  /// Not 0x80 to 0xFF (Core 5.4, Vol 3 Part A 4.22).
  case badLEPSM
  /// Neither PSM nor channel: the node can't be reached.
  case noPort
  case badInfo(String)

  public var description: String {
    switch self {
    case .badVersion: "the version is missing or not \(NodeRecord.version)"
    case .serviceClassMissing: "the service class is not the session's"
    case .badPeer: "the peer is missing or not 32 bytes"
    case .badIncarnation: "the incarnation is missing or not a number of 64 bits"
    case .nameMissing: "the name is missing"
    case .badName(let reason): "the name \(reason)"
    case .badSessionID(let reason): "the session id \(reason)"
    case .badAdapter: "the adapter is not an address of 48 bits"
    case .badPSM: "the PSM of L2CAP is none that a program may have"
    case .badChannel: "RFCOMM's channel is not 1 to 30"
    case .badLEPSM: "the PSM of LE is not 0x80 to 0xFF"
    case .noPort: "no PSM and no channel"
    case .badInfo(let reason): "the info \(reason)"
    }
  }
}
