/// A property by which a file is recognized that a sender has stored, or that was found to have the content of an
/// offer.
///
/// A sender's path does not say which file it leads to: a folder may have got a number, and on some disks two spellings
/// are one name.
public enum FileTrace: Hashable, Sendable {
  /// The path below the receiving directory, by the folders that were really used: UTF-8.
  case path([UInt8])
  /// The path as it is seen by file systems that ignore letter case and the two encodings of an accented letter.
  case spelling(String)
  /// The file itself, on file systems that store inode numbers.
  case inode(device: UInt64, number: UInt64)
  /// On other file systems: the size and the digest of the content. Two files with the same content count as one.
  case size(UInt64)
  case content(SHA256Digest)
  /// Folder and name without the ending, in one letter case, of a film, a photo or a file written about them.
  case stem(String)
}

/// The files that one sender must not replace. Any thread may ask.
public protocol FilesOfSender: Sendable {
  func note(_ traces: [FileTrace])
  /// Returns whether a file with this trace may be one of them. A sender that has stored more files than are remembered
  /// counts as having stored any file, but no `stem`.
  func contains(_ trace: FileTrace) -> Bool
}

extension IncomingFolder {
  /// The traces of a file in the folder.
  /// - Parameter wanted: the name that the sender wanted for it, which no other file of the sender takes either.
  func traces(
    of name: SafeFileName, wanted: SafeFileName, _ identity: FileIdentity?, size: UInt64, _ digest: SHA256Digest
  ) -> [FileTrace] {
    let paths = Set([name, wanted]).map { trace(ofPath: $0) }
    guard directory.keepsInodes else {
      return paths + [name, wanted].map { trace(ofSpelling: $0) } + [.size(size), .content(digest)]
    }
    return paths + (identity.map { [$0.trace] } ?? [])
  }

  func trace(ofPath name: SafeFileName) -> FileTrace { .path(Array(relativePath(of: name).utf8)) }

  /// Returns the trace of a spelling. Two strings are equal if they are canonically equivalent.
  func trace(ofSpelling name: SafeFileName) -> FileTrace {
    .spelling(relativePath(of: name).uppercased().lowercased())
  }
}

extension FileIdentity {
  var trace: FileTrace { .inode(device: device, number: inode) }
}
