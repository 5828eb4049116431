import PiconetEngine
import PiconetTLS
import PiconetWire

extension Node {
  /// Invites a peer in sight. Unless its key is known, the peer must give the name under which it was found. Any device
  /// can advertise its own key under any name, beside the name that it gives later.
  func invite(
    found peer: Peer, over kinds: [TransportKind]? = nil, context: [UInt8], timeout: Duration,
    code: TypedCodeID? = nil, _ inviting: Inviting
  ) async throws(PiconetError) -> Member {
    // The judge examines the link that this node dials, before the invitation goes.
    core.seeks(peer)
    defer { core.seeksNoMore(peer) }
    let member = try await invite(
      .node(peer.id, over: kinds), context: context, timeout: timeout, code: code, inviting)
    // The peer may have dialled us at the same moment, or long before.
    guard member.proven.known == nil, member.proven.fingerprint != id.peer, !isPinning,
      let other = await core.otherName(of: member.proven, than: peer.name)
    else { return member }
    await member.disconnect()
    throw PiconetError(
      .identity, peer: member.id, blame: .peer,
      detail: "it was found as '\(other)', and calls itself '\(member.name)' once it is connected")
  }

  /// Whether only keys that the program names are let in; names then do not matter.
  private var isPinning: Bool { if case .pinned = core.configuration.trust { true } else { false } }
}

extension Peer {
  var sought: KnownPeersJudge.Sought { KnownPeersJudge.Sought(name: name, otherNames: otherNames) }
}
