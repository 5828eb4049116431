import Piconet

/// Shows who is here, who is out of reach, and who has gone, until the node stops.
func showMembership(of session: Session, _ show: (String) -> Void) async {
  for await change in session.membership {
    switch change {
    case .joined(let member):
      show("\(member.name) is here")
    case .suspended(let member, let error):
      // It is a member still. What is sent to it waits, up to a limit, and arrives once it is back.
      show("\(member.name) is out of reach: \(error)")
    case .moved(let member, let transport):
      show("\(member.name) is now reached over \(transport)")
    case .resumed(let member, let transport):
      show("\(member.name) is back over \(transport)")
    case .left(let member, let error):
      // What was not delivered by now never will be; whoever waits to send gets the same reason.
      show("\(member.name) has left: \(error)")
    // More kinds of changes may come.
    @unknown default: break
    }
  }
}

/// Says what can be done about an attempt that failed.
func advice(for error: PiconetError) -> String {
  switch error.code {
  case .unreachable:
    // Why each transport failed, in the order in which they did.
    "No way leads there. " + error.failures.map(\.description).joined(separator: "; ")
  case .timedOut: "It does not answer. Is it on, and near?"
  case .declined: "It said no."
  case .full: "The session is full."
  case .notAvailable: "It takes no invitations now."
  case .identity, .codeMismatch, .wrongCode: "It may not be the device that you think. (\(error.detail))"
  // More codes may come.
  default: error.description
  }
}

/// Invites a device again whenever it is in sight and no member, until the task is cancelled or the node stops.
func keepConnected(to device: PeerID, from node: Node) async {
  var pause = Duration.seconds(1)
  // After each end, of an invitation or of a membership, a device in sight is `available` anew.
  for await change in node.states {
    guard change.peer.peer == device, case .available = change.state,
      let peer = node.currentPeers.first(where: { $0.id == change.peer })
    else { continue }
    do {
      _ = try await node.invite(peer)
      pause = .seconds(1)
    } catch {
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(60))
    }
  }
}
