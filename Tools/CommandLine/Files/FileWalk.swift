import Glibc
import Piconet

/// Goes through the operands of a command line and produces one file after the other.
///
/// A file stands for itself, with the files that belong to a photo (`Companions`); a URL stands for itself. A directory
/// stands for the photos and videos in it and below (with `--any` for all its files), sorted by name. Hidden ones are
/// only counted, or sent after the others. Its contents are offered below folders of the same names, or with `--flat`
/// without folders. Links to files are sent as their content; a link to a directory is followed if it was named itself,
/// or with `followsLinks`, and then no directory is entered twice, so a loop ends. Something that can't be sent is a
/// failure of its own and does not stop the rest.
///
/// There is no limit on the number of files. Memory holds the names in the directories on the way to the present one,
/// and, if files of several operands may have the same name, or with `isFlat`, a number for each name; of several
/// operands also which files were left out.
struct FileWalk: Sendable {
  /// The treatment of files in directories whose names, or those of directories below the named one, begin with a dot.
  enum Hidden: Hashable, Sendable {
    case sent
    /// Counted among `leftOut`, as far as they would be sent.
    case counted
    case passedOver
  }

  struct Options: Hashable, Sendable {
    /// Whether files other than images are included.
    var any = false
    /// Whether files are offered without folders.
    var isFlat = false
    var followsLinks = false
    /// Whether the files that belong to a photo go with it.
    var takesCompanions = true
    var hidden = Hidden.counted
    var depth = CommandLineLimits.directoryDepth
    /// How many hidden files and directories are looked at to count them.
    var looks = CommandLineLimits.hiddenLooks
    /// What the operand `-` stands for; nil: a file of that name.
    var input: Input?
  }

  /// The content of standard input.
  struct Input: Hashable, Sendable {
    let content: LocalPath
    /// What it is offered as; nil: `stdin`, with the extension of its kind.
    var name: LocalPath?
  }

  enum Step: Hashable, Sendable {
    case file(GatheredFile)
    case failure(GatheringFailure)
    /// A link to a directory that is not followed.
    case link(LocalPath)
    /// A directory whose contents are offered below a folder of another name.
    case folder(LocalPath, offeredAs: String, because: String)
    /// A file that comes up for the second time.
    case twice(LocalPath)
  }

  /// Where files are offered.
  private struct Folder {
    var names: [[UInt8]] = []
    /// `names`, as cards and sticks accept them.
    var onCards: [[UInt8]] = []

    func appending(_ name: [UInt8], onCards other: [UInt8]) -> Folder {
      Folder(names: names + [name], onCards: onCards + [other])
    }
  }

  /// A directory on the way.
  private struct Level {
    let path: LocalPath
    let names: DirectoryNames
    var next = 0
    /// The folder below which its contents are offered.
    let folder: Folder
    /// Repaired names of folders in it.
    var repaired: Set<[UInt8]> = []
    /// Whether its files are only counted.
    var isCounted = false
  }

  private let options: Options
  private let operands: [LocalPath]
  private var nextOperand = 0
  private var levels: [Level] = []
  /// Directories of the present operand that were entered.
  private var visited: Set<OfferedNames.Identity> = []
  private var isBarren = false
  private var offered = OfferedNames()
  private var neighbours: NeighbouringNames
  /// Files that belong to the last operand.
  private var companions: [LocalPath] = []
  /// Files in directories so far that are not sent.
  private(set) var leftOut = LeftOutFiles()
  /// Those of several operands.
  private var leftOutFiles: Set<OfferedNames.Identity> = []
  /// How many files and directories were looked at only to count hidden files.
  private var looks = 0
  /// Hidden directories of the present operand that were entered.
  private var counted: Set<OfferedNames.Identity> = []

  init(_ operands: [LocalPath], _ options: Options = Options()) {
    self.operands = operands
    self.options = options
    neighbours = NeighbouringNames(operands: operands.count)
  }

  /// The next file or failure; nil at the end, or if the task was cancelled. Blocks on the disk.
  mutating func next() -> Step? {
    while !Task.isCancelled {
      let step: Step?
      if !levels.isEmpty {
        step = nextBelow()
      } else if let companion = companions.popLast() {
        step = self.companion(companion)
      } else if nextOperand < operands.count {
        nextOperand += 1
        step = begin(operands[nextOperand - 1])
      } else {
        return nil
      }
      guard let step else { continue }
      switch step {
      case .file, .failure, .twice: isBarren = false
      case .link, .folder: break
      }
      return step
    }
    return nil
  }

  private mutating func begin(_ operand: LocalPath) -> Step? {
    if operand.isURL { return url(operand) }
    do throws(GatheringFailure) {
      if operand == "-", let input = options.input { return try self.input(input, operand) }
      let status: stat
      do throws(GatheringFailure) {
        status = try Self.status(of: operand)
      } catch {
        guard let scheme = operand.scheme else { throw error }
        throw GatheringFailure(path: operand, reason: .badURL("'\(scheme)' is not fetched, http and https are"))
      }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        let found = try Self.inspect(operand, status)
        guard found.kind != nil || options.any else { throw GatheringFailure(path: operand, reason: found.reason) }
        if options.takesCompanions, !neighbours.isAlone(operand) {
          companions = Companions.of(operand, found.kind).reversed()
        }
        return step(operand, found, folder: Folder(), siblings: nil)
      }
      visited = []
      counted = []
      isBarren = true
      let name = operand.lastComponent.bytes
      // A path that does not end with a folder's name stands for the folder's contents.
      let isPlace = name == [0x2E] || name == [0x2E, 0x2E] || name == [0x2F] || name.isEmpty
      guard !isPlace, !options.isFlat else { return try enter(operand, status, folder: Folder()) }
      let folder = AcceptableName(name)
      _ = try enter(operand, status, folder: Folder().appending(folder.bytes, onCards: folder.onCards.bytes))
      return Self.renamed(operand, name, as: folder.bytes)
    } catch {
      isBarren = false
      return .failure(error)
    }
  }

  private mutating func input(_ input: Input, _ operand: LocalPath) throws(GatheringFailure) -> Step {
    // Until its kind is known it has no other name.
    let shown = input.name ?? operand
    let found: Found
    do throws(GatheringFailure) {
      found = try Self.inspect(input.content, try Self.status(of: input.content))
    } catch {
      throw GatheringFailure(path: shown, reason: error.reason)
    }
    guard found.kind != nil || options.any else { throw GatheringFailure(path: shown, reason: found.reason) }
    let name = input.name ?? LocalPath("stdin" + (found.kind.map { ".\($0.fileExtension)" } ?? ""))
    return step(name, found, folder: Folder(), siblings: nil, content: input.content)
  }

  /// Steps to a file that was not named: it is sent if its content matches its name, and otherwise ignored without a
  /// report.
  private mutating func companion(_ path: LocalPath) -> Step? {
    guard let status = try? Self.status(of: path), let found = try? Self.inspect(path, status),
      found.kind == .xmp || found.kind?.isVideo == true
    else { return nil }
    return step(path, found, folder: Folder(), siblings: nil)
  }

  private mutating func nextBelow() -> Step? {
    guard let level = levels.last else { return nil }
    guard level.next < level.names.count else {
      levels.removeLast()
      guard levels.isEmpty, isBarren else { return nil }
      return .failure(GatheringFailure(path: level.path, reason: .noImages))
    }
    levels[levels.count - 1].next += 1
    let name = level.names[level.next]
    let path = level.path.appending(name)
    if DirectoryNames.isHidden(name) || level.isCounted {
      // A partial file that a receiver has left here is not part of a photo.
      guard !ReceivingDirectory.isReserved(name) else { return nil }
      if options.hidden != .sent {
        count(path, below: level.folder, name)
        return nil
      }
    }
    do throws(GatheringFailure) {
      var status = try Self.status(of: path, followingLink: false)
      let isLink = status.st_mode & S_IFMT == S_IFLNK
      if isLink { status = try Self.status(of: path) }
      switch status.st_mode & S_IFMT {
      case S_IFDIR:
        if isLink, !options.followsLinks { return .link(path) }
        guard !options.isFlat else { return try enter(path, status, folder: Folder()) }
        let offered = folderName(name)
        let before = levels.count
        _ = try enter(path, status, folder: level.folder.appending(offered.name, onCards: offered.onCards))
        return levels.count > before ? Self.renamed(path, name, as: offered.name) : nil
      case S_IFREG:
        let found = try Self.inspect(path, status)
        guard found.kind != nil || options.any else {
          leaveOut(found, found.otherwise)
          return nil
        }
        return step(path, found, folder: level.folder, siblings: level.names)
      // Sockets and the like in a directory were not asked for.
      default: return nil
      }
    } catch {
      return .failure(error)
    }
  }

  private mutating func leaveOut(_ found: Found, _ kind: LeftOutFiles.Kind) {
    // One directory may be named twice.
    if operands.count < 2 || leftOutFiles.insert(found.identity).inserted { leftOut.add(kind) }
  }

  /// Counts a hidden file if it would be sent, or enters a directory to count those in it. A fault of any of them is no
  /// failure.
  private mutating func count(_ path: LocalPath, below folder: Folder, _ name: [UInt8]) {
    guard looks < options.looks else { return leftOut.passedOverHidden() }
    looks += 1
    guard var status = try? Self.status(of: path, followingLink: false) else { return }
    let isLink = status.st_mode & S_IFMT == S_IFLNK
    if isLink {
      guard let target = try? Self.status(of: path) else { return }
      status = target
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR:
      if isLink, !options.followsLinks { return }
      _ = try? enter(path, status, folder: folder.appending(name, onCards: name), isCounted: true)
    case S_IFREG:
      guard let found = try? Self.inspect(path, status), found.kind != nil || options.any else { return }
      leaveOut(found, .hidden)
    default: return
    }
  }

  /// Tells of a folder that does not keep its name.
  private static func renamed(_ path: LocalPath, _ name: [UInt8], as offered: [UInt8]) -> Step? {
    guard let why = AcceptableName(name).refusal else { return nil }
    return .folder(path, offeredAs: String(decoding: offered, as: UTF8.self), because: "the name \(why)")
  }

  /// - Returns: nothing; the contents follow.
  private mutating func enter(
    _ path: LocalPath, _ status: stat, folder: Folder, isCounted: Bool = false
  ) throws(GatheringFailure) -> Step? {
    guard levels.count <= options.depth, AcceptableFolder(folder.names) != nil else {
      throw GatheringFailure(path: path, reason: .tooDeep)
    }
    if options.followsLinks {
      let identity = OfferedNames.Identity(status)
      if isCounted, visited.contains(identity) || !counted.insert(identity).inserted { return nil }
      if !isCounted, !visited.insert(identity).inserted { return nil }
    }
    do throws(SystemFailure) {
      let names = try DirectoryNames(of: path, hasHidden: options.hidden != .passedOver)
      levels.append(Level(path: path, names: names, folder: folder, isCounted: isCounted))
    } catch {
      throw GatheringFailure(path: path, reason: .system(error.number))
    }
    return nil
  }

  /// The name of a folder in the present one, and the one for cards, each repaired if it would not be taken as it is,
  /// so that it differs from those of others.
  private mutating func folderName(_ name: [UInt8]) -> (name: [UInt8], onCards: [UInt8]) {
    let acceptable = AcceptableName(name)
    let offered = acceptable.refusal == nil ? acceptable : different(acceptable)
    let onCards = offered.onCards
    return (offered.bytes, onCards == offered ? onCards.bytes : different(onCards).bytes)
  }

  /// A repaired name for a folder that nothing else in the present one has.
  private mutating func different(_ name: AcceptableName) -> AcceptableName {
    var (candidate, number) = (name, 1)
    while levels[levels.count - 1].names.contains(candidate.bytes)
      || !levels[levels.count - 1].repaired.insert(candidate.bytes).inserted
    {
      number += 1
      candidate = name.numbered(number)
    }
    return candidate
  }

  // MARK: One file

  private mutating func step(
    _ path: LocalPath, _ found: Found, folder place: Folder, siblings: DirectoryNames?, content: LocalPath? = nil
  ) -> Step {
    let name = AcceptableName(path.lastComponent.bytes)
    guard let folder = AcceptableFolder(place.names) else {
      return .failure(GatheringFailure(path: path, reason: .tooDeep))
    }
    // Files in one directory have different names already.
    let mayMeet = options.isFlat || operands.count > 1 || name.refusal != nil
    let mayHaveGroup = options.takesCompanions && content == nil && (siblings != nil || !neighbours.isAlone(path))
    let group = mayHaveGroup ? Companions.group(of: path, siblings) : []
    let answer =
      mayMeet && name.refusal == nil && !group.isEmpty
      ? offered.take(name, in: folder.text, identity: found.identity, of: Companions.names(of: group, path))
      : mayMeet
        ? offered.take(name, in: folder.text, identity: found.identity) { text in
          name.refusal != nil && siblings?.contains(text.utf8) == true
        } : .free(name)
    switch answer {
    case .sameFile: return .twice(path)
    case .free(let name), .numbered(let name):
      var renaming = name.refusal.map { "the name \($0)" }
      if case .numbered = answer, renaming == nil { renaming = "another file of this command has that name" }
      return .file(
        GatheredFile(
          path: path, content: content, size: found.size, kind: found.kind, name: name,
          folder: folder.text.isEmpty ? nil : folder, renaming: renaming,
          onCards: onCards(name, place, found.identity, siblings: siblings),
          group: group))
    }
  }

  private mutating func onCards(
    _ name: AcceptableName, _ folder: Folder, _ identity: OfferedNames.Identity, siblings: DirectoryNames?
  ) -> GatheredFile.CardPlace? {
    let other = name.onCards
    guard other != name || folder.onCards != folder.names, let place = AcceptableFolder(folder.onCards) else {
      return nil
    }
    let answer = offered.take(other, in: place.text, identity: identity) { text in
      other != name && siblings?.contains(text.utf8) == true
    }
    switch answer {
    case .sameFile: return nil
    case .free(let name), .numbered(let name):
      return GatheredFile.CardPlace(name: name, folder: place.text.isEmpty ? nil : place)
    }
  }

  private mutating func url(_ operand: LocalPath) -> Step {
    do throws(PiconetError) {
      let name = AcceptableName(Array(try Resource.name(ofURL: operand.readable).utf8))
      let answer = offered.take(name, in: "", identity: nil)
      guard case .numbered(let other) = answer else {
        return .file(GatheredFile(path: operand, size: 0, kind: nil, name: name, folder: nil, renaming: nil))
      }
      return .file(
        GatheredFile(
          path: operand, size: 0, kind: nil, name: other, folder: nil,
          renaming: "another file of this command has that name"))
    } catch {
      return .failure(GatheringFailure(path: operand, reason: .badURL(error.detail)))
    }
  }
}
