import Glibc

/// Partial files that a later transfer may go on with. They never pile up: their number and their age are limited, whenever a
/// directory is opened and whenever one more is kept, and they make room where the disk is full.
extension IncomingDirectory {
  /// How many bytes are there under a key; how many of them are right shows when they are read.
  func keptByteCount(under key: ResumptionKey) -> UInt64 {
    var status = stat()
    guard fstatat(descriptor.number, key.partialName.text, &status, AT_SYMLINK_NOFOLLOW) == 0, status.isOwnRegularFile
    else { return 0 }
    return UInt64(clamping: status.st_size)
  }

  /// Removes the kept files that are beyond the limits, and journals without a file. Those of the living stay.
  /// - Returns: how many files were removed.
  @discardableResult
  func removeKeptPartials(limit: Int, age: Int64, but kept: PartialFileName? = nil) -> Int {
    var found: [(name: PartialFileName, changed: Int64)] = []
    var journals: Set<PartialFileName> = []
    forEachEntry { text in
      guard let name = PartialFileName(keptOrJournal: text), name != kept else { return }
      guard name.text == text else {
        journals.insert(name)
        return
      }
      var status = stat()
      guard fstatat(descriptor.number, text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
      found.append((name, Int64(status.st_mtim.tv_sec)))
    }
    found.sort { ($0.changed, $0.name.text) > ($1.changed, $1.name.text) }
    let oldest = Int64(time(nil)) - age
    var count = 0
    for (place, file) in found.enumerated() where place >= limit || file.changed < oldest {
      if removeIfAbandoned(file.name) { count += 1 }
    }
    for name in journals.subtracting(found.map(\.name)) where name != kept {
      // Its file may have begun meanwhile; then the transfer merely can't be gone on with.
      if faccessat(descriptor.number, name.text, F_OK, AT_SYMLINK_NOFOLLOW) != 0 {
        _ = unlinkat(descriptor.number, name.journal, 0)
      }
    }
    return count
  }

  /// Makes room.
  func dropKeptPartials(but key: ResumptionKey?) -> Int {
    removeKeptPartials(limit: 0, age: 0, but: key?.partialName)
  }
}
