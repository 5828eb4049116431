import Glibc
import Synchronization

/// A file's names with numbers, and the existing files that have them in a folder.
struct GroupNames {
  let group: FileGroup
  let name: SafeFileName
  let decision: GroupNumber
  private let parts: NumberedName
  private let limit: Int

  /// Returns nil if the name does not belong to the group.
  init?(_ group: FileGroup, _ name: SafeFileName, in directory: IncomingDirectory) {
    guard let own = group.place(of: name) else { return nil }
    self.group = group
    self.name = name
    decision = GroupNumber(own: own)
    parts = NumberedName(name.text)
    // A long stem is shortened for the longest ending: all members have the same stem.
    let longest = group.members.map(\.ending.utf8.count).max() ?? 0
    limit = directory.longestName - max(0, longest - parts.ending.utf8.count)
  }

  /// The number of the offered name.
  var first: Int { parts.countedNumber ?? 1 }

  func identity(_ folder: IncomingFolder) -> GroupClaims.Key {
    GroupClaims.Key(
      folder: folder.components.map(\.text).joined(separator: "/"), identity: group.identity(of: parts.countedStem))
  }

  func place(_ number: Int, _ folder: IncomingFolder) -> GroupClaims.Place {
    GroupClaims.Place(
      folder.components.map(\.text).joined(separator: "/"), NumberedName.split(own(number).text).stem)
  }

  /// Returns the file's own name with a number.
  func own(_ number: Int) -> SafeFileName {
    if number == first { return name }
    if number == 1, let base = name.withoutNumber { return base }
    return name.numbered(number, fitting: limit)
  }

  /// Returns the names of all members, in the order of the group; nil for a name that no file can have.
  func all(_ number: Int) -> [SafeFileName?] {
    let stem = NumberedName.split(own(number).text).stem
    return group.members.map { try? SafeFileName(stem + $0.ending) }
  }
}

extension IncomingFolder {
  /// The number of files that are read for one decision: a peer can claim any sizes.
  private static let readLimit = 16
  /// The number of numbers that are searched for files of a group.
  private static let searchLimit = 64

  /// Returns the files that have the names of a group with a number.
  func looks(at names: GroupNames, _ number: Int, reads: inout Int) throws(FileFailure) -> [GroupNumber.Look] {
    var looks: [GroupNumber.Look] = []
    for (member, name) in zip(names.group.members, names.all(number)) {
      guard let name, let status = try status(of: name) else {
        looks.append(.free)
        continue
      }
      var look = GroupNumber.Look.other
      if UInt64(clamping: status.st_size) == member.size, FileKind(mode: status.st_mode) == .regular,
        member.start != .untold, reads < Self.readLimit
      {
        reads += 1
        if let there = FileStart.read(name, in: self.number), there == (member.size, member.start) { look = .same }
      }
      looks.append(look)
    }
    return looks
  }

  /// Returns whether a file would lie, under its offered name, beside a photo that is not its own.
  func hasAnotherPhoto(for names: GroupNames, _ number: Int) throws(FileFailure) -> Bool {
    var reads = 0
    return names.decision.liesBesideAnother(try looks(at: names, number, reads: &reads))
  }

  /// Returns the number for a file of a group: the one that the group has, or the first from `first` on that is free.
  /// Free means that neither the group's names nor another photo or film of them exist with it.
  /// - Returns: nil if none is left.
  func number(
    for names: GroupNames, from first: Int, last: Int, _ claims: GroupClaims, at now: Int64
  ) throws(FileFailure) -> Int? {
    let key = names.identity(self)
    if let number = claims.number(of: key, at: now), number >= first || number < names.first,
      try status(of: names.own(number)) == nil
    {
      return number
    }
    var reads = 0
    if first == names.first, names.first > Self.searchLimit,
      names.decision.joins(try looks(at: names, first, reads: &reads))
    {
      return first
    }
    var gap = 0
    for number in 1...Self.searchLimit where gap <= PresentContent.gapLimit {
      // The offered name may have any number.
      let looks = try looks(at: names, number, reads: &reads)
      gap = names.decision.isFree(looks) ? gap + 1 : 0
      if number >= first || number < names.first, names.decision.joins(looks) { return number }
    }
    func isTaken(_ number: Int) throws(FileFailure) -> Bool {
      if claims.isTaken(names.place(number, self), for: key, at: now) { return true }
      for name in names.all(number) {
        if let name, try status(of: name) != nil { return true }
      }
      return try hasPhoto(named: NumberedName.split(names.own(number).text).stem)
    }
    var numbers = NameNumbers(first: first, last: last)
    while let number = try numbers.next(isTaken: isTaken) {
      if try !isTaken(number) { return number }
    }
    return nil
  }

  /// Returns whether the group has another number than that of the offered name, or another group has that.
  func isElsewhere(_ names: GroupNames) -> Bool {
    let (key, moment) = (names.identity(self), directory.now().running)
    return directory.groups.withLock { claims in
      if let number = claims.number(of: key, at: moment) { return number != names.first }
      return claims.isTaken(names.place(names.first, self), for: key, at: moment)
    }
  }

  /// Notes that the group has the number of an existing file.
  func note(_ names: GroupNames, has name: SafeFileName) {
    let parts = NumberedName(name.text)
    let number = name == names.name ? names.first : parts.countedNumber ?? 1
    guard names.own(number) == name else { return }
    let moment = directory.now().running
    let (place, key) = (names.place(number, self), names.identity(self))
    directory.groups.withLock { claims in
      if !claims.isTaken(place, for: key, at: moment) { claims.note(place, number, of: key, at: moment) }
    }
  }

  /// Returns whether a file that belongs to no group would get between those of a group: its stem is the group's, which
  /// has files in the folder.
  func isOfGroup(_ name: SafeFileName) throws(FileFailure) -> Bool {
    let parts = NumberedName.split(name.text)
    guard FileEnding.rank(of: parts.ending) != nil else { return false }
    let place = GroupClaims.Place(components.map(\.text).joined(separator: "/"), parts.stem)
    let moment = directory.now().running
    guard directory.groups.withLock({ $0.isTaken(place, for: nil, at: moment) }) else { return false }
    return try hasPhoto(named: parts.stem)
  }

  /// Returns whether a film or sidecar whose sender names no group would lie beside a photo that the sender has not
  /// stored. For a sidecar, a film counts as well.
  func isOfOthers(_ name: SafeFileName, _ filesOfSender: (any FilesOfSender)?) throws(FileFailure) -> Bool {
    guard let filesOfSender, let trace = stemTrace(of: name), !filesOfSender.contains(trace) else { return false }
    let parts = NumberedName.split(name.text)
    return switch FileEnding.rank(of: parts.ending) {
    case .film: try has(FileEnding.lookedPhotos, behind: parts.stem)
    case .sidecar: try hasPhoto(named: parts.stem)
    case .photo, nil: false
    }
  }

  /// Returns the trace that recognizes files that belong together if their sender names no group; nil for a file that
  /// belongs to no photo or film.
  func stemTrace(of name: SafeFileName) -> FileTrace? {
    let parts = NumberedName.split(name.text)
    guard FileEnding.rank(of: parts.ending) != nil else { return nil }
    return .stem((components.map(\.text) + [parts.stem]).joined(separator: "/").lowercased())
  }

  /// Returns whether a small existing file with the same content lies beside a photo that the offered one does not
  /// belong to: the files that programs write about two photos may be the same.
  func isOfAnotherPhoto(_ name: SafeFileName, size: UInt64, _ names: GroupNames?) throws(FileFailure) -> Bool {
    guard let names, size <= FileStart.readByteCount, names.decision.own > 0 else { return false }
    let number = name == names.name ? names.first : NumberedName(name.text).countedNumber ?? 1
    guard names.own(number) == name else { return false }
    let (place, key, moment) = (names.place(number, self), names.identity(self), directory.now().running)
    if directory.groups.withLock({ $0.isTaken(place, for: key, at: moment) }) { return true }
    return try hasAnotherPhoto(for: names, number)
  }

  /// Returns whether a photo or film of this name exists, whatever its ending.
  private func hasPhoto(named stem: String) throws(FileFailure) -> Bool {
    try has(FileEnding.looked, behind: stem)
  }

  private func has(_ endings: [String], behind stem: String) throws(FileFailure) -> Bool {
    for ending in endings {
      if let name = try? SafeFileName(stem + ending), try status(of: name) != nil { return true }
    }
    return false
  }
}

extension IncomingDirectory {
  /// Returns whether a file would lie beside a photo that is not its own, if it were stored under the offered name.
  public func hasAnotherPhoto(
    for name: SafeFileName, in folder: SafeFolder, _ group: FileGroup
  ) throws(FileFailure) -> Bool {
    guard let names = GroupNames(group, name, in: self), let folder = try open(folder, creating: false) else {
      return false
    }
    return try folder.hasAnotherPhoto(for: names, names.first)
  }
}
