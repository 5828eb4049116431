import Piconet

/// The settings of a program that asks its user before it connects to a device for the first time.
func letterConfiguration(
  name: String, folder: String, ask: @escaping @Sendable (_ question: String) async -> Bool
) -> NodeConfiguration {
  var configuration = NodeConfiguration(sessionID: "letters", name: name)
  // Without it this device is a new one at each start, and others would be asked again.
  configuration.identity = .directory(folder)
  configuration.trust = .ask
  configuration.confirm = { peer, code in
    await ask("Connect to \(printable(peer.name))? Its screen must show \(code).")
  }
  return configuration
}

/// Names come from other devices: without control characters they can't take over a terminal.
func printable(_ text: String) -> String {
  String(
    text.unicodeScalars.filter { ![.control, .format].contains($0.properties.generalCategory) }.map(Character.init))
}

/// Answers whoever invites this node.
func answerInvitations(of node: Node, ask: @Sendable (_ question: String) async -> Bool) async {
  for await invitation in node.invitations {
    do throws(PiconetError) {
      let peer = invitation.peer
      // A person has let it in before, and it does not ask us to compare codes.
      if peer.rights.contains(.push), !invitation.comparesCodes {
        _ = try await invitation.accept()
        continue
      }
      // From here on somebody in the middle has one guess, so the question has to be on the screen at once.
      let code = try await invitation.showCode()
      guard await ask("\(printable(peer.name)) wants to connect. Its screen must show \(code).") else {
        await invitation.decline()
        continue
      }
      let member = try await invitation.accept()
      try await remember(member, of: node)
    } catch {
      print("nothing came of an invitation: \(printable(error.description))")
    }
  }
}

/// Accepts everybody who comes, several at once.
func acceptEverybody(on node: Node) async {
  await withDiscardingTaskGroup { group in
    for await invitation in node.invitations { group.addTask { _ = try? await invitation.accept() } }
  }
}

/// Makes a member of everybody of the session who comes in sight, until the node stops or the task is cancelled.
func meetEverybody(on node: Node) async {
  await withDiscardingTaskGroup { group in
    group.addTask { await acceptEverybody(on: node) }
    // From the article about links that break: it invites anew when an attempt has failed, and not too often.
    group.addTask { await keepConnected(from: node) { _ in true } }
  }
}

/// Notes what a person has just confirmed: this key may send to us from now on, and we to it, without a question.
func remember(_ member: Member, of node: Node) async throws(PiconetError) {
  try await node.remember(member.proven, confirmed: .code, rights: [.push, .send])
}

/// Invites a device; its user and ours compare the codes if this is the first time.
func invite(
  _ peer: Peer, from node: Node, show: @escaping @Sendable (_ text: String) -> Void
) async throws(PiconetError) -> Member {
  let member = try await node.invite(
    peer, timeout: .seconds(60),
    code: { peer, code in
      // It may have forgotten us. Then its user is asked alone, and needs to see the code here.
      if peer.isKnown { show("\(printable(peer.petname)) compares the code \(code).") }
    })
  // A device that may not be sent to yet is here because our user has just said yes.
  if !member.proven.rights.contains(.send) { try await remember(member, of: node) }
  return member
}

/// Joins a game, and tells what the other side has proposed, if it has invited us at the same time.
func join(_ peer: Peer, from node: Node, proposing rules: String) async throws(PiconetError) -> (Member, String?) {
  let member = try await node.invite(peer, context: Array(rules.utf8))
  let theirs = member.proven.invitationContext.map { String(decoding: $0, as: UTF8.self) }
  return (member, theirs)
}

/// Lets one device in for ten minutes, seen by nobody, and says where it can come to.
func awaitGuest(_ guest: PeerID, on node: Node) async throws(PiconetError) -> [TransportAddress] {
  try await node.expect(guest, for: .seconds(600))
  return await node.listeningAddresses
}

/// For the device without a screen: a new code, to be printed or spoken. Of devices that are not known, only one that
/// proves it becomes a member.
func showNewCode(of node: Node) async throws(PiconetError) -> String {
  let code = try TypedCode.made()
  try await node.setCode(code)
  return code.grouped
}

/// For the other device.
func invite(_ peer: Peer, typed: String, from node: Node) async throws(PiconetError) -> Member {
  guard let code = TypedCode(typed) else {
    throw PiconetError(.invalidArgument, blame: .us, detail: "a code has 6 to 16 digits")
  }
  return try await node.invite(peer, proving: code)
}

/// The settings of a program without a user: it talks to the devices with these fingerprints, and to no others.
func pinnedConfiguration(name: String, folder: String, fingerprints: [String]) -> NodeConfiguration {
  var configuration = NodeConfiguration(sessionID: "letters", name: name)
  configuration.identity = .directory(folder)
  configuration.trust = .pinned(Set(fingerprints.compactMap(PeerID.init(hexadecimal:))))
  return configuration
}

/// The settings of a company's devices: each has a key and a certificate that the company's authority has issued, and
/// takes nobody who has none.
func companyConfiguration(
  name: String, identity: [UInt8], authorities: [UInt8]
) throws(PiconetError) -> NodeConfiguration {
  var configuration = NodeConfiguration(sessionID: "letters", name: name)
  configuration.identity = .given(try NodeIdentity(pem: identity))
  configuration.certificateAuthorities = try CertificateAuthorities(pem: authorities)
  return configuration
}
