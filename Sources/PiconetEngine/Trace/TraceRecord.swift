import PiconetWire

/// One record of a trace. The effects of a fact or a flush follow it, one a record, in their order.
public enum TraceRecord: Sendable, Hashable {
  /// A fact that the engine took, and when.
  case fact(Fact, at: Instant)
  /// The engine framed the queued data.
  case flushed(at: Instant)
  /// An effect of the engine.
  case effect(Effect)
  /// Nothing was recorded after this. A trace without it was cut off, for example by a crash.
  case ended(TraceEnd)

  /// The longest record in bytes: the largest message, and room for the rest of the record.
  public static let largest: UInt64 = 80 << 20
}

/// Why a recording ended.
public enum TraceEnd: UInt8, Sendable, Hashable, CaseIterable {
  /// The node stopped.
  case complete
  /// The file reached its limit.
  case sizeLimit
  /// More came than could be written.
  case tooFast
  /// One fact or effect was longer than a record may be.
  case recordLimit
}

extension TraceRecord: TraceCoded {
  private enum Tag: UInt8 { case fact, flushed, effect, ended }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .fact(let fact, let now): bytes(Tag.fact, now, fact)
    case .flushed(let now): bytes(Tag.flushed, now)
    case .effect(let effect): bytes(Tag.effect, effect)
    case .ended(let end): bytes(Tag.ended, end)
    }
  }

  static func read(from reader: inout TraceReader) throws(TraceError) -> TraceRecord {
    switch try reader.tag(Tag.self) {
    case .fact:
      let now: Instant = try reader()
      return .fact(try reader(), at: now)
    case .flushed: return .flushed(at: try reader())
    case .effect: return .effect(try reader())
    case .ended: return .ended(try reader())
    }
  }
}

extension TraceEnd: TraceChoice {}
