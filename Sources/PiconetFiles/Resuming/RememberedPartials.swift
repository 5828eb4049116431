/// What was kept when a directory was read last: offers that can't fit, of which a sender may make as many as it likes,
/// don't have it read each time.
///
/// It only ever says that nothing would make enough room; what is removed was read before. A file that another process
/// keeps meanwhile is not in it, so it is soon out of date.
struct RememberedPartials: Sendable {
  /// For how many seconds it counts, or a little less: a clock of whole seconds is asked.
  static let seconds: Int64 = 2

  private var files: [KeptPartial] = []
  /// When the directory was read; nil: it is to be read again.
  private var read: KeptAge.Moment?
  /// Another one after each `forget`: what was read before that does not count.
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

  /// Nil if the directory is to be read again.
  func files(at moment: KeptAge.Moment) -> [KeptPartial]? {
    guard let read else { return nil }
    let passed = moment.running.subtractingReportingOverflow(read.running)
    return !passed.overflow && (0..<Self.seconds).contains(passed.partialValue) ? files : nil
  }
}
