import PiconetTLS

/// A line of this device's known peers that can't be read. It counts for nothing and stays in the file as it is.
public struct DamagedLine: Sendable, Hashable {
  /// The file.
  public let path: String
  /// Counted from 1.
  public let line: Int
  /// What is wrong with it, for a person; nothing of the line itself.
  public let reason: String
}

extension IdentityStorage {
  /// The damaged lines of the known peers that are kept here, without a node: no folder and no key is made. Blocks on
  /// the disk.
  /// - Throws: `state` if the file itself can't be read; a node that keeps its known peers there lets no one in.
  public func damagedKnownPeers() throws(PiconetError) -> [DamagedLine] {
    guard case .directory(let path) = self else { return [] }
    do throws(StateFailure) {
      return try KnownPeersFile(directory: StateDirectory(path: path)).publicDamagedLines
    } catch {
      throw PiconetError(error)
    }
  }
}

extension KnownPeersFile {
  /// As the file is now, in the words of the public interface.
  var publicDamagedLines: [DamagedLine] {
    get throws(StateFailure) {
      try load().damagedLines.map { DamagedLine(path: path, line: $0.line, reason: $0.reason) }
    }
  }
}
