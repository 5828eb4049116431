import PiconetTLS

/// A peer that this device remembers: a key, and the name under which it was met first.
public struct KnownPeer: Sendable, Hashable {
  /// Proven at every link.
  public let id: PeerID
  /// As it called itself then; what it calls itself since changes nothing here.
  public let name: String
}

extension IdentityStorage {
  /// The peers that are remembered here, in the order in which they were met, without a node: no folder and no key is made. Blocks on
  /// the disk.
  /// - Throws: `state` where the file can't be read; a node that keeps its known peers there lets nobody in.
  public func knownPeers() throws(PiconetError) -> [KnownPeer] {
    guard case .directory(let path) = self else { return [] }
    do throws(StateFailure) {
      let known = try KnownPeersFile(directory: StateDirectory(path: path)).load()
      return known.entries.map { KnownPeer(id: $0.peer, name: $0.name) }
    } catch {
      throw PiconetError(.state, blame: .us, detail: "\(error)", underlying: error)
    }
  }
}
