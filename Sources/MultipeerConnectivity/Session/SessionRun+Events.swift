import Foundation
import Piconet
import PiconetFoundation
import Synchronization

/// Handles the event sequence, on the session's queue.
extension SessionRun {
  func happened(_ event: SessionEvent, in session: Session) async {
    if isOver { return }
    switch event {
    case .joined(let member): joined(member, in: session)
    case .message(let message): received(message, in: session)
    case .offer(let offer):
      if let guest = opened(by: offer.member, in: session) { receive(offer, from: guest) }
    case .stream(let stream):
      if let guest = opened(by: stream.member, in: session) {
        let input = PeerInputStream(stream)
        core.tell { $1.session($0, didReceive: input, withName: stream.name, fromPeer: guest.peer) }
      }
    // A member that was refused is not a guest.
    case .suspended(let member, _): if let guest = guests[member.id] { guest.isSuspended = true }
    case .resumed(let member, _): if let guest = guests[member.id] { guest.isSuspended = false }
    case .left(let member, let error): await left(member, MCError(error))
    // The delegate is not told over which link a peer is reached.
    case .moved: break
    @unknown default: break
    }
  }

  // MARK: Joining

  private func joined(_ member: Member, in session: Session) {
    guard let card = try? PeerCard(greeting: member.proven.greeting), card.identifier != core.peer.identifier,
      !doors.withLock({ $0.denied.contains(member.id) })
    else { return turnAway(member, .broken) }
    let peer = card.peer
    guard PeerCard.fit(card.encryption, core.encryption) else {
      core.tell(ledger.joined(member.id, of: peer))
      turnAway(member, .encryption)
      settleAttempts(to: peer)
      return gone(member.id, peer, ControlMessage.Refusal.encryption.error(isOurs: true))
    }
    for other in guests.values where other.peer == peer && other.member.id != member.id {
      if other.isSuspended {
        // The peer has restarted: the earlier node does not come back.
        drop(other, MCError(.notConnected, "the peer has started anew"))
      } else if other.member.id.peer != member.id.peer {
        return turnAway(member, .identity)
      }
    }
    let guest = Guest(member, peer)
    guests[member.id] = guest
    core.tell(ledger.joined(member.id, of: peer))
    for (number, attempt) in attempts where attempt.awaited == member.id { settle(number) }
    // The delegate may have left just now.
    if !isOver { ask(about: guest, in: session) }
  }

  private func ask(about guest: Guest, in session: Session) {
    let id = guest.member.id
    let patience = core.patience.certificate
    guest.deadline = Task { [self] in
      guard (try? await Task.sleep(for: patience)) != nil else { return }
      onQueue { [self] in if guests[id]?.isAccepted == false { refuse(id, .noAnswer) } }
    }
    let answer: @Sendable (Bool) -> Void = { [self] isAccepted in
      onQueue { [self] in
        guard let guest = guests[id], !guest.isAccepted else { return }
        if isAccepted { agreed(to: guest, in: session) } else { refuse(id, .declined) }
      }
    }
    var isAsked = false
    core.tell {
      isAsked = true
      let certificates = guest.member.proven.certificates.map { Data($0) }
      $1.session($0, didReceiveCertificate: certificates, fromPeer: guest.peer, certificateHandler: answer)
    }
    if !isAsked { answer(true) }
  }

  private func agreed(to guest: Guest, in session: Session) {
    guest.deadline?.cancel()
    guest.isAccepted = true
    _ = try? guest.member.trySend(ControlMessage.ready.bytes, in: ControlMessage.channel)
    if guest.isReady { connect(guest, in: session) }
  }

  private func connect(_ guest: Guest, in session: Session) {
    guard !guest.isConnected, core.add(guest.member, of: guest.peer, in: session, by: self) else { return }
    guest.isConnected = true
    settleAttempts(to: guest.peer)
    core.tell(ledger.connected(guest.member.id, of: guest.peer))
  }

  /// Settles attempts to reach this peer: they have succeeded, or would be refused again.
  private func settleAttempts(to peer: MCPeerID) {
    for (number, attempt) in attempts where attempt.peer == peer { settle(number) }
  }

  // MARK: Connected guests

  /// Returns the guest that has sent something. By sending it has agreed, even if its `ready` comes later; without our
  /// agreement it may not send.
  private func opened(by member: Member, in session: Session) -> Guest? {
    guard let guest = guests[member.id] else { return nil }
    guard guest.isAccepted else {
      refuse(member.id, .broken)
      return nil
    }
    guest.isReady = true
    connect(guest, in: session)
    return guest.isConnected ? guest : nil
  }

  private func received(_ message: Message, in session: Session) {
    if message.channel == ControlMessage.channel {
      guard let guest = guests[message.member.id] else { return }
      switch ControlMessage(message.bytes) {
      case .ready:
        guest.isReady = true
        if guest.isAccepted { connect(guest, in: session) }
      case .refused(let refusal): guest.refusal = refusal.error(isOurs: false)
      // A message of a later version.
      case nil: break
      }
      return
    }
    guard let guest = opened(by: message.member, in: session) else { return }
    core.tell { $1.session($0, didReceive: Data(message.bytes), fromPeer: guest.peer) }
  }

  // MARK: Leaving

  private func left(_ member: Member, _ error: MCError) async {
    guard let guest = guests[member.id] else { return }
    for output in guest.outputs { output.state?.end(.failed(error)) }
    // Transfers under way have ended with the membership; that is reported first.
    for resource in Array(guest.resources.values) { await resource.task?.value }
    for resource in Array(guest.sending.values) { await resource.task?.value }
    if isOver { return }
    guests[member.id] = nil
    guest.deadline?.cancel()
    if guest.refusal != nil { settleAttempts(to: guest.peer) }
    gone(member.id, guest.peer, guest.refusal ?? error, member)
  }

  /// Reports that a peer is gone, if this was its last node.
  private func gone(_ node: NodeID, _ peer: MCPeerID, _ error: MCError, _ member: Member? = nil) {
    if let member { core.remove(member, of: peer) }
    if departed.count >= SessionCore.reasonLimit { departed.removeFirst() }
    departed.append(node)
    core.note(error, of: peer)
    core.tell(ledger.left(node, of: peer))
  }

  /// Ends a membership that this side does not want, and says why to the other one.
  private func refuse(_ node: NodeID, _ refusal: ControlMessage.Refusal) {
    guard let guest = guests[node] else { return }
    turnAway(guest.member, refusal)
    close(guest, refusal.error(isOurs: true))
    guests[node] = nil
    settleAttempts(to: guest.peer)
    gone(node, guest.peer, refusal.error(isOurs: true), guest.member)
  }

  private func drop(_ guest: Guest, _ error: MCError) {
    close(guest, error)
    guests[guest.member.id] = nil
    let member = guest.member
    Task { await member.disconnect() }
    gone(guest.member.id, guest.peer, error, guest.member)
  }

  private func turnAway(_ member: Member, _ refusal: ControlMessage.Refusal) {
    doors.withLock { $0.deny(member.id) }
    _ = try? member.trySend(ControlMessage.refused(refusal).bytes, in: ControlMessage.channel)
    Task { await member.disconnect() }
  }
}
