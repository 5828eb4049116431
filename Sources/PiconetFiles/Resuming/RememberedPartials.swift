/// The kept files from the last reading of a directory. A sender may make any number of offers that can't fit; the
/// directory is not read for each.
///
/// It only ever says that nothing would free enough; the files to remove are read anew. A file that another process
/// keeps meanwhile is not in it, so it is soon out of date.
struct RememberedPartials: Sendable {
  /// How many seconds it counts, or a little less: the clock counts whole seconds.
  static let seconds: Int64 = 2

  private var files: [KeptPartial] = []
  /// When the directory was read; nil: it is to be read again.
  private var read: KeptAge.Moment?
  /// Changes with each `forget`: a reading from before that does not count.
  private(set) var version: UInt64 = 0

  /// - Parameters:
  ///   - moment: when the reading began.
  ///   - version: the one at that time.
  mutating func note(_ files: [KeptPartial], at moment: KeptAge.Moment, of version: UInt64) {
    guard version == self.version else { return }
    self.files = files
    read = moment
  }

  mutating func forget() {
    files = []
    read = nil
    version += 1
  }

  /// Returns nil if the directory is to be read again.
  func files(at moment: KeptAge.Moment) -> [KeptPartial]? {
    guard let read else { return nil }
    let passed = moment.running.subtractingReportingOverflow(read.running)
    return !passed.overflow && (0..<Self.seconds).contains(passed.partialValue) ? files : nil
  }
}
