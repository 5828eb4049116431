/// The fault in bytes that should be a trace.
public enum TraceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The first bytes are not those of a trace.
  case notATrace
  /// The part that begins at this byte of the file differs from what was written there.
  case damaged(offset: UInt64, String)
  /// Another version of Piconet wrote it. The engine of that version may do other things for the same facts.
  case version(UInt64)
  /// A record announces more bytes than one record may have.
  case recordTooLarge(UInt64)
  case malformed(String)

  public var description: String {
    switch self {
    case .notATrace: "this is no trace of Piconet"
    case .version(let version):
      "an \(version < TraceHeader.version ? "older" : "newer") Piconet wrote the trace: its format is version "
        + "\(version), and this program reads version \(TraceHeader.version)"
    case .damaged(let offset, let what): "the trace is damaged at byte \(offset): \(what)"
    case .recordTooLarge(let count):
      "a record announces \(count) bytes; the limit is \(TraceRecord.largest)"
    case .malformed(let what): "the trace is damaged: \(what)"
    }
  }
}
