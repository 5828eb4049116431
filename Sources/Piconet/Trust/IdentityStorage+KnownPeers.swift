import PiconetTLS

/// The table of trust, without a node. All functions block on the disk.
extension IdentityStorage {
  /// Returns the peers that a person has remembered here, in the order in which that happened; creates no folder and no
  /// key.
  /// - Throws: `state` if the file can't be read; a node that keeps its known peers there lets no peer in.
  public func knownPeers() throws(PiconetError) -> [KnownPeer] { try trustTable().entries }

  /// Returns the known peers as a table in which to look them up; see `knownPeers`.
  public func trustTable() throws(PiconetError) -> KnownPeers {
    guard case .directory(let path) = self else { return KnownPeers(path: "") }
    do throws(StateFailure) {
      return try KnownPeersFile(directory: StateDirectory(path: path)).load()
    } catch {
      throw PiconetError(error)
    }
  }

  /// Returns the folders in which key and known peers are written, and creates the first of them if it is missing. For
  /// a program that gives up the right to write elsewhere.
  /// - Throws: `state`.
  package func writtenFolders() throws(PiconetError) -> Set<String> {
    guard case .directory(let path) = self else { return [] }
    do throws(StateFailure) {
      return try KnownPeersFile(directory: StateDirectory(path: path)).writtenFolders()
    } catch {
      throw PiconetError(error)
    }
  }

  /// Makes all running programs of this user accept again strangers whose codes were wrong or broke off. They look at
  /// this before the next handshake.
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

  /// Makes the changes that a person wants to the present table, including what other programs have written to it
  /// meanwhile. When this returns they are on the disk, and the next handshake of every program of this user applies
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
