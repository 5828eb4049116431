import CPiconetSystem
import Glibc

/// A file that was received, checked and given its name.
public struct StoredFile: Sendable, Hashable {
  /// The name that it has; with a number if the offered one was taken.
  public let name: SafeFileName
  /// Where it is.
  public let path: String
  /// Where it is below the receiving directory.
  public let relativePath: String
  public let size: UInt64
  public let digest: SHA256Digest
}

/// How a received file ended that did not fail.
public enum IncomingOutcome: Sendable, Hashable {
  case stored(StoredFile)
  /// A file of that name, or of it with a number, has the very same content; nothing was written.
  case present(StoredFile)
  /// Something of that name was there and the policy is `skip`; nothing was written.
  case skipped(SafeFileName)
}

/// Receives one file into a directory: bytes in order, then a commit that checks and names it.
///
/// Until the commit no entry of the directory has the final name. A failure of `write` or `commit`, `discard` and the
/// end of this object remove what was written. Calls block on the disk. Confined to one thread at a time.
public final class IncomingFile {
  private enum State {
    case receiving
    case ended
    case failed(FileFailure)
  }

  public let directory: IncomingDirectory
  public let name: SafeFileName
  /// Where it goes; made when the file gets its name.
  public let folder: SafeFolder
  /// The size in bytes that the peer offered.
  public let offeredSize: UInt64
  public private(set) var receivedSize: UInt64 = 0
  /// What an earlier transfer had received, verified again: the first byte to write is the one behind it.
  public private(set) var resumedSize: UInt64 = 0

  private let partial: PartialFile
  /// Where another transfer has what is kept of this content.
  private let keptElsewhere: PartialFileName?
  private var hash: RunningSHA256?
  private var journal: BlockJournal?
  private let policy: ConflictPolicy
  /// What was found to be there before, and to be something else.
  private let compared: PresentContent?
  /// Whether the file of this path may be replaced, asked once. No: both stay, with a number.
  private let mayReplace: (_ relativePath: String) -> Replacement
  private var state = State.receiving
  private var writtenOut: UInt64 = 0
  /// Bytes still to come that the directory keeps free for this file, having no blocks for them.
  private(set) var promised: UInt64 = 0

  /// Bytes after which the kernel is asked to start writing to the disk, so that a large file's commit has little left
  /// to wait for.
  static let writeOutInterval: UInt64 = 8 << 20

  /// Starts a file of `offeredSize` bytes.
  ///
  /// With a key the file goes on where an earlier transfer under the same key ended, and is kept by `keep`, or if this
  /// process dies. What is there is read again as far as it is right, which takes a while. A file of one block or less
  /// is not worth it.
  ///
  /// `hashing` computes the SHA-256 within each `write`; a key needs it. Without it the commit is given a digest that
  /// was computed elsewhere, or reads the file again.
  ///
  /// Throws `nameRefused`, `tooLarge`, `diskFull`, `quotaExceeded`, `directoryVanished`, `noPermission`, `readOnly` or
  /// `ioError`; nothing is left then.
  public init(
    in directory: IncomingDirectory, folder: SafeFolder = .none, name: SafeFileName, offeredSize: UInt64,
    policy: ConflictPolicy, hashing: Bool = true, resuming key: ResumptionKey? = nil,
    compared: PresentContent? = nil, mayReplace: @escaping (_ relativePath: String) -> Replacement = { _ in .allowed }
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
    let kept = key.flatMap { PartialFile(keptUnder: $0, in: directory) }
    if let kept { partial = kept } else { partial = try PartialFile(in: directory) }
    keptElsewhere = kept == nil ? key?.partialName : nil
    self.directory = directory
    self.name = name
    self.offeredSize = offeredSize
    self.policy = policy
    self.folder = folder
    self.compared = compared
    self.mayReplace = mayReplace
    if let key, kept != nil { try resume(key) }
    try allotSpace()
  }

  deinit { directory.endPromise(promised) }

  /// Appends bytes. Throws `tooManyBytes` (nothing of this call is written then), `diskFull`, `quotaExceeded` or
  /// `ioError`; the partial file is gone then, and every later call throws the same.
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
        // pwrite gives 0 for no bytes only; were it to happen, it would not get better by repeating.
        let number = written.result == 0 ? EIO : written.errno
        throw ended(with: directory.failure(errno: number, name: name.text, needed: offeredSize - receivedSize))
      }
      receivedSize += UInt64(written.result)
      keepPromise(UInt64(written.result))
      rest = rest.dropFirst(written.result)
    }
    if receivedSize - writtenOut >= Self.writeOutInterval { startWritingOut() }
  }

  /// Checks size and digest, makes the file durable, and gives it its name without a moment in which the name stands
  /// for less than the whole file.
  ///
  /// `computedDigest` is the digest of the written bytes if they were not hashed here. `modificationTime` is set as far
  /// as the file system can represent it.
  ///
  /// Throws `tooFewBytes`, `digestMismatch`, `exists`, `notRegular` (overwriting), `directoryVanished`, `diskFull` or
  /// `ioError`; the partial file is gone then. Only an `ioError` of the last step, which makes the name itself durable,
  /// leaves the complete file in place.
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
      guard directory.exists else { throw directory.failure(errno: ENOENT, name: name.text) }
      if policy == .skip, let folder = try directory.open(folder, creating: false), try folder.kind(of: name) != nil {
        if let present = try present(in: folder, as: name, digest) { return .present(present) }
        return skipped()
      }
      try prepare(modificationTime: modificationTime)
      return try publish(digest)
    } catch {
      throw ended(with: error)
    }
  }

  /// Removes what was written. Without effect after a commit.
  public func discard() {
    guard case .receiving = state else { return }
    state = .ended
    keepPromise(promised)
    partial.discard()
  }

  /// Leaves what was written for a later transfer with the same key, if it has one, there is at least a block, and no
  /// other transfer has stored the whole meanwhile; otherwise `discard`.
  public func keep() {
    guard case .receiving = state, journal?.isThere == true, receivedSize >= BlockJournal.blockByteCount else {
      return discard()
    }
    state = .ended
    keepPromise(promised)
    // The space that was allotted behind the bytes goes back.
    _ = ftruncate(partial.descriptor.number, off_t(receivedSize))
    partial.keep()
    directory.removeKeptPartials()
  }

  /// The first bytes of what was received, at most `count`.
  public func start(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(min(UInt64(count), receivedSize)))
    let result = bytes.withUnsafeMutableBytes { buffer in
      FileDescriptor.retrying { pread(partial.descriptor.number, buffer.baseAddress, buffer.count, 0) }.result
    }
    return Array(bytes.prefix(max(0, result)))
  }

  /// Goes on behind what is right of the kept file; the rest of it is cut off.
  private func resume(_ key: ResumptionKey) throws(FileFailure) {
    guard let journal = BlockJournal(of: key.partialName, key: key, in: directory),
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
    guard ftruncate(partial.descriptor.number, off_t(size)) == 0 else {
      throw ended(with: directory.failure(errno: errno, name: name.text))
    }
  }

  /// A block is whole. Where that can't be written down the transfer goes on without.
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

  private func publish(_ digest: SHA256Digest) throws(FileFailure) -> IncomingOutcome {
    let replacement = policy == .overwrite ? mayReplace(folder.path(of: name)) : .never
    var left = Self.folderTries
    while true {
      guard let folder = try directory.open(folder, creating: true) else {
        throw directory.failure(errno: ENOENT, name: folder.text)
      }
      do throws(FileFailure) {
        let replaces = replacement == .allowed || replacement == .exactly && folder.hasEntry(exactly: name)
        return try publish(in: folder, replacing: replaces, digest)
      } catch {
        // Somebody has removed the folder, which was empty, in the instant between.
        left -= 1
        guard error.code == .directoryVanished, directory.exists, left > 0 else { throw error }
      }
    }
  }

  private static let folderTries = 3

  private func publish(
    in folder: IncomingFolder, replacing: Bool, _ digest: SHA256Digest
  ) throws(FileFailure) -> IncomingOutcome {
    for number in 1...max(1, directory.settings.maximumNumber) {
      let candidate = number == 1 || replacing ? name : name.numbered(number)
      if try partial.publish(as: candidate, in: folder) { return try settled(candidate, in: folder, digest) }
      if number <= PresentContent.limit, let present = try present(in: folder, as: candidate, digest) {
        return .present(present)
      }
      if policy == .skip { return skipped() }
      guard replacing else { continue }
      // The entry may vanish between the two looks; then the name is simply tried again.
      guard let kind = try folder.kind(of: name) else { continue }
      guard kind == .regular else { throw FileFailure(.notRegular(kind), path: folder.path(of: name)) }
      try partial.replace(name, in: folder)
      return try settled(name, in: folder, digest)
    }
    throw FileFailure(.exists, path: finalPath)
  }

  /// The file has its name.
  private func settled(
    _ name: SafeFileName, in folder: IncomingFolder, _ digest: SHA256Digest
  ) throws(FileFailure) -> IncomingOutcome {
    state = .ended
    partial.removeJournal()
    if let keptElsewhere { directory.forgetKept(keptElsewhere) }
    try folder.synchronize()
    partial.descriptor.close()
    return .stored(file(name, in: folder, digest))
  }

  /// What has the name, where that is the very content that has arrived: it came another way meanwhile, or nobody has
  /// compared it before. Nothing of ours stays then.
  private func present(
    in folder: IncomingFolder, as name: SafeFileName, _ digest: SHA256Digest
  ) throws(FileFailure) -> StoredFile? {
    guard let status = try folder.status(of: name), FileKind(mode: status.st_mode) == .regular,
      UInt64(clamping: status.st_size) == receivedSize
    else { return nil }
    if let known = compared?.digest(of: name, FileStamp(status)), known != digest { return nil }
    let there = PresentContent(in: folder, exactly: name, status)
    while !there.step(.max) {}
    guard there.match(digest) != nil else { return nil }
    let result = file(name, in: folder, digest)
    if let keptElsewhere { directory.forgetKept(keptElsewhere) }
    discard()
    try folder.synchronize()
    return result
  }

  private func file(_ name: SafeFileName, in folder: IncomingFolder, _ digest: SHA256Digest) -> StoredFile {
    StoredFile(
      name: name, path: folder.path(of: name), relativePath: folder.relativePath(of: name), size: receivedSize,
      digest: digest)
  }

  private func prepare(modificationTime: ModificationTime?) throws(FileFailure) {
    partial.setFinalPermissions()
    if let modificationTime {
      // A file is no worse for a time that the file system refuses.
      let times = [modificationTime.timespec, modificationTime.timespec]
      _ = futimens(partial.descriptor.number, times)
    }
    let outcome = FileDescriptor.retrying { fdatasync(partial.descriptor.number) }
    if outcome.result < 0, outcome.errno != EINVAL { throw directory.failure(errno: outcome.errno, name: name.text) }
  }

  /// Sets the space aside, so that two files are not both let in to the same free bytes. Where the file system can't,
  /// the bytes are only counted.
  private func allotSpace() throws(FileFailure) {
    guard offeredSize > 0 else { return }
    let number = directory.calls.allot(partial.descriptor.number, offeredSize)
    if number == 0 { return }
    guard [EOPNOTSUPP, ENOSYS, EINVAL].contains(number) else {
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
    // A hint; fdatasync reports what went wrong.
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
