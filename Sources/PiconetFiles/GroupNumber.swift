/// The choice of a file's number, so that it gets that of the files that it belongs to, and lies beside no other photo.
/// It needs no disk.
struct GroupNumber {
  /// The file that has the name of a member, with some number.
  enum Look: Hashable, Sendable {
    case free
    /// As far as can be seen, the member itself.
    case same
    case other
  }

  /// The place of the file in its group.
  let own: Int

  /// Returns whether the file belongs to the files with this number: its name is free, and the first of them in rank
  /// belongs to the group.
  func joins(_ looks: [Look]) -> Bool {
    looks.indices.contains(own) && looks[own] == .free && looks.first { $0 != .free } == .same
  }

  /// Returns whether none of the group's names is taken with this number.
  func isFree(_ looks: [Look]) -> Bool { looks.allSatisfy { $0 == .free } }

  /// Returns whether the file would lie beside a photo that is not its own.
  func liesBesideAnother(_ looks: [Look]) -> Bool { looks.prefix(own).first { $0 != .free } == .other }
}

/// The numbers that groups have taken in a directory since it was opened, so that files which come at the same moment
/// do not get between those of a group. Pure: times are arguments, in seconds of one clock.
struct GroupClaims: Sendable {
  /// One group's names with one number, in the form in which a file system without case compares them.
  struct Place: Hashable, Sendable {
    let folder: String
    let stem: String

    init(_ folder: String, _ stem: String) { (self.folder, self.stem) = (folder, stem.lowercased()) }
  }

  /// A group of one folder.
  struct Key: Hashable, Sendable {
    let folder: String
    let identity: Int
  }

  private struct Claim {
    let key: Key
    let number: Int
    var time: Int64
  }

  /// The number of claims that are remembered: beyond it the oldest is forgotten.
  static let limit = 1_024
  /// How long a claim counts after the last of its files, in seconds.
  static let age: Int64 = 3_600

  private var claims: [Place: Claim] = [:]
  private var places: [Key: Place] = [:]

  /// Returns the number that a group has taken.
  func number(of key: Key, at now: Int64) -> Int? {
    guard let claim = places[key].flatMap({ claims[$0] }), isCurrent(claim, now) else { return nil }
    return claim.number
  }

  /// Returns whether another group has taken these names. Without a key: any group.
  func isTaken(_ place: Place, for key: Key?, at now: Int64) -> Bool {
    guard let claim = claims[place], isCurrent(claim, now) else { return false }
    return claim.key != key
  }

  mutating func note(_ place: Place, _ number: Int, of key: Key, at now: Int64) {
    if let former = places[key], former != place { claims[former] = nil }
    if let other = claims[place], other.key != key { places[other.key] = nil }
    claims[place] = Claim(key: key, number: number, time: now)
    places[key] = place
    while claims.count > Self.limit, let oldest = claims.min(by: { $0.value.time < $1.value.time }) {
      claims[oldest.key] = nil
      places[oldest.value.key] = nil
    }
  }

  private func isCurrent(_ claim: Claim, _ now: Int64) -> Bool {
    let passed = now.subtractingReportingOverflow(claim.time)
    return !passed.overflow && (0..<Self.age).contains(passed.partialValue)
  }
}
