import PiconetTLS

/// The table of trust, without a node. All of it blocks on the disk.
extension IdentityStorage {
  /// The peers that a person has taken here, in the order in which they were; no folder and no key is made.
  /// - Throws: `state` where the file can't be read; a node that keeps its known peers there lets nobody in.
  public func knownPeers() throws(PiconetError) -> [KnownPeer] { try trustTable().entries }

  /// As `knownPeers`, with the ways to look them up.
  public func trustTable() throws(PiconetError) -> KnownPeers {
    guard case .directory(let path) = self else { return KnownPeers(path: "") }
    do throws(StateFailure) {
      return try KnownPeersFile(directory: StateDirectory(path: path)).load()
    } catch {
      throw PiconetError(error)
    }
  }

  /// Does what a person wants with the table as it is now, whatever other programs have written to it meanwhile. When
  /// this returns it is on the disk, and the next handshake of every program of this user follows it.
  /// - Parameter act: one or several acts of `KnownPeers`; where it throws nothing changes.
  /// - Returns: the table from now on.
  /// - Throws: `state`, with the `StateFailure` that it was as `underlying`.
  @discardableResult
  public func changeTrust(
    _ act: (inout KnownPeers) throws(StateFailure) -> Void
  ) throws(PiconetError) -> KnownPeers {
    guard case .directory(let path) = self else {
      throw PiconetError(.state, blame: .us, detail: "an identity that is kept nowhere has no known peers")
    }
    do throws(StateFailure) {
      return try KnownPeersFile(directory: StateDirectory(path: path)).change(act)
    } catch {
      throw PiconetError(error)
    }
  }
}

extension PiconetError {
  init(_ failure: StateFailure) {
    self.init(.state, blame: .us, detail: "\(failure)", underlying: failure)
  }
}
