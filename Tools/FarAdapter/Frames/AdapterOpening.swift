import PiconetEngine

/// What a node wants from an adapter elsewhere; the first thing that the agent is told.
public struct AdapterOpening: Sendable, Hashable {
  /// The version of the frames, which must be the same on both machines.
  static let version: UInt64 = 2

  /// The session id.
  public var sessionID: String
  /// The transports that are wanted, of Bluetooth's.
  public var kinds: Set<TransportKind>
  /// Whether the node should find others and be found.
  public var discovers: Bool

  public init(sessionID: String, kinds: Set<TransportKind>, discovers: Bool = true) {
    self.sessionID = sessionID
    self.kinds = kinds
    self.discovers = discovers
  }
}

extension AdapterOpening: RelayCoded {
  /// Distinguishes an agent, or a test, of another version from anything else.
  private static let mark = "piconet far adapter"

  func write(to bytes: inout RelayBytes) {
    bytes(Self.mark, Self.version, sessionID, kinds.sorted { $0.rawValue < $1.rawValue }, discovers)
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> AdapterOpening {
    guard try reader() == mark else { throw RelayError("this is no test of Piconet") }
    let version: UInt64 = try reader()
    guard version == Self.version else {
      throw RelayError("the test speaks version \(version), the agent \(Self.version): build both from one source")
    }
    return AdapterOpening(
      sessionID: try reader(), kinds: Set(try reader() as [TransportKind]), discovers: try reader())
  }
}
