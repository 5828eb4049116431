import PiconetEngine

/// Decides which changes of a link's pace are news to the engine. A value.
struct PaceNews: Sendable, Equatable {
  /// In bytes. Anything above every window means the same.
  static let fastest = 1 << 20

  private var told: BulkPace?

  /// The pace is this now.
  /// - Returns: what to tell the engine; nil: nothing has changed. Any decrease of the room is told, however small:
  ///   otherwise its last bytes would be used again and again.
  mutating func update(to pace: BulkPace) -> BulkPace? {
    let pace = BulkPace(room: min(pace.room, Self.fastest), bound: min(pace.bound, Self.fastest))
    if pace == told { return nil }
    told = pace
    return pace
  }
}
