import PiconetWire

extension ListeningPort: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(transport, port) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> ListeningPort {
    ListeningPort(transport: try reader(), port: try reader())
  }
}
