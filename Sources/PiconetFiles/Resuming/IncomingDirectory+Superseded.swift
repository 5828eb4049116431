import Synchronization

/// Partial files of content that has come whole from somebody else meanwhile.
extension IncomingDirectory {
  /// Removes what strangers have left behind of a file that is stored now. A sender without a stored identity has
  /// another key each time that it starts: it can't go on with what it has begun, and begins again. Otherwise the
  /// remains would stay for days.
  ///
  /// Only a partial file goes whose whole content, by its journal, is the beginning of this very file. The sender
  /// learns nothing of it.
  /// - Parameters:
  ///   - journal: of the file that is stored, with the digests of all its blocks.
  ///   - size: of the file, in bytes.
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
