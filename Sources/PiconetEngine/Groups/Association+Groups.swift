import PiconetWire

/// What one association knows of the group.
extension Association {
  /// Whether both sides bring their members together.
  var isOfGroup: Bool {
    configuration.membership == .group && capabilities.contains(.group) && capabilities.contains(.introductions)
  }

  /// Whether its node has a place in our group, or was promised one.
  var hasGroupPlace: Bool { isOfGroup && (isMember || holdsPlace) }

  /// The peer's rank in the group: the rank that it states, or else the one that follows from how it became a member.
  var rank: UInt64 { group.rank }

  /// The capacity of the peer's session; without limit until the peer has stated it.
  var groupCapacity: UInt64 { group.capacity }

  /// The view of its group that the remote side has told.
  var groupView: GroupView? { group.remoteView }

  /// Returns whether our group yields to that of the remote side if there are not enough places for all of both. Nil if
  /// one of the two sides has told of no group.
  func yields(at node: NodeID) -> Bool? {
    guard isOfGroup, let toldView = group.toldView, let groupView else { return nil }
    return toldView.yields(at: node.incarnation, to: groupView, of: self.node.incarnation)
  }
}

extension GroupView {
  /// Returns whether this group, as one node tells of it, yields to another. The smaller group yields; of two groups of
  /// the same size, the one whose lowest incarnation is larger yields. So both sides name the same group.
  func yields(at teller: Incarnation, to other: GroupView, of otherTeller: Incarnation) -> Bool {
    if members.count != other.members.count { return members.count < other.members.count }
    return lowest(with: teller) > other.lowest(with: otherTeller)
  }

  private func lowest(with teller: Incarnation) -> UInt64 { min(teller.rawValue, members.first?.rawValue ?? .max) }
}

extension Frame {
  /// Whether this frame asks for a place, or says that there is or is not one, so that our group must be known.
  var isAboutPlace: Bool {
    switch self {
    case .invite, .inviteByCode, .accept: true
    case .decline(let reason, _): reason == .full
    case .hello, .associate, .associated, .close, .ping, .pong, .acknowledge, .messageCredit, .unreliableMessage,
      .codeNonce, .codeReveal, .listening, .channelCredit, .chunk, .position, .transferCredit, .end, .streamCredit,
      .tunnelCredit, .message, .fragment, .channelMessage, .channelFragment, .withdraw, .admit, .codeAnswer,
      .codeConfirm, .comparison, .leave, .removeMember, .removed, .introduce, .introduced, .introductionFailed,
      .withdrawIntroduction, .askToIntroduce, .groupView, .openTunnel, .offerTunnel, .tunnelOpened, .tunnelData,
      .closeTunnel, .offer, .acceptOffer, .declineOffer, .stored, .present, .restart, .comparing, .abandon, .refuse,
      .senderPaused, .receiverPaused, .openStream, .streamData, .endStream, .resetStream, .stopStream, .streamDone,
      .unknownOptional:
      false
    }
  }
}
