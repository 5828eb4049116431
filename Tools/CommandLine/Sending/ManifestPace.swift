/// When a sender asks about many files at once: as long as most of those before were there already. A file that is
/// offered costs both sides some twenty times what one costs in a manifest; but one that is asked about in vain is read
/// twice. Pure.
struct ManifestPace: Sendable {
  /// So many files in a row have to have been there.
  static let firstRow = 32
  static let longestRow = 4_096
  static let firstCount = 64

  /// How many files the next manifest may have; nil: files are offered.
  private(set) var count: Int?
  private var row = 0
  private var wantedRow = firstRow

  /// Whether it may soon be asked: time to find out if the receiver answers.
  var isNear: Bool { row >= Self.firstRow / 2 }

  /// A file that was offered has its outcome.
  mutating func ended(wasPresent: Bool) {
    row = wasPresent ? row + 1 : 0
    if count == nil, row >= wantedRow { count = Self.firstCount }
  }

  /// A manifest was answered. One in vain makes the next one rarer: there may be a reason that lasts.
  mutating func answered(present: Int, of asked: Int) {
    guard asked > 0 else { return }
    guard present * 4 >= asked * 3 else {
      count = nil
      row = 0
      wantedRow = min(2 * wantedRow, Self.longestRow)
      return
    }
    count = min(2 * (count ?? Self.firstCount / 2), FileManifest.fileLimit)
    wantedRow = Self.firstRow
  }
}
