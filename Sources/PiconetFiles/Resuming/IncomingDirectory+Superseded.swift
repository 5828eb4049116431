import Synchronization

/// Partial files whose whole content has come from another sender meanwhile.
extension IncomingDirectory {
  /// Removes strangers' partial files of a file that is stored now. A sender without a stored identity has another key
  /// each time that it starts: it can't resume what it has begun, and begins again. Otherwise the remains would stay
  /// for days.
  ///
  /// A partial file is removed only if its whole content, by its journal, is the beginning of this very file. The
  /// sender is not told.
  /// - Parameters:
  ///   - journal: the journal of the stored file, with the digests of all its blocks.
  ///   - size: the size of the file, in bytes.
  func removePartials(of journal: BlockJournal, _ size: UInt64) {
    let names = partialsOfStrangers.withLock { $0 }
    for name in names {
      guard let other = BlockJournal(existing: name, in: self) else {
        // It has gone, or its own transfer has just stored it.
        partialsOfStrangers.withLock { _ = $0.remove(name) }
        continue
      }
      let count = other.entryCount
      guard !other.isSame(as: journal), other.fileSize == size, count > 0,
        let last = other.digest(of: count - 1), last == journal.digest(of: count - 1), removeIfAbandoned(name)
      else { continue }
      partialsOfStrangers.withLock { _ = $0.remove(name) }
    }
  }
}
