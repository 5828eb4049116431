import PiconetWire

/// Frames on their way in: from a link to who owns what they are about.
extension SessionEngine {
  mutating func received(_ bytes: Bytes, on link: Link, _ turn: Turn) {
    link.heard(turn.now)
    link.decoder.push(bytes)
    guard let association = link.association else { return decode(link, turn) }
    association.count(receivedBytes: bytes.count)
    let moved = association.movedCount
    turn.readCount = bytes.count
    decode(link, turn)
    if association.movedCount != moved { association.moved(turn.now) }
  }

  /// Looks at frames until there is no whole one, the link is gone, or the driver has to answer first.
  mutating func decode(_ link: Link, _ turn: Turn) {
    do throws(WireError) {
      while !link.isDecodingPaused, !link.isForgotten, let frame = try link.decoder.next() {
        // Messages are what there is most of: they pass by everything that they can't concern.
        if case .message(let bytes) = frame, let association = link.association {
          do throws(Breach) {
            try association.receivedCounted(message: bytes, turn)
          } catch {
            breach(link, error.reason, error.detail, turn)
          }
        } else {
          receive(frame, on: link, turn)
        }
      }
    } catch {
      return breach(link, .protocolBroken, "\(error)", turn)
    }
    if link.isForgotten { return }
    if link.isDecodingPaused, link.decoder.bufferedCount > Link.pausedLimit {
      breach(link, .limitExceeded, "too many bytes during the handshake", turn)
    } else if link.control.count > link.controlLimit {
      breach(link, .limitExceeded, "asks for more answers than it takes", turn)
    }
  }

  private mutating func receive(_ frame: Frame, on link: Link, _ turn: Turn) {
    guard link.isLegal(frame) else {
      return breach(link, .protocolBroken, "frame 0x\([frame.type].hexadecimal) at the wrong time", turn)
    }
    link.association?.count(received: frame, turn)
    do throws(Breach) {
      try receive(frame, on: link, of: link.association, turn)
    } catch {
      breach(link, error.reason, error.detail, turn)
    }
  }

  /// Hands a frame to whoever owns what it is about: those of an association are legal only where there is one.
  private mutating func receive(
    _ frame: Frame, on link: Link, of association: Association?, _ turn: Turn
  ) throws(Breach) {
    switch frame {
    case .message, .fragment, .unreliableMessage, .messageCredit, .acknowledge, .acceptOffer, .declineOffer, .chunk,
      .position, .transferCredit, .end, .stored, .present, .restart, .comparing, .abandon, .refuse, .senderPaused,
      .receiverPaused, .openStream, .streamData, .endStream, .resetStream, .streamCredit, .stopStream, .streamDone:
      try association?.receive(frame, turn)
    case .offer(let number, let offer):
      guard let association else { return }
      defer { turn.flush(link) }
      guard try association.admitsOffer(number, turn) else { return }
      // What its former run was sending is let go, for this offer to go on with.
      for former in associations.formerTransfers(of: association.node, offer) {
        former.association.releaseStore(of: former.transfer, turn)
      }
      try association.receive(frame, turn)
    case .invite, .accept, .decline, .withdraw, .codeNonce, .codeReveal, .admit, .inviteByCode, .codeAnswer,
      .codeConfirm:
      guard let association else { return }
      negotiate(.received(frame, hasRoom: hasRoomForMember(association.node, turn.now)), association, turn)
    case .removeMember(let subject, _):
      if let association { try receivedRemoveMember(subject, from: association, turn) }
    case .removed(let member): try association?.receivedRemoved(member)
    case .leave(let reason, let detail):
      if let association { receivedLeave(reason, detail, from: association, on: link, turn) }

    case .hello(let hello): receivedHello(hello, on: link, turn)
    case .associate(let id, let received): receivedAssociate(id, received, on: link, turn)
    case .associated(let received, let begun):
      if let association {
        try association.receivedAssociated(begun, at: node)
      } else {
        receivedAssociated(received, begun, on: link, turn)
      }
    case .close(let reason, let detail): receivedClose(reason, detail, on: link, turn)
    case .ping(let token): link.answer(ping: token, turn)
    case .pong(let token):
      probeAnswered(token, on: link, turn)
      link.received(pong: token, turn)
    case .unknownOptional: break
    }
  }
}
