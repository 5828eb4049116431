import PiconetWire

/// What the application asks of one peer.
extension Association {
  /// - Returns: what is left to the engine.
  func take(_ command: Command, _ id: CommandID, _ turn: Turn) -> MembershipRequest? {
    switch command {
    case .answerInvitation(_, let accept, let reason):
      return negotiate(accept ? .accepted(id) : .declined(id, reason), turn)
    case .showCode: return negotiate(.showing(id), turn)
    case .confirm(_, let isSame, let reason): return negotiate(.compared(id, isSame: isSame, reason), turn)
    case .ping(_, let timeout): ping(by: id, timeout, turn)
    case .offer(let transfer, _, let resource): offer(id, transfer, resource, turn)
    case .openStream(let stream, _, let name): openStream(id, stream, name: name, turn)

    case .invite, .setCode, .cancelInvitation, .cancelPing, .leave, .remove, .acceptOffer, .declineOffer,
      .cancelTransfer, .tellCompared, .pauseTransfer, .finishStream, .cancelStream, .setDisconnectTimeout, .setName,
      .expect, .stopExpecting, .introduce, .cancelIntroduction, .answerIntroduction, .shutDown:
      break
    }
    return nil
  }

  /// The answer where there is no association with the peer.
  static func refuse(_ command: Command, _ id: CommandID, _ turn: Turn) {
    switch command {
    case .answerInvitation, .showCode: turn.reply(id, .failed(Invitations.noInvitation))
    case .confirm: turn.reply(id, .failed(Invitations.nothingToConfirm))
    case .offer(let transfer, _, _):
      turn.add(.closeSource(transfer))
      turn.reply(id, .failed(notConnected))
    case .ping, .openStream, .invite, .setCode, .cancelInvitation, .cancelPing, .leave, .remove, .acceptOffer,
      .declineOffer, .cancelTransfer, .tellCompared, .pauseTransfer, .finishStream, .cancelStream,
      .setDisconnectTimeout, .setName, .expect, .stopExpecting, .introduce, .cancelIntroduction, .answerIntroduction,
      .shutDown:
      turn.reply(id, .failed(notConnected))
    }
  }

  /// How a command that is only for members ends.
  static let notConnected = Ending(.noSuchAssociation, .us, "not connected to this peer")
}
