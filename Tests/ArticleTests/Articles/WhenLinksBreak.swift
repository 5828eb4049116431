import Dispatch
import Glibc
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

/// Invites whoever is wanted when he is in sight and no member, until the task is cancelled or the node stops.
func keepConnected(from node: Node, to isWanted: (NodeID) -> Bool) async {
  await withDiscardingTaskGroup { group in
    var pauses: [NodeID: Duration] = [:]
    for await change in node.states where isWanted(change.peer) {
      switch change.state {
      case .connected, .unavailable: pauses[change.peer] = nil
      case .available:
        let pause = pauses[change.peer] ?? .zero
        pauses[change.peer] = min(max(pause * 2, .seconds(1)), .seconds(60))
        // A task of its own: one that does not answer keeps no other waiting.
        group.addTask {
          guard (try? await Task.sleep(for: pause)) != nil, let peer = node.peer(change.peer) else { return }
          _ = try? await node.invite(peer)
        }
      default: break
      }
    }
  }
}

/// Runs a node until `body` returns, or until Ctrl-C or `kill`. Everybody is left in good order either way.
func runUntilInterrupted(
  _ configuration: NodeConfiguration, by signals: [Int32] = [SIGINT, SIGTERM],
  _ body: @escaping @Sendable (Node) async throws -> Void
) async throws {
  let program = Task { try await Node.run(configuration) { node in try await body(node) } }
  let sources = signals.map { number in
    // What it would do by itself is to end the process.
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number)
    // Without `@Sendable` a closure written in `main` belongs to the main actor, and traps on another thread.
    source.setEventHandler { @Sendable in program.cancel() }
    source.resume()
    return source
  }
  defer { for source in sources { source.cancel() } }
  try await program.value
}
