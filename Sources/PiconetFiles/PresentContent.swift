import CPiconetSystem
import Glibc
import Synchronization

/// Files in a folder that may already have the content of an offer: files of its size, under its name, with or without
/// a number, or with another number.
///
/// They are read in steps, so that a shared thread is never held up for long. Their digests are kept for as long as the
/// file system says that they have not changed. Calls block on the disk. Confined to one thread at a time.
public final class PresentContent {
  /// The number of files of one name that are compared. Content in further ones is not found, and may be stored a
  /// second time.
  static let limit = 64
  /// The number of names that are looked up to find them.
  private static let lookLimit = 1_000
  /// The most free numbers in a row that don't end the search: their files may have been removed.
  static let gapLimit = 2

  private struct Candidate {
    let name: SafeFileName
    var stamp: FileStamp
    var digest: SHA256Digest?
  }

  private let folder: IncomingFolder
  private let wanted: SafeFileName
  private let size: UInt64
  /// The names of its group, if the file belongs to one.
  private let names: GroupNames?
  private var candidates: [Candidate] = []
  private struct UnderWay {
    let index: Int
    let file: FileDescriptor
    let hash: RunningSHA256
    /// In nanoseconds since 1970; before the file was examined.
    let start: Int64
    var position: UInt64 = 0
  }

  private var underWay: UnderWay?
  private var finished = 0

  /// Looks for files; reads none. Nil if it finds no files, which takes three lookups if the name and the next two are
  /// free, and three more if it has a number.
  public convenience init?(
    in directory: IncomingDirectory, folder: SafeFolder, name: SafeFileName, size: UInt64, group: FileGroup? = nil
  ) throws(FileFailure) {
    try directory.checkLength(of: name, in: folder)
    guard let folder = try directory.open(folder, creating: false) else { return nil }
    try self.init(in: folder, name: name, size: size, group: group)
  }

  init?(
    in folder: IncomingFolder, name: SafeFileName, size: UInt64, group: FileGroup? = nil
  ) throws(FileFailure) {
    self.folder = folder
    self.size = size
    wanted = name
    names = group.flatMap { GroupNames($0, name, in: folder.directory) }
    var left = Self.lookLimit
    try look(for: name, &left)
    // A sender that numbers its own names gives another one when it sends more or fewer of them.
    if let base = name.withoutNumber { try look(for: base, &left) }
    if candidates.isEmpty { return nil }
  }

  /// Looks for the name, with and without a number.
  private func look(for name: SafeFileName, _ left: inout Int) throws(FileFailure) {
    let (first, longest) = (name.firstNumber, folder.directory.longestName)
    try look(for: name, from: first, &left) { name.numbered($0, fitting: longest) }
    // Files that former versions have stored.
    guard name.formerlyNumbered(2, fitting: longest) != nil else { return }
    try look(for: name, from: 1, &left) { name.formerlyNumbered($0, fitting: longest) ?? name }
  }

  /// - Parameter numbered: returns the name with a number.
  private func look(
    for name: SafeFileName, from first: Int, _ left: inout Int, _ numbered: (Int) -> SafeFileName
  ) throws(FileFailure) {
    var gap = 0
    for number in first...max(first, folder.directory.settings.maximumNumber) {
      left -= 1
      guard left >= 0, candidates.count < Self.limit else { return }
      let name = number == first ? name : numbered(number)
      let found: stat?
      do throws(FileFailure) {
        found = try folder.status(of: name)
      } catch {
        if number == first { throw error }
        // With its number it may be too long for this disk.
        return
      }
      guard let status = found else {
        gap += 1
        if gap > Self.gapLimit { return }
        continue
      }
      gap = 0
      if FileKind(mode: status.st_mode) == .regular, UInt64(clamping: status.st_size) == size,
        !candidates.contains(where: { $0.name == name }), try !folder.isOfAnotherPhoto(name, size: size, names)
      {
        candidates.append(Candidate(name: name, stamp: FileStamp(status)))
      }
    }
  }

  /// Examines only the file with exactly this name.
  /// - Parameter wanted: the name that the sender wants.
  init(
    in folder: IncomingFolder, exactly name: SafeFileName, wanted: SafeFileName? = nil, _ status: stat
  ) {
    self.folder = folder
    self.wanted = wanted ?? name
    names = nil
    size = UInt64(clamping: status.st_size)
    candidates = [Candidate(name: name, stamp: FileStamp(status))]
  }

  /// Returns the digest of a file that was compared, as long as it has not changed.
  func digest(of name: SafeFileName, _ stamp: FileStamp) -> SHA256Digest? {
    candidates.first { $0.name == name && $0.stamp == stamp }?.digest
  }

  /// The number of bytes that were read. Grows to at most the size of one file, since that is what is reported.
  public var comparedByteCount: UInt64 {
    let share = UInt64(max(1, candidates.count))
    return min(size, UInt64(finished) * (size / share) + (underWay?.position ?? 0) / share)
  }

  /// Reads on by about this many bytes.
  /// - Returns: whether everything has been read.
  public func step(_ byteCount: UInt64) -> Bool {
    var left = max(1, byteCount)
    while left > 0 {
      if underWay == nil, !begin() { break }
      guard var current = underWay else { break }
      let wanted = min(left, size - current.position)
      let count = FileContent.add(current.file, from: current.position, count: wanted, to: current.hash)
      current.position += count
      left -= min(left, max(1, count))
      if count == wanted, current.position < size {
        underWay = current
        continue
      }
      underWay = nil
      finished += 1
      if count == wanted { end(current) }
    }
    return underWay == nil && finished == candidates.count
  }

  /// Returns the file that has this content, and has not changed since it was read; nil if no file has it.
  /// - Parameter files: the sender's files; the match is noted there before any other transfer may replace it.
  public func match(_ digest: SHA256Digest, notingIn files: (any FilesOfSender)? = nil) -> SafeFileName? {
    let same = folder.directory.replacing.withLock { _ in findMatch(digest, notingIn: files) }
    // Not under that lock: a group that gets a number holds its own, and waits for that lock.
    if let same, let names { folder.note(names, has: same) }
    return same
  }

  /// Same as `match`, for when nothing may be replaced meanwhile, or it does not matter.
  func findMatch(_ digest: SHA256Digest, notingIn files: (any FilesOfSender)? = nil) -> SafeFileName? {
    for candidate in candidates where candidate.digest == digest {
      guard let status = try? folder.status(of: candidate.name), FileStamp(status) == candidate.stamp else { continue }
      let stem = folder.stemTrace(of: candidate.name).map { [$0] } ?? []
      files?.note(folder.traces(of: candidate.name, wanted: wanted, FileIdentity(status), size: size, digest) + stem)
      return candidate.name
    }
    return nil
  }

  public func path(of name: SafeFileName) -> StoredPath {
    StoredPath(relative: folder.relativePath(of: name), absolute: folder.path(of: name))
  }

  /// Makes the name durable: the process that stored the file may have been killed before that.
  public func settle() throws(FileFailure) { try folder.synchronize() }

  /// Opens the next file whose digest is not known.
  /// - Returns: false if none is left.
  private func begin() -> Bool {
    while finished < candidates.count {
      let candidate = candidates[finished]
      if let known = folder.directory.digests.digest(of: key(candidate)) {
        candidates[finished].digest = known
      } else {
        let start = FileDigests.now
        if let file = open(candidate), let hash = RunningSHA256() {
          underWay = UnderWay(index: finished, file: file, hash: hash, start: start)
          return true
        }
      }
      finished += 1
    }
    return false
  }

  private func open(_ candidate: Candidate) -> FileDescriptor? {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let opened = folder.directory.calls.open(folder.number, candidate.name.text, flags)
    guard opened.result >= 0 else { return nil }
    let file = FileDescriptor(opened.result)
    guard let status = file.status(), FileStamp(status) == candidate.stamp else { return nil }
    // The kernel's cached part was read before another spelling of the name may have led to a write.
    if !folder.directory.keepsInodes { _ = posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED) }
    _ = posix_fadvise(file.number, 0, 0, POSIX_FADV_SEQUENTIAL)
    return file
  }

  private func end(_ read: UnderWay) {
    let candidate = candidates[read.index]
    guard let status = read.file.status(), FileStamp(status) == candidate.stamp, let digest = read.hash.finish() else {
      return
    }
    candidates[read.index].digest = digest
    folder.directory.digests.note(digest, of: key(candidate), at: read.start)
    SHA256Digest.Cache.ofProcess?.note(digest, of: candidate.stamp, lookedAt: read.start, in: read.file.number)
  }

  private func key(_ candidate: Candidate) -> FileDigests.Key {
    FileDigests.Key(path: folder.relativePath(of: candidate.name), stamp: candidate.stamp)
  }
}

@available(*, unavailable, message: "It is used by one thread at a time.")
extension PresentContent: Sendable {}

/// The path of a stored file.
public struct StoredPath: Hashable, Sendable {
  /// Below the receiving directory.
  public let relative: String
  public let absolute: String
}
