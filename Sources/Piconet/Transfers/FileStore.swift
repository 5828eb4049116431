import PiconetEngine
import PiconetFiles
import PiconetWire
import Synchronization

/// A file in a directory as the store of a transfer.
///
/// If a file of that name and size exists, it is read first, and the offer is accepted as if its content were the same.
/// The digest that the sender states of its own file decides: either nothing had to be sent, or the store begins again,
/// and the transfer with it.
final class FileStore: ResourceStore, @unchecked Sendable {
  // Sendable is right: the files are touched by one call of the port at a time; what others see is constant or behind
  // mutexes.

  /// The offer of the sender, and what to do with it.
  struct Wish: Sendable {
    var rawName: [UInt8]
    var rawFolder: [UInt8]
    var size: UInt64
    var policy: ConflictPolicy
    var modified: ModificationTime?
    var key: ResumptionKey?
    /// The group of files that it belongs to, as the sender says; empty: no group.
    var rawGroup: [UInt8]
    /// Why content after this offset may not come; nil: it may. The store asks when it begins again.
    var refusal: @Sendable (UInt64) -> String?
  }

  private enum Content {
    /// An existing file may be the offered one.
    case present(PresentContent)
    case incoming(IncomingFile)
    case ended
  }

  private struct Shown {
    var isComparing = false
    var claimsAll = false
    var offset: UInt64 = 0
  }

  private let directory: IncomingDirectory
  private let wish: Wish
  private let filesOfSender: any FilesOfSender
  private let name: SafeFileName
  private let folder: SafeFolder
  private let group: FileGroup?
  private var content: Content
  private let isWanted: (@Sendable ([UInt8]) -> Bool)?
  private var start: [UInt8] = []
  private var isContentKnown: Bool
  private static let startCount = 4096
  /// The number of bytes compared before other transfers get a turn at the disk.
  static let comparedAtOnce: UInt64 = 32 << 20
  private let shown: Mutex<Shown>

  let failure = Mutex<FileFailure?>(nil)
  let stored = Mutex<ReceivedFile?>(nil)

  /// - Parameters:
  ///   - filesOfSender: files that this one must not replace.
  ///   - isWanted: examines the first bytes of what arrives.
  init(
    in directory: IncomingDirectory, _ wish: Wish, of filesOfSender: any FilesOfSender,
    content isWanted: (@Sendable ([UInt8]) -> Bool)?
  ) throws(FileFailure) {
    do throws(FileNameRefusal) {
      name = try SafeFileName(bytes: wish.rawName)
      folder = try SafeFolder(bytes: wish.rawFolder)
    } catch {
      throw FileFailure(error, name: (wish.rawFolder.isEmpty ? [] : wish.rawFolder + [0x2F]) + wish.rawName)
    }
    self.directory = directory
    self.wish = wish
    self.filesOfSender = filesOfSender
    group = FileGroup(wish.rawGroup)
    self.isWanted = isWanted
    isContentKnown = isWanted == nil
    content = .ended
    shown = Mutex(Shown())
    try directory.check(limitOf: name, size: wish.size)
    // An offer without a key comes from a sender that may not be able to read its content twice.
    if wish.key != nil,
      let present = try PresentContent(in: directory, folder: folder, name: name, size: wish.size, group: group)
    {
      content = .present(present)
      let isComparing = !present.step(Self.comparedAtOnce)
      shown.withLock { $0 = Shown(isComparing: isComparing, claimsAll: true, offset: wish.size) }
    } else {
      try begin()
    }
  }

  /// Opens a file to write to.
  private func begin() throws(FileFailure) {
    var present: PresentContent?
    if case .present(let compared) = content { present = compared }
    let outcome = try directory.conflictOutcome(
      name: name, folder: folder, size: wish.size, policy: wish.policy, resuming: wish.key)
    if case .skip = outcome, try !mayBeThere() { throw FileFailure(.exists, path: name.text) }
    if wish.policy == .skip, let group, try directory.hasAnotherPhoto(for: name, in: folder, group) {
      throw FileFailure(.exists, path: name.text)
    }
    let file = try IncomingFile(
      in: directory, folder: folder, name: name, offeredSize: wish.size, policy: wish.policy, resuming: wish.key,
      group: group, compared: present, of: filesOfSender)
    content = .incoming(file)
    if !isContentKnown { start = file.start(Self.startCount) }
    shown.withLock { $0 = Shown(offset: file.resumedSize) }
  }

  /// Whether the offered content could be here already although its name is taken. Content that the sender can't read
  /// twice can't be compared before it has arrived; it is compared afterwards.
  private func mayBeThere() throws(FileFailure) -> Bool {
    guard wish.key == nil else { return false }
    return try PresentContent(in: directory, folder: folder, name: name, size: wish.size, group: group) != nil
  }

  // MARK: Before the offer is answered; any thread may ask

  /// The number of bytes that need not be sent.
  var offset: UInt64 { shown.withLock { $0.offset } }
  /// Whether the offset covers everything, provided that the existing file is the offered one.
  var claimsAll: Bool { shown.withLock { $0.claimsAll } }
  /// Whether `compare` has more to do.
  var isComparing: Bool { shown.withLock { $0.isComparing } }

  /// Compares a part, on the disk thread.
  /// - Returns: how many bytes have been compared.
  func compare() -> UInt64 {
    guard case .present(let present) = content else { return 0 }
    if present.step(Self.comparedAtOnce) { shown.withLock { $0.isComparing = false } }
    return present.comparedByteCount
  }

  // MARK: The transfer

  func write(_ bytes: UnsafeRawBufferPointer) throws(ResourceFailure) {
    guard case .incoming(let file) = content else { return }
    if !isContentKnown {
      start.append(contentsOf: bytes.prefix(Self.startCount - start.count))
      if start.count == Self.startCount { try lookAtContent() }
    }
    do throws(FileFailure) {
      try file.write(bytes)
    } catch {
      failure.withLock { $0 = error }
      throw error.toldSender
    }
  }

  private func lookAtContent() throws(ResourceFailure) {
    guard !isContentKnown, let isWanted else { return }
    isContentKnown = true
    defer { start = [] }
    if !isWanted(start) { throw ResourceFailure(.notWanted, "not a kind of file that is taken here") }
  }

  func commit(size: UInt64, digest: ResourceDigest) throws(ResourceFailure) -> ResourceCommit {
    if case .incoming = content { try lookAtContent() }
    let outcome: ResourceCommit
    do throws(FileFailure) {
      guard let expected = SHA256Digest(bytes: digest.bytes) else { throw FileFailure(.changed, path: name.text) }
      switch content {
      case .present(let present): outcome = try settle(present, expected)
      case .incoming(let file): outcome = try commit(file, expected)
      case .ended: throw FileFailure(.changed, path: name.text)
      }
    } catch {
      failure.withLock { $0 = error }
      throw error.toldSender
    }
    if case .restarted(let offset) = outcome, let detail = wish.refusal(offset) {
      // The kept bytes stay, although this transfer is over.
      keep()
      content = .ended
      throw ResourceFailure(.declined, detail)
    }
    return outcome
  }

  private func settle(_ present: PresentContent, _ digest: SHA256Digest) throws(FileFailure) -> ResourceCommit {
    guard let same = present.match(digest, notingIn: filesOfSender) else {
      try begin()
      return .restarted(offset: offset)
    }
    try present.settle()
    if let key = wish.key { directory.forgetKept(under: key) }
    content = .ended
    let path = present.path(of: same)
    return .present(name: received(same, path.absolute, path.relative, digest, wasAlreadyPresent: true))
  }

  private func commit(_ file: IncomingFile, _ digest: SHA256Digest) throws(FileFailure) -> ResourceCommit {
    switch try file.commit(expectedDigest: digest, modificationTime: wish.modified) {
    case .stored(let result):
      return .stored(
        name: received(
          result.name, result.path, result.relativePath, digest, resumedFrom: file.resumedSize,
          wasAlreadyPresent: false, replacedTime: file.replacedTime))
    case .present(let result):
      return .present(name: received(result.name, result.path, result.relativePath, digest, wasAlreadyPresent: true))
    case .skipped(let name): throw FileFailure(.exists, path: name.text)
    }
  }

  private func received(
    _ name: SafeFileName, _ path: String, _ relativePath: String, _ digest: SHA256Digest, resumedFrom: UInt64 = 0,
    wasAlreadyPresent: Bool, replacedTime: ReplacedTime? = nil
  ) -> [UInt8] {
    stored.withLock {
      $0 = ReceivedFile(
        path: path, name: name.text, relativePath: relativePath, size: wish.size, digest: digest,
        resumedFrom: resumedFrom, wasAlreadyPresent: wasAlreadyPresent, replacedTime: replacedTime)
    }
    return Array(relativePath.utf8)
  }

  func discard() { if case .incoming(let file) = content { file.discard() } }

  func keep() { if case .incoming(let file) = content { file.keep() } }
}
