import PiconetWire

/// Associations that outlive their links: suspended when one is lost, resumed on another.
extension SessionEngine {
  /// The association goes on without this link, and looks for another one.
  mutating func suspended(_ association: Association, on link: Link, _ turn: Turn) {
    // A link that the remote side has opened in the meantime may serve.
    if node < association.node, let other = links.ready(to: association.node).first { ready(other, turn) }
    guard associations[association.node] === association, association.suspension != nil else { return }
    search(.linkLost(wasDialler: link.isDialler), for: association.node, turn)
  }

  // MARK: The smaller node, which decides

  /// The active link has answered: links that wait to replace it are refused.
  mutating func probeAnswered(_ token: UInt64, on link: Link, _ turn: Turn) {
    guard link.phase == .active else { return }
    for other in links.waiting(for: token, of: link.node) { refuse(other, .duplicateLink, "", turn) }
  }

  /// The active link has given no sign of life.
  mutating func probeEnded(_ link: Link, _ turn: Turn) {
    link.endProbe()
    guard let remote = link.node, let association = associations[remote], association.link?.phase == .active
    else { return }
    // The association may have ended meanwhile, and another one begun.
    guard link.hello?.held?.id == association.id else { return ready(link, turn) }
    resume(association, on: link, turn)
  }

  /// Asks the remote side to resume the association over this link.
  mutating func resume(_ association: Association, on link: Link, _ turn: Turn) {
    leave(linkOf: association, for: link, turn)
    link.askToResume(association, turn)
  }

  /// The remote side has answered that it resumes the association.
  mutating func receivedAssociated(_ received: UInt64, _ begun: UInt64, on link: Link, _ turn: Turn) {
    guard link.phase == .resuming, let remote = link.node, let association = associations[remote] else { return }
    guard association.isCounted(as: begun) else { return end(association, Association.lostByPeer, turn) }
    guard resumes(association, received, on: link, turn) else { return }
    association.confirmed(begun: begun, received, on: link)
    activate(association, on: link, received, turn)
    for other in links.ready(to: remote) { refuse(other, .duplicateLink, "", turn) }
  }

  // MARK: The larger node

  /// The remote side wants to go on over this link with an association that we have.
  mutating func takeOver(_ association: Association, _ received: UInt64, on link: Link, _ turn: Turn) {
    guard resumes(association, received, on: link, turn) else { return }
    leave(linkOf: association, for: link, turn)
    let begun = associations.begunCount(with: association.node.peer)
    link.queue(.associated(received: association.receivedCount, begun: begun))
    activate(association, on: link, received, turn)
  }

  // MARK: Both

  /// Whether the association can be resumed when the remote side has this many of our frames; if not, it is ended.
  private mutating func resumes(_ association: Association, _ received: UInt64, on link: Link, _ turn: Turn) -> Bool {
    do throws(Breach) {
      if try association.resumes(at: received) { return true }
      end(association, Association.lostByPeer, turn)
      refuse(link, .noSuchAssociation, "", turn)
    } catch {
      breach(link, error, turn)
      end(association, Ending(error.reason, .peer), turn)
    }
    return false
  }

  /// Moves the association to another link. What still comes on the previous one does not count.
  private mutating func leave(linkOf association: Association, for link: Link, _ turn: Turn) {
    if let former = association.take(link) { end(former, Ending(.duplicateLink, .nobody), turn) }
    association.detach(turn)
  }

  private mutating func activate(_ association: Association, on link: Link, _ received: UInt64, _ turn: Turn) {
    let dialled = attempts.addressesDialled(for: link)
    association.resume(on: link, remoteHas: received, dialled: dialled, surroundings, turn)
    associationBegan(association, turn)
  }
}
