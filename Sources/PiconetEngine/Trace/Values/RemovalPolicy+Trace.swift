import PiconetWire

extension RemovalPolicy: TraceCoded {
  private enum Tag: UInt8 { case introducers, members, nobody }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .introducers: bytes(Tag.introducers)
    case .members: bytes(Tag.members)
    case .nobody: bytes(Tag.nobody)
    }
  }

  static func read(from reader: inout TraceReader) throws(TraceError) -> RemovalPolicy {
    switch try reader.tag(Tag.self) {
    case .introducers: .introducers
    case .members: .members
    case .nobody: .nobody
    }
  }
}
