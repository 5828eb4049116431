import PiconetWire

/// Who may dial a node that hides.
extension SessionEngine {
  mutating func expect(_ id: CommandID, _ peer: PeerID, for duration: Duration, _ turn: Turn) {
    do throws(Ending) {
      try expected.expect(peer, for: duration, at: turn.now)
      turn.reply(id, .done)
    } catch {
      turn.reply(id, .failed(error))
    }
  }

  mutating func listeningChanged(_ ports: [ListeningPort], _ turn: Turn) {
    guard ports != turn.listeningPorts else { return }
    turn.listeningPorts = ports
    for association in associations.inOrder { association.tellListening(turn) }
  }

  /// Whether somebody is expected: by its key, or because a member has introduced it.
  public var expectsPeers: Bool { !expected.isEmpty || turn.introductions.expectsNodes }

  /// Whether somebody may dial us though we hide, a member that looks for a way back or a peer that is expected: as
  /// long as it is so, the driver listens.
  public var expectsLinks: Bool { expectsPeers || expectsMembers }
}
