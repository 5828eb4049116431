import PiconetTLS

/// The table of trust, without a node. All of it blocks on the disk.
extension IdentityStorage {
  /// The peers that a person has remembered here, in the order in which that happened; no folder and no key is made.
  /// - Throws: `state` if the file can't be read; a node that keeps its known peers there lets no one in.
  public func knownPeers() throws(PiconetError) -> [KnownPeer] { try trustTable().entries }

  /// As `knownPeers`, as a table in which to look them up.
  public func trustTable() throws(PiconetError) -> KnownPeers {
    guard case .directory(let path) = self else { return KnownPeers(path: "") }
    do throws(StateFailure) {
      return try KnownPeersFile(directory: StateDirectory(path: path)).load()
    } catch {
      throw PiconetError(error)
    }
  }

  /// The folders in which key and known peers are written, the first of them made if it is missing; for a program that
  /// gives up writing elsewhere.
  /// - Throws: `state`.
  package func writtenFolders() throws(PiconetError) -> Set<String> {
    guard case .directory(let path) = self else { return [] }
    do throws(StateFailure) {
      return try KnownPeersFile(directory: StateDirectory(path: path)).writtenFolders()
    } catch {
      throw PiconetError(error)
    }
  }

  /// Has all programs of this user that run listen again to strangers whose codes were wrong or broke off: they look
  /// before the next handshake.
  /// - Parameters:
  ///   - digits: the first digits of a fingerprint, in lower case, at least 12; empty: all strangers.
  ///   - seconds: now, since 1970.
  /// - Throws: `state`.
  package func forgive(_ digits: String, at seconds: Int64) throws(PiconetError) {
    guard case .directory(let path) = self else { return }
    do throws(StateFailure) {
      try KnownPeersFile(directory: StateDirectory(path: path)).forgiveness.forgive(digits, at: seconds)
    } catch {
      throw PiconetError(error)
    }
  }

  /// Makes the changes that a person wants to the table as it is now, including what other programs have written to it
  /// meanwhile. When this returns they are on the disk, and the next handshake of every program of this user heeds
  /// them.
  /// - Parameter act: one or several acts of `KnownPeers`; if it throws, nothing changes.
  /// - Returns: the table from now on.
  /// - Throws: `state`, with the `StateFailure` as `underlying`.
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
