import Piconet

/// The settings of a session in which everybody has everybody: who joins one member joins all.
func groupConfiguration(name: String) -> NodeConfiguration {
  var configuration = NodeConfiguration(sessionID: "letters", name: name)
  configuration.membership = .group
  configuration.introductions = .takeWord
  return configuration
}

/// Takes the host's word for others, and nobody else's.
func followIntroductions(of host: Member, in session: Session) async {
  await withDiscardingTaskGroup { group in
    for await introduction in session.introductions {
      guard introduction.introducer == host else {
        await introduction.decline()
        continue
      }
      // Until it is a member, or its time is over: others are not to wait for that.
      group.addTask { _ = try? await introduction.accept() }
    }
  }
}

/// Brings a new member together with all others, and says with whom it did not work out.
func introduce(_ newcomer: Member, in session: Session) async -> [PiconetError] {
  var failures: [PiconetError] = []
  for member in session.members where member != newcomer {
    do throws(PiconetError) {
      try await session.introduce(newcomer, to: member)
    } catch {
      failures.append(error)
    }
  }
  return failures
}

/// Tells which members do not hear each other, until the node stops or the task is cancelled.
func followSeparations(of node: Node, show: (_ text: String) -> Void) async {
  for await separation in node.session.separations {
    let names = separation.members.map { id in
      id == node.id ? "this device" : node.session[id].map { printable($0.name) } ?? "a device that has left"
    }
    let pair = names.sorted().joined(separator: " and ")
    switch separation.standing {
    case .refused: show("\(pair) do not want each other (\(separation.error.code))")
    case .unreached: show("\(pair) do not reach each other at the moment")
    case .over: show("\(pair) have each other now")
    @unknown default: show("\(pair): \(separation.error.code)")
    }
  }
}

/// The settings of a member whose user compares codes, whichever side asks for it.
func comparingConfiguration(
  name: String, ask: @escaping @Sendable (_ question: String) async -> Bool
) -> NodeConfiguration {
  var configuration = groupConfiguration(name: name)
  configuration.compare = { member, code in
    await ask("Does the screen of \(printable(member.name)) show \(code)?")
  }
  return configuration
}

/// Has both users compare a code, unless this member's key is confirmed already.
func confirm(_ member: Member) async throws(PiconetError) {
  switch member.confirmation {
  case .introduced, .firstUse, .none: try await member.compareCodes()
  default: break
  }
}

/// The settings of a member that passes on what others have to say to each other: a megabyte a second for each at most.
func relayConfiguration(name: String) -> NodeConfiguration {
  var configuration = groupConfiguration(name: name)
  configuration.relaying = RelayQuotas()
  configuration.relaying?.memberRate = 1 << 20
  return configuration
}

/// The settings of a member that may be reached over others, where nothing else leads to it.
func relayedConfiguration(name: String) -> NodeConfiguration {
  var configuration = groupConfiguration(name: name)
  configuration.transports.append(.relay)
  return configuration
}

/// How a member is reached, for its user.
func way(to member: Member, of node: Node) -> String {
  guard let route = member.route else { return "searching" }
  if route.isDirect { return "directly" }
  let names = route.relays.map { id in node.session[id].map { printable($0.name) } ?? "another device" }
  return "over " + names.joined(separator: ", ")
}
