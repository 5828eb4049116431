import PiconetWire

/// Runs an engine over the facts of a trace and compares its effects with those in the trace.
public struct TraceReplay: ~Copyable {
  private var engine: SessionEngine
  /// The effects of the last fact, and how many of them have been compared.
  private var effects: [Effect] = []
  private var compared = 0
  /// The last fact; nil for a flush.
  private var cause: Fact?

  /// How much was compared.
  public private(set) var counts = Counts()
  /// Why the recording ended, once that is known.
  public private(set) var end: TraceEnd?

  /// How many facts and effects a replay has seen.
  public struct Counts: Sendable, Hashable {
    public var facts = 0
    public var flushes = 0
    public var effects = 0
    public init() {}
  }

  /// Where engine and trace differ.
  public struct Difference: Sendable, Hashable, CustomStringConvertible {
    /// The number of the fact, from 1; flushes are not counted.
    public var fact: Int
    /// The fact or flush that the effects belong to.
    public var cause: String
    /// The place among its effects, from 1.
    public var place: Int
    /// Nil: the trace has no more effects here.
    public var recorded: Effect?
    /// Nil: the engine gives no more effects here.
    public var replayed: Effect?

    public var description: String {
      let lines = [
        "the first difference is at fact \(fact), effect \(place)", "  fact: \(cause)",
        "  recorded: \(recorded.map { TraceReplay.short("\($0)") } ?? "nothing")",
        "  replayed: \(replayed.map { TraceReplay.short("\($0)") } ?? "nothing")",
      ]
      return lines.joined(separator: "\n")
    }
  }

  public init(_ header: TraceHeader) {
    engine = SessionEngine(identity: header.identity, configuration: header.configuration, seed: header.seed)
  }

  /// Takes the next record.
  /// - Returns: the difference, if there is one: nothing that comes after it means anything.
  public mutating func take(_ record: TraceRecord) -> Difference? {
    switch record {
    case .fact(let fact, let now):
      if let difference = rest() { return difference }
      begin(fact)
      counts.facts += 1
      engine.handle(fact, at: now, into: &effects)
    case .flushed(let now):
      if let difference = rest() { return difference }
      begin(nil)
      counts.flushes += 1
      engine.flush(at: now, into: &effects)
    case .effect(let effect):
      guard compared < effects.count, effects[compared] == effect else {
        return difference(recorded: effect, replayed: compared < effects.count ? effects[compared] : nil)
      }
      compared += 1
      counts.effects += 1
    case .ended(let end): self.end = end
    }
    return nil
  }

  /// The trace is over.
  /// - Parameter isCut: its last record is not whole, or it does not say that it ended: the last effects may be
  ///   missing.
  public mutating func finish(isCut: Bool) -> Difference? { isCut || end != .complete ? nil : rest() }

  /// Cuts long contents, which don't help the reader of a difference.
  private static func short(_ text: String) -> String {
    text.utf8.count <= 300 ? text : "\(text.prefix(300))... (\(text.utf8.count) characters)"
  }

  private mutating func begin(_ cause: Fact?) {
    self.cause = cause
    effects.removeAll(keepingCapacity: true)
    compared = 0
  }

  /// Effects that the engine gave and the trace does not have.
  private func rest() -> Difference? {
    compared < effects.count ? difference(recorded: nil, replayed: effects[compared]) : nil
  }

  private func difference(recorded: Effect?, replayed: Effect?) -> Difference {
    Difference(
      fact: counts.facts, cause: cause.map { Self.short("\($0)") } ?? "a flush", place: compared + 1,
      recorded: recorded, replayed: replayed)
  }
}
