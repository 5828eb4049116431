import CPiconetSystem
import Glibc
import Synchronization

/// A file that has been received, checked and given its name.
public struct StoredFile: Sendable, Hashable {
  /// Its name, with a number if the offered one was taken.
  public let name: SafeFileName
  /// Its path.
  public let path: String
  /// Its path below the receiving directory.
  public let relativePath: String
  public let size: UInt64
  public let digest: SHA256Digest
}

/// How receiving a file ended if it did not fail.
public enum IncomingOutcome: Sendable, Hashable {
  case stored(StoredFile)
  /// An existing file has the same content; nothing was written. Its name is the offered one, the offered one without
  /// its number, or either with another number.
  case present(StoredFile)
  /// Something with that name exists and the policy is `skip`; nothing was written.
  case skipped(SafeFileName)
}

/// Receives one file into a directory: bytes in order, then a commit that checks and names it.
///
/// Until the commit no entry of the directory has the final name. A failure of `write` or `commit`, a call of
/// `discard`, and releasing this object all remove the written bytes. Calls block on the disk. Confined to one thread
/// at a time; several files of one directory may be committed at the same time.
public final class IncomingFile {
  private enum State {
    case receiving
    case ended
    case failed(FileFailure)
  }

  public let directory: IncomingDirectory
  public let name: SafeFileName
  /// The folder for the file; created when the file gets its name.
  public let folder: SafeFolder
  /// The size in bytes that the peer offered.
  public let offeredSize: UInt64
  public private(set) var receivedSize: UInt64 = 0
  /// The number of bytes that an earlier transfer had received, verified again: the first byte to write comes after
  /// them.
  public private(set) var resumedSize: UInt64 = 0

  /// After a commit: set if the disk can't keep the time that was to be set.
  public private(set) var replacedTime: ReplacedTime?

  private let partial: PartialFile
  /// Set if another transfer is using the kept part of this content.
  private let keptElsewhere: PartialFileName?
  private var hash: RunningSHA256?
  private var journal: BlockJournal?
  private let policy: ConflictPolicy
  /// The group that it belongs to.
  private let group: GroupNames?
  /// Existing files that were compared and found to differ.
  private let compared: PresentContent?
  /// The number of existing files that were read to see whether they have the content that has arrived.
  private var readCount = 0
  /// Files that this one must not replace: both then stay, with a number.
  private let filesOfSender: (any FilesOfSender)?
  private var state = State.receiving
  private var writtenOut: UInt64 = 0
  private var modificationTime: ModificationTime?
  /// Bytes still to come that have no blocks on the disk yet, and that the directory keeps free for this file.
  private(set) var promised: UInt64 = 0

  /// The number of bytes after which the kernel is asked to start writing to the disk, so that a large file's commit
  /// has little left to wait for.
  static let writeOutInterval: UInt64 = 8 << 20

  /// Starts a file of `offeredSize` bytes.
  ///
  /// With a key the file resumes where an earlier transfer under the same key ended, and is kept by `keep`, or if this
  /// process dies. The kept part is read and verified again, which takes a while. A file of one block or less is not
  /// worth it.
  ///
  /// `hashing` computes the SHA-256 within each `write`; a key requires it. Without it the commit is given a digest
  /// that was computed elsewhere, or reads the file again.
  ///
  /// Throws `nameRefused`, `tooLarge`, `diskFull`, `quotaExceeded`, `directoryVanished`, `noPermission`, `readOnly` or
  /// `ioError`; then nothing is left.
  public init(
    in directory: IncomingDirectory, folder: SafeFolder = .none, name: SafeFileName, offeredSize: UInt64,
    policy: ConflictPolicy, hashing: Bool = true, resuming key: ResumptionKey? = nil,
    group: FileGroup? = nil, compared: PresentContent? = nil, of filesOfSender: (any FilesOfSender)? = nil
  ) throws(FileFailure) {
    let key = hashing && offeredSize > BlockJournal.blockByteCount ? key : nil
    try directory.checkCharacters(of: name, in: folder)
    try directory.check(size: offeredSize, name: name, resuming: key)
    if hashing {
      guard let hash = RunningSHA256() else { throw FileFailure(.ioError(ENOMEM), path: name.text) }
      self.hash = hash
    } else {
      hash = nil
    }
    let keptName = key.map { directory.keptName(under: $0) }
    let kept = keptName.flatMap { PartialFile(kept: $0, in: directory) }
    if let kept { partial = kept } else { partial = try PartialFile(in: directory, for: folder) }
    keptElsewhere = kept == nil ? keptName : nil
    self.directory = directory
    self.name = name
    self.offeredSize = offeredSize
    self.policy = policy
    self.group = group.flatMap { GroupNames($0, name, in: directory) }
    self.folder = folder
    self.compared = compared
    self.filesOfSender = filesOfSender
    if let key, let keptName, kept != nil { try resume(keptName, key) }
    try allotSpace()
  }

  deinit { directory.endPromise(promised) }

  /// Appends bytes. Throws `tooManyBytes` (then nothing of this call is written), `diskFull`, `quotaExceeded` or
  /// `ioError`; the partial file is then removed, and every later call throws the same.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(FileFailure) {
    try checkReceiving()
    guard UInt64(bytes.count) <= offeredSize - receivedSize else {
      throw ended(with: FileFailure(.tooManyBytes(offered: offeredSize), path: finalPath))
    }
    guard journal != nil else { return try append(bytes) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let block = BlockJournal.blockByteCount
      let part = rest.prefix(Int(block - receivedSize % block))
      try append(UnsafeRawBufferPointer(rebasing: part))
      if receivedSize % block == 0 { noteBlock() }
      rest = rest.dropFirst(part.count)
    }
  }

  private func append(_ bytes: UnsafeRawBufferPointer) throws(FileFailure) {
    hash?.update(bytes)
    var rest = bytes[...]
    while !rest.isEmpty {
      let slice = UnsafeRawBufferPointer(rebasing: rest)
      let written = FileDescriptor.retrying {
        pwrite(partial.descriptor.number, slice.baseAddress, slice.count, off_t(receivedSize))
      }
      guard written.result > 0 else {
        // pwrite returns 0 only for an empty buffer; if it happened with another one, repeating would not help.
        let number = written.result == 0 ? EIO : written.errno
        throw ended(with: directory.failure(errno: number, name: name.text, needed: offeredSize - receivedSize))
      }
      receivedSize += UInt64(written.result)
      keepPromise(UInt64(written.result))
      rest = rest.dropFirst(written.result)
    }
    if receivedSize - writtenOut >= Self.writeOutInterval { startWritingOut() }
  }

  /// Checks size and digest, makes the file durable, and gives it its name. The name never stands for less than the
  /// whole file.
  ///
  /// `computedDigest` is the digest of the written bytes if they were not hashed here. `modificationTime` is set as far
  /// as the file system can represent it.
  ///
  /// Throws `tooFewBytes`, `digestMismatch`, `exists`, `notRegular` (overwriting), `directoryVanished`, `diskFull` or
  /// `ioError`; the partial file is then removed. Only an `ioError` of the last step, which makes the name itself
  /// durable, leaves the complete file in place.
  public func commit(
    expectedDigest: SHA256Digest, computedDigest: SHA256Digest? = nil, modificationTime: ModificationTime? = nil
  ) throws(FileFailure) -> IncomingOutcome {
    try checkReceiving()
    do throws(FileFailure) {
      guard receivedSize == offeredSize else {
        throw FileFailure(.tooFewBytes(offered: offeredSize, received: receivedSize), path: finalPath)
      }
      let digest = if let computedDigest { computedDigest } else { try digestOfContent() }
      guard digest == expectedDigest else {
        throw FileFailure(.digestMismatch(expected: expectedDigest, actual: digest), path: finalPath)
      }
      guard directory.isReachable else { throw FileFailure(.directoryVanished, path: finalPath) }
      if policy == .skip, let folder = try directory.open(folder, creating: false), try folder.kind(of: name) != nil {
        for base in [name, name.withoutNumber].compactMap({ $0 }) {
          if let present = try presentUnderNumber(of: base, in: folder, digest) { return .present(present) }
        }
        return skipped()
      }
      self.modificationTime = modificationTime
      try prepare()
      return try publish(digest)
    } catch {
      throw ended(with: error)
    }
  }

  /// Removes the written bytes. No effect after a commit.
  public func discard() {
    guard case .receiving = state else { return }
    state = .ended
    keepPromise(promised)
    partial.discard()
    directory.rememberedPartials.withLock { $0.forget() }
  }

  /// Leaves the written bytes for a later transfer with the same key. It needs a key and at least one block, and no
  /// other transfer may have stored the whole meanwhile; otherwise it acts as `discard`.
  public func keep() {
    guard case .receiving = state, journal?.isThere == true, receivedSize >= BlockJournal.blockByteCount else {
      return discard()
    }
    state = .ended
    keepPromise(promised)
    // Frees the space that was allocated beyond the bytes.
    _ = ftruncate(partial.descriptor.number, off_t(receivedSize))
    partial.keep()
    directory.removeKeptPartials()
  }

  /// Returns the first received bytes, at most `count`.
  public func start(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(min(UInt64(count), receivedSize)))
    let result = bytes.withUnsafeMutableBytes { buffer in
      FileDescriptor.retrying { pread(partial.descriptor.number, buffer.baseAddress, buffer.count, 0) }.result
    }
    return Array(bytes.prefix(max(0, result)))
  }

  /// Resumes after the verified part of the kept file; the rest of it is cut off.
  private func resume(_ name: PartialFileName, _ key: ResumptionKey) throws(FileFailure) {
    guard let journal = BlockJournal(of: name, key: key, in: directory),
      let prefix = VerifiedPrefix(of: partial.descriptor, journal: journal, size: offeredSize),
      journal.keep(Int(prefix.byteCount / BlockJournal.blockByteCount))
    else {
      try cut(to: 0)
      return
    }
    try cut(to: prefix.byteCount)
    self.journal = journal
    hash = prefix.hash
    receivedSize = prefix.byteCount
    resumedSize = prefix.byteCount
    writtenOut = prefix.byteCount
  }

  private func cut(to size: UInt64) throws(FileFailure) {
    // Some FUSE file systems set no sizes; a file that has just been made has the right one.
    if partial.descriptor.status()?.st_size == off_t(clamping: size) { return }
    let number = directory.calls.resize(partial.descriptor.number, size)
    if number != 0 { throw ended(with: directory.failure(errno: number, name: name.text)) }
  }

  /// Notes that a block is complete. If the journal can't be written, the transfer goes on without one.
  private func noteBlock() {
    if let digest = hash?.digestSoFar, journal?.append(digest) == true { return }
    journal = nil
  }

  private var finalPath: String { directory.path(of: folder.path(of: name)) }

  private func checkReceiving() throws(FileFailure) {
    switch state {
    case .receiving: return
    case .ended: throw FileFailure(.ioError(EBADF), path: finalPath)
    case .failed(let failure): throw failure
    }
  }

  private func ended(with failure: FileFailure) -> FileFailure {
    state = .failed(failure)
    keepPromise(promised)
    partial.discard()
    return failure
  }

  private func skipped() -> IncomingOutcome {
    discard()
    return .skipped(name)
  }

  /// The result of taking the name.
  private enum Naming {
    /// The file has the name, but not durably yet.
    case given(SafeFileName, IncomingFolder)
    case over(IncomingOutcome)
  }

  private func publish(_ digest: SHA256Digest) throws(FileFailure) -> IncomingOutcome {
    switch try giveName(digest) {
    case .over(let outcome): return outcome
    case .given(let name, let folder): return try settled(name, in: folder, digest)
    }
  }

  private func giveName(_ digest: SHA256Digest) throws(FileFailure) -> Naming {
    var left = Self.folderTries
    while true {
      guard let folder = try directory.open(folder, creating: true) else {
        throw directory.failure(errno: ENOENT, name: folder.text)
      }
      do throws(FileFailure) {
        return try giveName(in: folder, digest)
      } catch {
        // Another process has removed the folder, which was empty, in between.
        left -= 1
        guard error.code == .directoryVanished, directory.exists, left > 0 else { throw error }
      }
    }
  }

  private static let folderTries = 3

  /// Gives the file its name. Existing files are read while no other commit waits: a commit that may replace files
  /// holds up the others only for each step that takes, or notes, a name.
  private func giveName(in folder: IncomingFolder, _ digest: SHA256Digest) throws(FileFailure) -> Naming {
    if let base = name.withoutNumber, let there = try presentUnderNumber(of: base, in: folder, digest) {
      return .over(.present(there))
    }
    if try partial.takeRights(in: folder) { try prepare() }
    // A name with a number gets the next one, and no second number.
    let first = name.firstNumber
    if let group {
      if policy == .skip, try folder.hasAnotherPhoto(for: group, first) { return .over(skipped()) }
      let isElsewhere = folder.isElsewhere(group)
      if policy == .rename || policy == .overwrite && isElsewhere {
        if let there = try presentUnderNumber(of: name, in: folder, digest) { return .over(.present(there)) }
        return try giveNumber(group, in: folder, digest, from: isElsewhere && policy == .overwrite ? first + 1 : first)
      }
    }
    var numbers = NameNumbers(first: first, last: directory.settings.maximumNumber)
    func candidate(_ number: Int) -> SafeFileName { number == first ? name : directory.numbered(name, number) }
    func isOfOthers(_ name: SafeFileName) throws(FileFailure) -> Bool {
      guard policy != .overwrite, group == nil else { return false }
      if policy == .rename, try folder.isOfGroup(name) { return true }
      return try folder.isOfOthers(name, filesOfSender)
    }
    func isTaken(_ number: Int) throws(FileFailure) -> Bool {
      let candidate = candidate(number)
      if try folder.kind(of: candidate) != nil { return true }
      return try isOfOthers(candidate)
    }
    while let number = try numbers.next(isTaken: isTaken) {
      let candidate = candidate(number)
      if try isOfOthers(candidate) {
        if policy == .skip { return .over(skipped()) }
        continue
      }
      if try take(candidate, in: folder, digest) { return .given(candidate, folder) }
      if number - first < PresentContent.limit, let present = try present(in: folder, as: candidate, digest) {
        return .over(.present(present))
      }
      if policy == .skip { return .over(skipped()) }
      if policy == .overwrite, number == first, try replace(in: folder, digest) { return .given(name, folder) }
      if let group { return try giveNumber(group, in: folder, digest, from: first + 1) }
    }
    throw FileFailure(.exists, path: finalPath)
  }

  /// Gives the file the number of its group. Other files of the group, or of another one, wait meanwhile.
  private func giveNumber(
    _ group: GroupNames, in folder: IncomingFolder, _ digest: SHA256Digest, from first: Int
  ) throws(FileFailure) -> Naming {
    let last = directory.settings.maximumNumber
    for _ in 0..<Self.replaceTries {
      let moment = directory.now().running
      let taken = try directory.groups.withLock { claims throws(FileFailure) -> SafeFileName?? in
        guard let number = try folder.number(for: group, from: first, last: last, claims, at: moment) else {
          return nil
        }
        guard try take(group.own(number), in: folder, digest) else { return .some(nil) }
        claims.note(group.place(number, folder), number, of: group.identity(folder), at: moment)
        return group.own(number)
      }
      guard let taken else { break }
      if let name = taken { return .given(name, folder) }
    }
    throw FileFailure(.exists, path: finalPath)
  }

  /// Runs a step that takes a name, and notes it before another file of the sender may replace the existing one.
  private func whileReplacing<Value>(_ body: () throws(FileFailure) -> Value) throws(FileFailure) -> Value {
    guard policy == .overwrite else { return try body() }
    return try directory.replacing.withLock { _ throws(FileFailure) in try body() }
  }

  /// Notes that the content has this name from now on: no other file of the sender takes its place, nor that of the
  /// name that the sender wanted.
  private func note(_ taken: SafeFileName, in folder: IncomingFolder, _ digest: SHA256Digest) {
    guard let filesOfSender else { return }
    if let stem = folder.stemTrace(of: taken) { filesOfSender.note([stem]) }
    guard policy == .overwrite else { return }
    let identity = partial.descriptor.status().map { FileIdentity($0) }
    filesOfSender.note(folder.traces(of: taken, wanted: name, identity, size: receivedSize, digest))
  }

  /// - Returns: false if the name is taken.
  private func take(
    _ candidate: SafeFileName, in folder: IncomingFolder, _ digest: SHA256Digest
  ) throws(FileFailure) -> Bool {
    try whileReplacing { () throws(FileFailure) in
      guard try partial.publish(as: candidate, in: folder) else { return false }
      note(candidate, in: folder, digest)
      return true
    }
  }

  /// Replaces the file that has the name, whatever it has become since it was compared: if that has the same content by
  /// now, nothing is lost.
  /// - Returns: false if it has to stay.
  private func replace(in folder: IncomingFolder, _ digest: SHA256Digest) throws(FileFailure) -> Bool {
    for _ in 0..<Self.replaceTries {
      let there = try ExistingFile(name, in: folder, of: filesOfSender, ignoresCase: partial.isFoundInOtherCase)
      let hasReplaced = try whileReplacing { () throws(FileFailure) -> Bool? in
        guard let status = try folder.status(of: name) else {
          // The existing file has gone, and another may appear before this one gets the name.
          guard try partial.publish(as: name, in: folder) else { return nil }
          note(name, in: folder, digest)
          return true
        }
        let kind = FileKind(mode: status.st_mode)
        guard kind == .regular else { throw FileFailure(.notRegular(kind), path: folder.path(of: name)) }
        guard let isOfSender = there.isOfSender(status) else { return nil }
        if isOfSender { return false }
        guard try partial.replace(name, in: folder) else { return false }
        note(name, in: folder, digest)
        return true
      }
      if let hasReplaced { return hasReplaced }
    }
    return false
  }

  private static let replaceTries = 16

  /// Completes the commit once the file has its name.
  private func settled(
    _ name: SafeFileName, in folder: IncomingFolder, _ digest: SHA256Digest
  ) throws(FileFailure) -> IncomingOutcome {
    state = .ended
    if let journal { directory.removePartials(of: journal, offeredSize) }
    partial.removeJournal()
    directory.rememberedPartials.withLock { $0.forget() }
    if let keptElsewhere { directory.forgetKept(keptElsewhere) }
    try folder.synchronize()
    let closed = partial.descriptor.close()
    if closed != 0 { throw directory.failure(errno: closed, name: folder.relativePath(of: name)) }
    return .stored(file(name, in: folder, digest))
  }

  /// Returns an existing file with the content that has arrived: it came another way meanwhile, or was not compared
  /// before. Nothing of the new file then stays.
  private func present(
    in folder: IncomingFolder, as name: SafeFileName, _ digest: SHA256Digest
  ) throws(FileFailure) -> StoredFile? {
    guard let status = try folder.status(of: name), FileKind(mode: status.st_mode) == .regular,
      UInt64(clamping: status.st_size) == receivedSize
    else { return nil }
    if let known = compared?.digest(of: name, FileStamp(status)), known != digest { return nil }
    // Of the offered name and of that without its number together, no more files are read than of one.
    guard readCount < PresentContent.limit, try !folder.isOfAnotherPhoto(name, size: receivedSize, group) else {
      return nil
    }
    readCount += 1
    let there = PresentContent(in: folder, exactly: name, wanted: self.name, status)
    while !there.step(.max) {}
    let files = policy == .overwrite ? filesOfSender : nil
    guard try whileReplacing({ () throws(FileFailure) in there.findMatch(digest, notingIn: files) }) != nil else {
      return nil
    }
    let result = file(name, in: folder, digest)
    if let keptElsewhere { directory.forgetKept(keptElsewhere) }
    if let group { folder.note(group, has: name) }
    if let stem = folder.stemTrace(of: name) { filesOfSender?.note([stem]) }
    discard()
    try folder.synchronize()
    return result
  }

  /// Returns a file with the content that has arrived, under this name with or without a number. The name may be the
  /// offered one without the number that the sender gave it.
  private func presentUnderNumber(
    of base: SafeFileName, in folder: IncomingFolder, _ digest: SHA256Digest
  ) throws(FileFailure) -> StoredFile? {
    var gap = 0
    let first = base.firstNumber
    for number in first..<(first + PresentContent.limit) where gap <= PresentContent.gapLimit {
      let candidate = number == first ? base : directory.numbered(base, number)
      // A candidate name that the disk does not even take is no reason to lose the arrived content.
      guard (try? folder.kind(of: candidate)) != nil else {
        gap += 1
        continue
      }
      gap = 0
      if let present = try present(in: folder, as: candidate, digest) { return present }
    }
    return nil
  }

  private func file(_ name: SafeFileName, in folder: IncomingFolder, _ digest: SHA256Digest) -> StoredFile {
    StoredFile(
      name: name, path: folder.path(of: name), relativePath: folder.relativePath(of: name), size: receivedSize,
      digest: digest)
  }

  private func prepare() throws(FileFailure) {
    if let modificationTime {
      replacedTime = ReplacedTime(setting: modificationTime, of: partial.descriptor)
    }
    let outcome = directory.calls.synchronizeContent(partial.descriptor.number)
    guard outcome == 0 || FileSystemCalls.unsynchronized.contains(outcome) else {
      throw directory.failure(errno: outcome, name: name.text)
    }
    let flushed = directory.calls.flush(partial.descriptor.number)
    if flushed != 0 { throw directory.failure(errno: flushed, name: name.text) }
  }

  /// Allocates the space, so that the same free bytes are not promised to two files. If the file system can't, the
  /// bytes are only counted.
  private func allotSpace() throws(FileFailure) {
    guard offeredSize > 0 else { return }
    let number = directory.calls.allot(partial.descriptor.number, offeredSize)
    if number == 0 { return }
    if [ENOSPC, EDQUOT, EFBIG, EIO].contains(number) {
      throw ended(with: directory.failure(errno: number, name: name.text, needed: offeredSize))
    }
    promised = offeredSize - receivedSize
    directory.promise(promised)
  }

  private func keepPromise(_ byteCount: UInt64) {
    let kept = min(byteCount, promised)
    promised -= kept
    directory.endPromise(kept)
  }

  private func startWritingOut() {
    // Only a hint; fdatasync reports what went wrong.
    _ = piconet_sync_file_range(
      partial.descriptor.number, Int64(writtenOut), Int64(receivedSize - writtenOut), PICONET_SYNC_FILE_RANGE_WRITE)
    writtenOut = receivedSize
  }

  private func digestOfContent() throws(FileFailure) -> SHA256Digest {
    let digest: SHA256Digest?
    if let hash {
      digest = hash.finish()
    } else {
      digest = try FileContent.digest(of: partial.descriptor, size: receivedSize, path: finalPath)
    }
    guard let digest else { throw FileFailure(.ioError(ENOMEM), path: finalPath) }
    return digest
  }
}

@available(*, unavailable, message: "A file is used by one thread at a time.")
extension IncomingFile: Sendable {}
