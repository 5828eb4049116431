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

  /// A difference between engine and trace.
  public struct Difference: Sendable, Hashable, CustomStringConvertible {
    /// The number of the fact, from 1. Flushes are not counted.
    public var fact: Int
    /// The fact or flush that the effects belong to.
    public var cause: String
    /// The position among its effects, from 1.
    public var place: Int
    /// The effect in the trace; nil if the trace has no more effects here.
    public var recorded: Effect?
    /// The effect of the engine; nil if the engine gives no more effects here.
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
  /// - Returns: the difference, if there is one. After a difference, further records mean nothing.
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

  /// Ends the comparison at the end of the trace.
  /// - Parameter isCut: whether the last record is not whole, or the trace does not say that it ended. The last effects
  ///   may then be missing.
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

  /// Returns the difference for effects that the engine gave and the trace does not have.
  private func rest() -> Difference? {
    compared < effects.count ? difference(recorded: nil, replayed: effects[compared]) : nil
  }

  private func difference(recorded: Effect?, replayed: Effect?) -> Difference {
    Difference(
      fact: counts.facts, cause: cause.map { Self.short("\($0)") } ?? "a flush", place: compared + 1,
      recorded: recorded, replayed: replayed)
  }
}
