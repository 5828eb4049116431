/// The number of descriptors that the files of transfers may have open at once, by the limit of the process. Pure.
struct OpenFileBudget: Hashable, Sendable {
  /// The number of descriptors that one transfer takes, including those that its end needs for a moment.
  enum Need: Int, Sendable {
    /// A file that is read.
    case source = 1
    /// A partial file, its journal, its folder, and files that it is compared with.
    case store = 4
  }

  private(set) var inUse = 0

  /// Returns the number of descriptors left to everything else: the node's own, links, and the rest of the program.
  static func reserve(of limit: Int) -> Int { max(24, limit / 4) }

  /// - Returns: false if it has to wait. The first transfer goes on, however low the limit is.
  mutating func take(_ need: Need, limit: Int) -> Bool {
    guard inUse == 0 || inUse + need.rawValue <= limit - Self.reserve(of: limit) else { return false }
    inUse += need.rawValue
    return true
  }

  mutating func giveBack(_ need: Need) { inUse -= need.rawValue }
}
