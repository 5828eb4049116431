import PiconetEngine

/// Which looks at a link's pace are news to the engine: a value.
struct PaceNews: Sendable, Equatable {
  /// Bytes. What is above every window says no more than that.
  static let fastest = 1 << 20

  private var told: BulkPace?

  /// The pace is this now.
  /// - Returns: what the engine is to be told; nil: nothing has changed. However little the room has become smaller, it
  ///   is told: the last bytes of it would otherwise be used again and again.
  mutating func look(at pace: BulkPace) -> BulkPace? {
    let pace = BulkPace(room: min(pace.room, Self.fastest), bound: min(pace.bound, Self.fastest))
    if pace == told { return nil }
    told = pace
    return pace
  }
}
