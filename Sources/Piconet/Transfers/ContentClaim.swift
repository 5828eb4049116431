import PiconetFiles

/// A file that a member says it has, as it would offer it, with its content's digest. For programs whose members tell
/// one another which files they need not offer.
package struct ContentClaim: Hashable, Sendable {
  /// As in `IncomingOffer`: the peer's, raw, not to be used as a path.
  package let rawFolder: [UInt8]
  package let rawName: [UInt8]
  /// Bytes.
  package let size: UInt64
  package let digest: SHA256Digest

  package init(rawFolder: [UInt8], rawName: [UInt8], size: UInt64, digest: SHA256Digest) {
    (self.rawFolder, self.rawName, self.size, self.digest) = (rawFolder, rawName, size, digest)
  }

  fileprivate var safe: FileClaim? {
    guard let name = try? SafeFileName(bytes: rawName), let folder = try? SafeFolder(bytes: rawFolder) else {
      return nil
    }
    return FileClaim(folder: folder, name: name, size: size, digest: digest)
  }

  /// The number of files handled before others get a turn at the disk.
  fileprivate static let filesAtOnce = 128
  fileprivate static let bytesAtOnce: UInt64 = 16 << 20

  /// Returns the end of the files that are handled at once, from a place on.
  fileprivate static func end(from start: Int, of sizes: [UInt64]) -> Int {
    var (end, bytes) = (start, UInt64(0))
    while end < sizes.count, end - start < filesAtOnce, bytes < bytesAtOnce {
      bytes += min(sizes[end], bytesAtOnce)
      end += 1
    }
    return end
  }
}

extension ReceivingDirectory {
  /// Finds which files of a member are here already, by their content, as `IncomingOffer.store` finds it. A file found
  /// here counts as sent by the member, and no other file of the member replaces it.
  ///
  /// Reads what has to be compared on the disk thread, in steps.
  /// - Returns: for each claim, where its content is, below the directory and absolute; nil: not here, or the disk does
  ///   not say. An offer of it is told why.
  /// - Throws: `cancelled`, or why the node has ended.
  package func find(
    _ claims: [ContentClaim], of member: Member
  ) async throws(PiconetError) -> [(relative: String, absolute: String)?] {
    let safe = claims.map(\.safe)
    let sizes = claims.map(\.size)
    var found: [(relative: String, absolute: String)?] = []
    while found.count < claims.count {
      if Task.isCancelled { throw PiconetError(.cancelled, blame: .us) }
      let part = safe[found.count..<ContentClaim.end(from: found.count, of: sizes)]
      let paths = try await member.core.onDisk { () throws(FileFailure) -> [StoredPath?] in
        let claims = part.compactMap { $0 }
        guard let place = try? self.place() else { return claims.map { _ in nil } }
        return place.directory.find(claims, notingIn: place.traces.files(of: member.id))
      }
      var next = paths.makeIterator()
      for claim in part {
        let path = claim == nil ? nil : next.next() ?? nil
        found.append(path.map { ($0.relative, $0.absolute) })
      }
    }
    return found
  }
}

extension Member {
  /// Reads files to be claimed, beside all other work, in steps.
  /// - Parameter files: paths that open them, and their sizes in bytes as far as is known.
  /// - Returns: for each the digest of its content; nil for what can't be read, has another size, or changes meanwhile.
  /// - Throws: `cancelled`, or why the node has ended.
  package func contentDigests(
    ofFiles files: [(path: String, size: UInt64)]
  ) async throws(PiconetError) -> [SHA256Digest?] {
    let sizes = files.map(\.size)
    var digests: [SHA256Digest?] = []
    while digests.count < files.count {
      if Task.isCancelled { throw PiconetError(.cancelled, blame: .us) }
      let part = files[digests.count..<ContentClaim.end(from: digests.count, of: sizes)]
      digests += try await core.reading { () throws(FileFailure) in
        part.map { path, size in
          guard let file = try? OutgoingFile(path: path), file.size == size else { return nil }
          return (try? file.finish()) ?? nil
        }
      }
    }
    return digests
  }
}
