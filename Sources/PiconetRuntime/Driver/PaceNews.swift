import PiconetEngine

/// Decides which changes of a link's pace the engine is told. A value.
struct PaceNews: Sendable, Equatable {
  /// In bytes. All values above every window mean the same.
  static let fastest = 1 << 20

  private var told: BulkPace?

  /// Takes the present pace.
  /// - Returns: the pace to tell the engine; nil: nothing has changed. Any decrease of the room is told, however small:
  ///   otherwise its last bytes would be used again and again.
  mutating func update(to pace: BulkPace) -> BulkPace? {
    let pace = BulkPace(room: min(pace.room, Self.fastest), bound: min(pace.bound, Self.fastest))
    if pace == told { return nil }
    told = pace
    return pace
  }
}
