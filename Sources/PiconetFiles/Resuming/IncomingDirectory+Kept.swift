import CPiconetSystem
import Glibc
import Synchronization

/// Partial files that a later transfer may resume. They never pile up: the limits on their number and age are enforced
/// whenever a directory is opened and whenever one more is kept, and they make room if the disk is full.
extension IncomingDirectory {
  /// Returns the name of the file that is kept under a key, or that it would have.
  func keptName(under key: ResumptionKey) -> PartialFileName {
    keptStatus(of: key.partialName) == nil && keptStatus(of: key.otherPartialName) != nil
      ? key.otherPartialName : key.partialName
  }

  /// Returns how many bytes are kept under a key; reading them shows how many are right.
  package func keptByteCount(under key: ResumptionKey) -> UInt64 {
    keptStatus(of: keptName(under: key)).map { UInt64(clamping: $0.st_size) } ?? 0
  }

  private func keptStatus(of name: PartialFileName) -> stat? {
    var status = stat()
    guard fstatat(descriptor.number, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0, isOwnRegularFile(status)
    else { return nil }
    return status
  }

  /// Removes kept files that are beyond the limits or useless, and journals without a file. Files in use stay.
  /// - Returns: how many files were removed.
  @discardableResult
  func removeKeptPartials() -> Int {
    // One more file may exist, which may make room.
    rememberedPartials.withLock { $0.forget() }
    let names = keptNames()
    let kept = KeptPartials(names.files.compactMap { look(at: $0) })
    let removed = kept.toRemove(limit: settings.keptPartialLimit, age: settings.keptPartialAge)
      .filter { removeIfAbandoned($0.name) }
    partialsOfStrangers.withLock { $0 = names.files.filter(\.isOfStranger).subtracting(removed.map(\.name)) }
    for name in names.journals.subtracting(names.files) {
      // Its file may have been created meanwhile; then its transfer merely can't be resumed later.
      if faccessat(descriptor.number, name.text, F_OK, AT_SYMLINK_NOFOLLOW) != 0 {
        _ = unlinkat(descriptor.number, name.journal, 0)
      }
    }
    return removed.count
  }

  /// Makes room for a file of `size` bytes that needs `missing` bytes more than are free. Removes nothing if it can't.
  /// - Returns: how many files were removed.
  func makeRoom(_ missing: UInt64, size: UInt64, resuming key: ResumptionKey?) -> Int {
    // The part that is kept for this very file will be used by it.
    let own = key.map { keptName(under: $0) }
    func choice(of files: [KeptPartial]) -> [KeptPartial] {
      KeptPartials(files.filter { $0.name != own }).toFree(missing, size: size, asker: key?.partialName)
    }
    let moment = now()
    let (remembered, version) = rememberedPartials.withLock { ($0.files(at: moment), $0.version) }
    if let remembered, choice(of: remembered).isEmpty { return 0 }
    let files = keptNames().files.compactMap { look(at: $0) }
    rememberedPartials.withLock { $0.note(files, at: moment, of: version) }
    return choice(of: files).filter { removeIfAbandoned($0.name) }.count
  }

  /// Removes the partial file under a key whose content was stored. It may hold a part of the same content, which is no
  /// longer needed.
  func forgetKept(_ name: PartialFileName) {
    rememberedPartials.withLock { $0.forget() }
    // A process that is still writing it may finish. Without the journal's name the file is not kept afterwards, and a
    // sweep sees that it is useless.
    if !removeIfAbandoned(name) { _ = unlinkat(descriptor.number, name.journal, 0) }
  }

  /// Removes the kept part of content that came another way.
  public func forgetKept(under key: ResumptionKey) {
    let name = keptName(under: key)
    if let status = keptStatus(of: name), status.st_size > 0 { forgetKept(name) }
  }

  private func keptNames() -> (files: Set<PartialFileName>, journals: Set<PartialFileName>) {
    var files: Set<PartialFileName> = []
    var journals: Set<PartialFileName> = []
    forEachEntry { text in
      guard let name = PartialFileName(keptOrJournal: text) else { return }
      if name.text == text { files.insert(name) } else { journals.insert(name) }
    }
    return (files, journals)
  }

  /// Returns nil unless this process could have made the file. Notes in the journal that the file was examined.
  private func look(at name: PartialFileName) -> KeptPartial? {
    var status = stat()
    guard fstatat(descriptor.number, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0,
      FileKind(mode: status.st_mode) == .regular, isOurs(status)
    else { return nil }
    let blocks = UInt64(clamping: status.st_blocks).multipliedReportingOverflow(by: 512)
    var file = KeptPartial(
      name: name, byteCount: blocks.overflow ? .max : blocks.partialValue, changed: Int64(status.st_mtim.tv_sec))
    let age: KeptAge?? = whileAbandoned(name) { status in
      // A second name: a link stored it, and its owner died before removing the first one. Its bytes stay.
      if status.st_nlink > 1 { file.byteCount = 0 }
      guard status.st_nlink == 1, UInt64(clamping: status.st_size) >= BlockJournal.blockByteCount,
        let journal = BlockJournal(existing: name, in: self)
      else { return nil }
      let now = now()
      var age = journal.age ?? KeptAge(firstSeen: now)
      age.advance(to: now)
      journal.note(age)
      return age
    }
    switch age {
    case nil: file.isAlive = true
    case .some(nil): file.isOfUse = false
    case .some(let age?): file.age = age.seconds
    }
    return file
  }
}
