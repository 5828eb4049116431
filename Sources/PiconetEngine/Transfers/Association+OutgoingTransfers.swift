import PiconetWire

/// Outgoing transfers: offered, sent as credit allows, ended by one reply.
extension Association {
  func offer(
    _ caller: Caller<ResultKind.Stored>, _ id: TransferID, _ offer: ResourceOffer, _ turn: Turn
  ) {
    if let refusal = refusal(of: offer, id, turn.handles) {
      turn.add(.closeSource(id))
      return turn.reply(caller, .failed(refusal))
    }
    transfers.append(TransferSender(id: id, caller: caller, offer: offer))
    turn.handles.append(id, in: self)
    sendOffers(turn)
  }

  /// The maximum number of outgoing transfers that may wait or run at once, to all peers together.
  private static let outgoingLimit = 65_536

  private func refusal(
    of offer: ResourceOffer, _ id: TransferID, _ places: borrowing OpenHandles
  ) -> Ending? {
    guard isMember, leaving == nil else { return Self.notConnected }
    if offer.name.count > WireLimits.resourceName || offer.metadata.count > WireLimits.metadata {
      let detail = "a name has at most \(WireLimits.resourceName) bytes, metadata at most \(WireLimits.metadata)"
      return Ending(.limitExceeded, .us, detail)
    }
    if offer.identity.count > WireLimits.contentIdentity {
      return Ending(.limitExceeded, .us, "a content identity has at most \(WireLimits.contentIdentity) bytes")
    }
    if places.outgoingTransferCount >= Self.outgoingLimit || places[id] != nil {
      return Ending(.tooManyTransfers, .us, "\(Self.outgoingLimit) transfers are under way")
    }
    return nil
  }

  /// Sends waiting offers, as far as the remote side accepts more transfers.
  func sendOffers(_ turn: Turn) {
    // Offers wait while there is no link, and until frames have been sent again, because only offers can be many.
    guard let link = activeLink, !sequenced.isResending else {
      transfers.holdOffersBack()
      return
    }
    transfers.releaseOffers()
    for transfer in transfers.order where UInt64(transfers.offered.count) < limits.transfers {
      if isCrowded || link.control.count > Link.offerLimit {
        transfers.holdOffersBack()
        return
      }
      guard let offer = transfers.offer(transfer) else { continue }
      countOffer()
      send(offer, turn)
      if transfer.isPaused, let hint = transfer.pauseHint { send(hint, turn) }
    }
  }

  func sourceFinished(_ id: TransferID, _ digest: ResourceDigest, _ turn: Turn) {
    if let transfer = transfers.outgoing[id], transfer.finished(digest) { turn.flush(link) }
  }

  func sourceFailed(_ id: TransferID, _ ending: Ending, _ turn: Turn) {
    if let transfer = transfers.outgoing[id] { abandon(transfer, ending, turn) }
  }

  /// Gives up an outgoing transfer. The caller is told now; the number is free once the remote side confirms.
  func abandon(_ transfer: TransferSender, _ ending: Ending, _ turn: Turn) {
    guard transfer.phase != .abandoned else { return }
    turn.add(.closeSource(transfer.id))
    turn.reply(transfer.caller, .failed(ending))
    guard let number = transfers.abandon(transfer) else { return turn.handles.remove(transfer.id) }
    // The remote side need not hear its own words again.
    let detail = ending.blame == .peer ? "" : ending.detail
    send(.abandon(transfer: number, ending.reason, detail: detail), turn)
  }

  /// Removes a transfer that is over on both sides. Another one may then be offered.
  private func free(_ transfer: TransferSender, _ turn: Turn) {
    transfers.remove(transfer)
    turn.handles.remove(transfer.id)
    sendOffers(turn)
  }

  // MARK: The remote side's frames about our transfers

  func receivedAccept(_ number: UInt64, offset: UInt64, limit: UInt64, _ turn: Turn) throws(Breach) {
    guard let transfer = try transfers.accepted(number, at: offset, limit: limit) else { return }
    turn.deliver(.transferAccepted(transfer.id, offset: offset))
    read(transfer, turn)
  }

  func receivedDecline(
    _ number: UInt64, _ reason: Reason, _ detail: String, _ turn: Turn
  ) throws(Breach) {
    guard let transfer = transfers.offered[number] else { throw Breach("declines an unknown offer") }
    if try transfer.declined() {
      turn.add(.closeSource(transfer.id))
      turn.reply(transfer.caller, .failed(Ending(reason, .peer, detail)))
    }
    free(transfer, turn)
  }

  func receivedCredit(_ number: UInt64, stored: UInt64, limit: UInt64, _ turn: Turn) throws(Breach) {
    guard let (transfer, credit) = try transfers.credited(number, stored: stored, limit: limit) else { return }
    if credit.owesPause { tellPause(transfer.id, turn) }
    if credit.goesOn { send(.position(transfer: number, offset: stored), turn) }
    if credit.hasProgressed { turn.deliver(.transferProgressed(transfer.id, stored: stored)) }
    read(transfer, turn)
  }

  /// Notes that the remote side has the resource under this name: it has stored it, or had it already.
  func receivedStored(_ number: UInt64, name: [UInt8], wasAlreadyPresent: Bool, _ turn: Turn) throws(Breach) {
    guard let transfer = transfers.offered[number] else {
      throw Breach(wasAlreadyPresent ? "has an unknown transfer already" : "has stored an unknown transfer")
    }
    if try transfer.completed() {
      turn.add(.closeSource(transfer.id))
      turn.reply(transfer.caller, .stored(name: name, wasAlreadyPresent: wasAlreadyPresent))
    }
    free(transfer, turn)
  }

  func receivedRefuse(_ number: UInt64, _ reason: Reason, _ detail: String, _ turn: Turn) throws(Breach) {
    guard let transfer = transfers.offered[number] else { throw Breach("refuses an unknown transfer") }
    // The remote side frees the number once it has our `abandon`.
    abandon(transfer, Ending(reason, .peer, detail), turn)
    free(transfer, turn)
  }
}
