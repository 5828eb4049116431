import CPiconetSystem
import Glibc
import Synchronization

/// The directory where received files are stored, opened once.
///
/// All work is relative to the descriptor, so neither renaming the directory nor putting a symbolic link in its place
/// can redirect it. Calls block on the disk. Any thread may use it; one directory may be open several times, in one
/// process or many.
public final class IncomingDirectory: @unchecked Sendable {
  // Sendable is right: the descriptor is only read as long as the directory is held; the rest is constant or behind the
  // mutex.
  public struct Settings: Sendable, Hashable {
    /// Bytes that must remain free after a file, so that a full disk does not stop the rest of the machine. Default 1
    /// MiB.
    public var spaceReserve: UInt64 = 1 << 20
    /// The largest file accepted, in bytes; nil (default): no limit but the disk's.
    public var maximumFileSize: UInt64?
    /// The largest number that a name gets; a file is refused if even that is taken. Default 1,000,000; at least 1.
    public var maximumNumber = 1_000_000
    /// Whether a file has no name until it is complete, if the file system can do that (O_TMPFILE). Default true: not
    /// even a power cut leaves anything behind.
    public var usesUnnamedFiles = true
    /// The number of partial files that are kept for transfers to resume. Beyond that, the sender with the most of them
    /// loses its oldest; all strangers together count as one. Default 16.
    public var keptPartialLimit = 16
    /// How long a partial file is kept, in seconds, from when a receiver first sees that no process is writing it. Time
    /// in which the machine was off, or its clock was corrected, counts for a day at most. Default seven days.
    public var keptPartialAge: Int64 = 7 * 86_400

    public init() {}
  }

  public let settings: Settings
  let descriptor: FileDescriptor
  let calls: FileSystemCalls
  /// The longest name in bytes that the file system takes and a peer may give.
  let longestName: Int
  /// Whether inode numbers distinguish files.
  let keepsInodes: Bool
  let now: @Sendable () -> KeptAge.Moment
  private let givenPath: String
  /// A path that leads to it from anywhere, as long as nothing happens to the path. Nil if the system can't say.
  let lookupPath: [CChar]?
  private let promisedSpace = Mutex(PromisedSpace())
  let rememberedPartials = Mutex(RememberedPartials())
  /// The owner of a file that this process makes here; nil: not known yet.
  let ownerOfNewFiles = Mutex<uid_t?>(nil)
  let foldersBeingMade = FoldersBeingMade()
  /// A commit that may replace a file holds this from its check until the file has its name. It also holds it while it
  /// takes any name until that is noted. Otherwise, of two files with one name, the one that must not be replaced might
  /// be. No file is read under it.
  let replacing = Mutex(())
  /// The numbers of the groups of files here.
  let groups = Mutex(GroupClaims())
  /// Known partial files of strangers, which may become useless once a whole file is stored.
  let partialsOfStrangers = Mutex<Set<PartialFileName>>([])
  /// The digests of files in it that were compared.
  let digests = FileDigests()

  /// Opens an existing directory.
  ///
  /// Throws `directoryMissing`, `notDirectory`, `noPermission` or `readOnly`: a receiver learns at its start, not with
  /// the first photo, that it can't write there.
  public convenience init(path: String, settings: Settings = Settings()) throws(FileFailure) {
    try self.init(path: path, settings: settings, calls: FileSystemCalls())
  }

  init(
    path: String, settings: Settings, calls: FileSystemCalls = FileSystemCalls(),
    now: @escaping @Sendable () -> KeptAge.Moment = { .now }
  ) throws(FileFailure) {
    let opened = FileDescriptor.retrying { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard opened.result >= 0 else {
      if opened.errno == ENOENT { throw FileFailure(.directoryMissing, path: path) }
      throw FileFailure(errno: opened.errno, .writingFile, path: path)
    }
    descriptor = FileDescriptor(opened.result)
    givenPath = path
    lookupPath = Self.lookupPath(of: path, descriptor)
    self.settings = settings
    self.calls = calls
    self.now = now
    let longest = calls.longestName(descriptor.number)
    longestName = longest > 0 ? min(longest, SafeFileName.maximumByteCount) : SafeFileName.maximumByteCount
    keepsInodes = calls.keepsInodes(descriptor.number)
    guard faccessat(descriptor.number, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
      throw FileFailure(errno: errno, .writingFile, path: path)
    }
  }

  /// The present path of the directory, even after it was moved; the path with which it was opened if the system can't
  /// say.
  public var path: String {
    guard exists, let path = Self.path(of: descriptor),
      let text = String(validating: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    else { return givenPath }
    return text
  }

  /// Returns the path of an entry, for messages and results.
  func path(of name: String) -> String {
    let path = path
    return path.utf8.last == 0x2F ? path + name : path + "/" + name
  }

  /// Whether the directory still has a name anywhere: a file linked into a removed one would be lost.
  public var exists: Bool { (descriptor.status()?.st_nlink ?? 0) > 0 }

  /// Bytes that this user can still write; nil if the file system has no such number.
  public var freeSpace: UInt64? { calls.space(descriptor.number)?.availableByteCount }

  /// The space left for one more file.
  private var unpromisedSpace: UInt64? {
    guard let free = freeSpace else { return nil }
    let promised = promisedByteCount
    return free > promised ? free - promised : 0
  }

  var promisedByteCount: UInt64 { promisedSpace.withLock { $0.byteCount } }

  func promise(_ byteCount: UInt64) { promisedSpace.withLock { $0.promise(byteCount) } }

  func endPromise(_ byteCount: UInt64) { promisedSpace.withLock { $0.endPromise(byteCount) } }

  /// Returns the result for a file of `size` bytes, before its transfer.
  ///
  /// Throws errors that make the transfer pointless: `nameRefused`, `tooLarge`, `diskFull`, `directoryVanished`, and
  /// `notRegular` if `overwrite` would replace something that is not a regular file.
  public func conflictOutcome(
    name: SafeFileName, folder: SafeFolder = .none, size: UInt64, policy: ConflictPolicy,
    resuming key: ResumptionKey? = nil
  ) throws(FileFailure) -> ConflictOutcome {
    try checkCharacters(of: name, in: folder)
    try check(size: size, name: name, resuming: key)
    guard let folder = try open(folder, creating: false), let kind = try folder.kind(of: name) else { return .store }
    switch policy {
    case .rename: return .rename
    case .skip: return .skip
    case .overwrite:
      guard kind == .regular else { throw FileFailure(.notRegular(kind), path: folder.path(of: name)) }
      return .overwrite
    }
  }

  /// Throws if a file of this size can't be taken now. If the disk is too full for it, other partial files are removed,
  /// provided that this frees enough.
  func check(size: UInt64, name: SafeFileName, resuming key: ResumptionKey? = nil) throws(FileFailure) {
    do throws(FileFailure) {
      try checkOnce(size: size, name: name, resuming: key)
    } catch {
      guard case .diskFull(let needed, let free) = error.code, needed > free,
        makeRoom(needed - free, size: size, resuming: key) > 0
      else { throw error }
      try checkOnce(size: size, name: name, resuming: key)
    }
  }

  /// Throws `tooLarge` if a file of this size is never accepted, however much is free.
  public func check(limitOf name: SafeFileName, size: UInt64) throws(FileFailure) {
    // Beyond the process's RLIMIT_FSIZE a write raises SIGXFSZ instead of failing.
    var processLimit = rlimit()
    let isLimited = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &processLimit) == 0
    let limits = [settings.maximumFileSize, UInt64(Int64.max), isLimited ? UInt64(processLimit.rlim_cur) : nil]
    if let limit = limits.compactMap({ $0 }).min(), size > limit {
      throw FileFailure(.tooLarge(limit: limit), path: path(of: name.text))
    }
  }

  private func checkOnce(size: UInt64, name: SafeFileName, resuming key: ResumptionKey?) throws(FileFailure) {
    try check(limitOf: name, size: size)
    guard exists else { throw FileFailure(.directoryVanished, path: givenPath) }
    guard let free = unpromisedSpace else { return }
    // The kept part of it takes no more space.
    let missing = size - min(size, key.map { keptByteCount(under: $0) } ?? 0)
    let needed = missing.addingReportingOverflow(settings.spaceReserve)
    if needed.overflow || needed.partialValue > free {
      let number = needed.overflow ? UInt64.max : needed.partialValue
      throw FileFailure(
        .diskFull(needed: number, free: free), path: path(of: name.text), reserve: settings.spaceReserve)
    }
  }

  /// Returns the failure of a system call on an entry; distinguishes a removed directory from a missing file, and looks
  /// up the free space.
  func failure(errno number: Int32, name: String, needed: UInt64 = 0) -> FileFailure {
    if number == ENOENT || number == ESTALE, !exists { return FileFailure(.directoryVanished, path: givenPath) }
    if number == ENOSPC {
      let space = calls.space(descriptor.number)
      let free = space?.availableByteCount ?? 0
      let isOfFiles = space?.hasNoRoomForFiles == true && free >= needed
      return FileFailure(
        isOfFiles ? .noRoomForFiles(free: free) : .diskFull(needed: needed, free: free), path: path(of: name))
    }
    return FileFailure(errno: number, .writingFile, path: path(of: name))
  }

  /// Returns the name under /proc by which an open descriptor is linked and found (proc_pid_fd(5)): that of the calling
  /// thread, which may have its own descriptor table.
  static func link(to descriptor: FileDescriptor) -> String { "/proc/thread-self/fd/\(descriptor.number)" }
}
