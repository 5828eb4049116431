import PiconetWire

/// Which peers may dial a hidden node.
extension SessionEngine {
  mutating func expect(_ id: CommandID, _ peer: PeerID, for duration: Duration, _ turn: Turn) {
    do throws(Ending) {
      try expected.expect(peer, for: duration, at: turn.now)
      turn.reply(id, .done)
    } catch {
      turn.reply(id, .failed(error))
    }
  }

  /// Two hidden nodes dial each other by address: the other's link may come before ours has shown whose address it is.
  /// Until then it waits, as long as a handshake may take.
  mutating func leaveUndecided(_ link: Link) {
    // Nothing of it is decoded meanwhile.
    link.awaitTrust()
    undecided.append(link)
  }

  /// Lets in the peers that our own dials have reached, and refuses the others when no dial is left that may reach
  /// them.
  mutating func decide(_ turn: Turn) {
    let waiting = undecided
    undecided = []
    for link in waiting where !link.isForgotten {
      guard let remote = link.node, let hello = link.hello else { continue }
      if admits(remote, on: link) {
        admitted(remote, hello, on: link, turn)
      } else if attempts.isDiallingAnybody {
        undecided.append(link)
      } else {
        turnAway(remote, hello, on: link, turn)
      }
    }
  }

  mutating func listeningChanged(_ ports: [ListeningPort], _ turn: Turn) {
    guard ports != turn.listeningPorts else { return }
    turn.listeningPorts = ports
    for association in associations.inOrder { association.tellListening(turn) }
  }

  /// Whether a peer is expected: by its key, or because a member has introduced it.
  public var expectsPeers: Bool { !expected.isEmpty || turn.introductions.expectsNodes }

  /// Whether a peer may dial us though we hide, a member that looks for a way back or one that is expected: as long as
  /// one may, the driver listens.
  public var expectsLinks: Bool { expectsPeers || expectsMembers }
}
