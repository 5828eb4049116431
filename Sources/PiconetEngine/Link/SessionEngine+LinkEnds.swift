import PiconetWire

/// The end of a link: announced by the remote side, found by the driver, or decided by us.
extension SessionEngine {
  mutating func receivedClose(_ reason: Reason, _ detail: String, on link: Link, _ turn: Turn) {
    turn.add(.closeLink(link.id, flush: false))
    let remote = link.node ?? link.searchedFor
    let ending = Ending(byClose: reason, detail, of: remote.flatMap { associations[$0] })
    forget(link, ending, isOnlyLink: reason.endsOnlyLink, turn)
    // The remote side no longer has an association with us, or does not want one. No other link will bring it back.
    if reason.endsSuspended, let remote, let association = associations[remote], association.suspension != nil {
      end(association, ending, turn)
    }
  }

  /// Ends the link in good order and tells the remote side why. No rule was broken.
  mutating func refuse(_ link: Link, _ reason: Reason, _ detail: String, _ turn: Turn) {
    end(link, Ending(reason, reason.blameOfRefusal, detail), turn)
  }

  /// Ends the link and its association, because the remote side broke a rule.
  mutating func breach(_ link: Link, _ breach: Breach, _ turn: Turn) {
    end(link, Ending(breach.reason, .peer, breach.detail), turn)
  }

  /// Tells the remote side the reason, closes the link and forgets it. Has no effect on a link that has ended.
  /// - Parameters:
  ///   - told: the words for the remote side in place of the ending's own.
  ///   - isOnlyLink: whether an association on the link continues without it.
  mutating func end(
    _ link: Link, _ ending: Ending, told: String? = nil, isOnlyLink: Bool = false, _ turn: Turn
  ) {
    if link.isForgotten { return }
    link.close(ending.reason, told ?? ending.detail, turn)
    forget(link, ending, isOnlyLink: isOnlyLink, turn)
  }

  /// Forgets the link and ends what depended on it.
  /// - Parameter isOnlyLink: whether an association on the link continues without it, if it can.
  mutating func forget(_ link: Link, _ ending: Ending, isOnlyLink: Bool = false, _ turn: Turn) {
    if link.isForgotten { return }
    links.forget(link, turn)
    if let remote = link.node, let association = associations[remote], association.link === link {
      if association.lost(link, ending, mayGoOn: isOnlyLink && shutdown == nil, turn) {
        attempts.broke(link)
        // A link that the remote side has opened in the meantime may be used.
        if let other = links.ready(to: remote).first { use(other, associations.use(ofReady: other, turn), turn) }
        search(.linkLost(wasDialler: link.isDialler), for: remote, turn)
      } else {
        conclude(association, ending, turn)
      }
    }
    if let wanted = link.searchedFor { search(.linkEnded(link.id), for: wanted, turn) }
    link.endPings(ending, turn)
    // An association that one side holds is over on the other. It is lost, whichever side has said so.
    let ending = ending.reason == .noSuchAssociation ? Association.lostByPeer : ending
    goOn(attempts.linkEnded(link, ending, surroundings, turn), turn)
    attempts.lastEnded(link, ending, surroundings, turn)
  }
}
