import PiconetTLS

/// A line of this device's known peers that can't be read. It has no effect and stays in the file as it is.
public struct DamagedLine: Sendable, Hashable {
  /// The file.
  public let path: String
  /// The line number, counted from 1.
  public let line: Int
  /// What is wrong with it, for a person; without any text of the line itself.
  public let reason: String
}

extension IdentityStorage {
  /// Returns the damaged lines of the known peers that are kept here, without a node; it creates no folder and no key.
  /// Blocks on the disk.
  /// - Throws: `state` if the file itself can't be read; a node that keeps its known peers there lets no peer in.
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
  /// The damaged lines as the file is now, as the public interface reports them.
  var publicDamagedLines: [DamagedLine] {
    get throws(StateFailure) {
      try load().damagedLines.map { DamagedLine(path: path, line: $0.line, reason: $0.reason) }
    }
  }
}
