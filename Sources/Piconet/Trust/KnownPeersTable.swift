import PiconetTLS

/// The known peers of a host, for all its judges. Confined to the loop.
final class KnownPeersTable {
  private let file: KnownPeersFile?
  /// Judging happens at every handshake, on the loop: a file of a thousand peers is not parsed each time.
  private(set) var memory = KnownPeersFile.Memory()

  /// What is forgiven; each judge reads it for its own node.
  let forgiveness: ForgivenessFile?

  /// - Parameter file: nil: there are none.
  init(file: KnownPeersFile?) {
    self.file = file
    forgiveness = file?.forgiveness
  }

  /// The file is looked at each time: another program of this user may have changed it meanwhile.
  func current() throws(StateFailure) -> KnownPeers { try file?.load(&memory) ?? KnownPeers(path: "") }
}
