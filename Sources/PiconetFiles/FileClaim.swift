import Synchronization

/// A file that a sender says it has: its path in the directory, its size, and its digest.
public struct FileClaim: Hashable, Sendable {
  public let folder: SafeFolder
  public let name: SafeFileName
  /// Bytes.
  public let size: UInt64
  public let digest: SHA256Digest

  public init(folder: SafeFolder, name: SafeFileName, size: UInt64, digest: SHA256Digest) {
    (self.folder, self.name, self.size, self.digest) = (folder, name, size, digest)
  }
}

extension IncomingDirectory {
  /// Finds which of these files are here already, by the rules of `PresentContent`. It compares content by digests, and
  /// reads a file unless its digest is known and the file system says that it has not changed since. A folder is opened
  /// once for consecutive claims on it, and its entries are made durable once for all of them. Blocks on the disk.
  ///
  /// A file that can't be examined counts as not here: an offer of it will be told why.
  /// - Parameter files: the sender's files; a file that is found is noted there before any other transfer may replace
  ///   it.
  /// - Returns: for each claim, where its content is; nil: not here.
  public func find(
    _ claims: some Collection<FileClaim>, notingIn files: (any FilesOfSender)? = nil
  ) -> [StoredPath?] {
    var found: [StoredPath?] = []
    found.reserveCapacity(claims.count)
    var current: (wanted: SafeFolder, opened: IncomingFolder?)?
    var first = 0
    // A found file counts only once its name is on the disk: the process that stored it may have been killed before
    // that.
    func settle() {
      defer { first = found.count }
      guard let folder = current?.opened, found[first...].contains(where: { $0 != nil }) else { return }
      do throws(FileFailure) {
        try folder.synchronize()
      } catch {
        for index in first..<found.count { found[index] = nil }
      }
    }
    for claim in claims {
      if current?.wanted != claim.folder {
        settle()
        current = (claim.folder, (try? open(claim.folder, creating: false)) ?? nil)
      }
      found.append(current?.opened.flatMap { find(claim, in: $0, notingIn: files) })
    }
    settle()
    return found
  }

  private func find(
    _ claim: FileClaim, in folder: IncomingFolder, notingIn files: (any FilesOfSender)?
  ) -> StoredPath? {
    do throws(FileFailure) {
      try check(limitOf: claim.name, size: claim.size)
      try checkLength(of: claim.name, in: claim.folder)
      guard let present = try PresentContent(in: folder, name: claim.name, size: claim.size) else { return nil }
      while !present.step(.max) {}
      return present.match(claim.digest, notingIn: files).map(present.path)
    } catch {
      return nil
    }
  }
}
