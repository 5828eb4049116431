import PiconetTLS

/// The known peers of a host, for all its judges. Confined to the loop.
final class KnownPeersTable {
  private let file: KnownPeersFile?
  /// The parsed file. Judging happens at every handshake, on the loop: a file of a thousand peers is not parsed each
  /// time.
  private(set) var memory = KnownPeersFile.Memory()

  /// The strangers that are forgiven; each judge reads it for its own node.
  let forgiveness: ForgivenessFile?

  /// - Parameter file: nil: there are no known peers.
  init(file: KnownPeersFile?) {
    self.file = file
    forgiveness = file?.forgiveness
  }

  /// Returns the table. It checks the file each time: another program of this user may have changed it meanwhile.
  func current() throws(StateFailure) -> KnownPeers { try file?.load(&memory) ?? KnownPeers(path: "") }
}
