/// What a file is recognized by that a sender has stored, or that was found to have the content that it offers.
///
/// A sender's path does not say which file it leads to: a folder may have got a number, and to some disks two spellings
/// are one name.
public enum FileTrace: Hashable, Sendable {
  /// The path below the receiving directory, by the folders that were really used: UTF-8.
  case path([UInt8])
  /// The path as file systems see it that tell neither letter case nor the two ways to write an accented letter apart.
  case spelling(String)
  /// The file itself, on file systems that store inode numbers.
  case inode(device: UInt64, number: UInt64)
  /// On other file systems: how many bytes it has, and what they are. Two files with the same content count as one.
  case size(UInt64)
  case content(SHA256Digest)
  /// Folder and name without the ending, in one letter case, of a film or photo or what is written about them.
  case stem(String)
}

/// The files that one sender must not replace. Any thread may ask.
public protocol FilesOfSender: Sendable {
  func note(_ traces: [FileTrace])
  /// Whether a file with this trace may be one of them. Who has stored more than is remembered is taken to have stored
  /// any file, but no `stem`.
  func contains(_ trace: FileTrace) -> Bool
}

extension IncomingFolder {
  /// The traces of a file in the folder.
  /// - Parameter wanted: the name that the sender wanted it to have, which no other file of it takes either.
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

  /// Two strings are equal if they are canonically equivalent.
  func trace(ofSpelling name: SafeFileName) -> FileTrace {
    .spelling(relativePath(of: name).uppercased().lowercased())
  }
}

extension FileIdentity {
  var trace: FileTrace { .inode(device: device, number: inode) }
}
