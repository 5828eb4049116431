import Glibc

extension IncomingDirectory {
  /// Removes the hidden partial files of dead processes, except those that a transfer may resume: of these the newest
  /// are kept, as many and for as long as the settings say. Returns how many were removed.
  ///
  /// A living owner holds a lock on its file, so this may run at any time, alongside other receivers in the same
  /// directory. Only regular files of this user are touched. Files that can't be read or removed are left alone.
  @discardableResult
  public func sweepAbandonedPartials() -> Int {
    // First the notes on names: a note without its partial file means that the file got its name.
    forEachEntry { text in
      if let name = PartialFileName(claim: text) { FileNameClaim(partial: name, directory: self).releaseIfAbandoned() }
    }
    var count = removeKeptPartials()
    forEachEntry { text in
      if let name = PartialFileName(text), removeIfAbandoned(name) { count += 1 }
    }
    return count
  }

  /// Calls back with the name of each entry that is UTF-8, in no particular order.
  func forEachEntry(_ body: (String) -> Void) { top.forEachEntry(body) }

  /// - Returns: false if it is in use, is not ours, or can't be removed.
  func removeIfAbandoned(_ name: PartialFileName) -> Bool {
    whileAbandoned(name) { _ in
      // The journal first: one without its file means nothing, and a file without its journal is useless.
      if PartialFileName(keptOrJournal: name.text) != nil { _ = unlinkat(descriptor.number, name.journal, 0) }
      // The lock is held until the name is removed: a slower owner then sees that its file has no name.
      return unlinkat(descriptor.number, name.text, 0) == 0
    } ?? false
  }

  /// Calls back while no process can take the file; the callback must be brief. Nil, without a call, if a process has
  /// it or it is not ours.
  func whileAbandoned<Result>(_ name: PartialFileName, _ body: (stat) -> Result) -> Result? {
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(descriptor.number, name.text, flags) }
    guard opened.result >= 0 else { return nil }
    let file = FileDescriptor(opened.result)
    guard let status = file.status(), FileKind(mode: status.st_mode) == .regular, isOurs(status),
      file.lock() == 0
    else { return nil }
    defer { file.close() }
    return body(status)
  }
}
