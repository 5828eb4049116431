import PiconetWire

extension SessionMembership: TraceCoded {
  private enum Tag: UInt8 { case pairs, group }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .pairs: bytes(Tag.pairs)
    case .group: bytes(Tag.group)
    }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> SessionMembership {
    switch try reader.tag(Tag.self) {
    case .pairs: .pairs
    case .group: .group
    }
  }
}
