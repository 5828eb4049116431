import PiconetWire

/// Commands of the application that concern one peer.
enum PeerCommand {
  case answerInvitation(accept: Bool, Reason)
  case showCode
  case confirm(isSame: Bool, Reason)
  case ping(timeout: Duration)
  case offer(TransferID, ResourceOffer)
  case openStream(StreamID, name: String)
}

extension Association {
  /// - Parameter view: see `negotiate`.
  /// - Returns: what is left for the engine to do; nil if nothing is.
  func take(_ command: PeerCommand, _ id: CommandID, _ view: GroupView?, _ turn: Turn) -> MembershipRequest? {
    switch command {
    case .answerInvitation(let accept, let reason):
      return negotiate(accept ? .accepted(id) : .declined(id, reason), view, turn)
    case .showCode: return negotiate(.showing(Caller(id)), view, turn)
    case .confirm(let isSame, let reason): return negotiate(.compared(id, isSame: isSame, reason), view, turn)
    case .ping(let timeout): ping(by: Caller(id), timeout, turn)
    case .offer(let transfer, let resource): offer(Caller(id), transfer, resource, turn)
    case .openStream(let stream, let name): openStream(id, stream, name: name, turn)
    }
    return nil
  }

  /// Sends a ping over the link that leads to the member now.
  private func ping(by caller: Caller<ResultKind.RoundTrip>, _ timeout: Duration, _ turn: Turn) {
    guard isMember else { return turn.reply(caller, .failed(Self.notConnected)) }
    guard let activeLink else {
      return turn.reply(caller, .failed(Ending(.linkFailed, .link, "no link leads to this peer now")))
    }
    activeLink.ping(by: caller, timeout, turn)
  }

  /// Answers a command about a peer that has no association with us.
  static func refuse(_ command: PeerCommand, _ id: CommandID, _ turn: Turn) {
    switch command {
    case .answerInvitation, .showCode: turn.reply(id, .failed(Invitations.noInvitation))
    case .confirm: turn.reply(id, .failed(Invitations.nothingToConfirm))
    case .offer(let transfer, _):
      turn.add(.closeSource(transfer))
      turn.reply(id, .failed(notConnected))
    case .ping, .openStream: turn.reply(id, .failed(notConnected))
    }
  }

  /// How a command that works only with a member fails.
  static let notConnected = Ending(.noSuchAssociation, .us, "not connected to this peer")
}
