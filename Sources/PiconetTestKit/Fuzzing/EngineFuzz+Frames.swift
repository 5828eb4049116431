import PiconetEngine
import PiconetWire

/// Frames of hostile peers.
extension EngineFuzz {
  func send(_ frame: Frame, on link: LinkID) { send(FrameEncoder.encode(frame), on: link) }

  func send(_ bytes: [UInt8], on link: LinkID) {
    if links[link] != nil { take(.received(link, bytes[...])) }
  }

  func sendFrame() {
    guard let link = pickLink(), let peer = links[link]?.peer else { return }
    send(frame(of: peer), on: link)
  }

  /// Sends a type and a body that need not belong together.
  func sendBytes() {
    guard let link = pickLink() else { return }
    var bytes: [UInt8] = []
    let type = input.byte()
    let body = input.bytes(atMost: 80)
    FrameEncoder.appendHeader(type: type, bodyCount: body.count, to: &bytes)
    bytes += body
    // From time to time the bytes are sent in two parts.
    if input.number(below: 4) == 3 {
      send(Array(bytes.prefix(bytes.count / 2)), on: link)
      bytes.removeFirst(bytes.count / 2)
    }
    send(bytes, on: link)
  }

  /// Sends the same frame many times.
  func flood() {
    guard let link = pickLink(), let peer = links[link]?.peer else { return }
    let frame = frame(of: peer)
    let once = FrameEncoder.encode(frame)
    let count = min(1 + Int(input.byte()) * 4, (1 << 16) / max(1, once.count))
    send(Array(repeatElement(once, count: count).joined()), on: link)
  }

  func hello(of peer: Int) -> Hello {
    var hello = Hello(
      incarnation: Self.hostileNode(peer).incarnation, name: "hostile", sessionID: "fuzz",
      capabilities: Capabilities(rawValue: UInt64(input.byte())))
    guard input.isTrue() else { return hello }
    hello.limits = PeerLimits(
      message: hostileLimit(), frame: max(UInt64(WireLimits.smallestFrame), hostileLimit()),
      messageWindow: hostileLimit(), transfers: input.hostileNumber(),
      silence: min(max(input.hostileNumber(), WireLimits.silence.lowerBound), WireLimits.silence.upperBound))
    hello.limits.channels = UInt64(input.number(below: MessageChannel.count) + 1)
    hello.limits.channelWindow = max(UInt64(WireLimits.channelWindow), hostileLimit())
    hello.associationsBegun = input.hostileNumber()
    if input.isTrue() { hello.held = HeldAssociation(id: pickAssociation(), received: input.hostileNumber()) }
    return hello
  }

  static let someNonce = CodeNonce(
    bytes: [UInt8](repeating: 5, count: Invite.nonceCount), commitment: [UInt8](repeating: 6, count: Invite.nonceCount))

  private func hostileLimit() -> UInt64 { input.pick([0, 1, 2_000, 100_000, VariableInteger.max]) }

  /// Returns an association of this peer, of another peer, or an invented one.
  private func pickAssociation() -> AssociationID {
    let number = input.number(below: 20)
    return number < associations.count ? associations[number] : AssociationID(high: UInt64(number), low: 1)
  }

  /// Returns the engine, one of the other peers, or an invented node. It is never the honest peer, since any member has
  /// the right to have it removed.
  private func pickMember() -> NodeID {
    let named = input.pick([node, Self.hostileNode(0), Self.hostileNode(3), Self.node(77)])
    return named
  }

  private func introduction() -> Introduce {
    let host = input.pick([
      [10, 0, 0, 7], [127, 0, 0, 1], [UInt8](repeating: 0xFE, count: 16), [1, 2, 3, 4, 5, 6], [],
    ])
    let address = HostAddress(transport: input.byte() & 3, host: host, port: 1 + UInt16(input.byte()))
    let named =
      input.isTrue()
      ? pickMember() : NodeID(peer: Self.node(input.byte()).peer, incarnation: Self.node(0).incarnation)
    return Introduce(
      named, timeout: input.hostileNumber(), name: "somebody",
      addresses: [HostAddress](repeating: address, count: input.number(below: 9)))
  }

  private func pickChannel() -> MessageChannel { input.pick([1, 2, 62, 63]) }

  private func reason() -> Reason { Reason(rawValue: UInt16(input.byte())) }

  func frame(of peer: Int) -> Frame {
    let contents = { (fuzz: EngineFuzz) -> Bytes in
      let count = fuzz.input.pick([0, 1, 31, 200, 1_000, 1_024])
      return [UInt8](repeating: fuzz.input.byte(), count: count)[...]
    }
    let transfer = UInt64(input.number(below: 6))
    switch input.number(below: 58) {
    case 0: return .hello(hello(of: peer))
    case 1: return .codeReveal([UInt8](repeating: input.byte(), count: Invite.nonceCount))
    case 2: return .associate(pickAssociation(), received: input.hostileNumber())
    case 3: return .associated(received: input.hostileNumber(), begun: input.hostileNumber())
    case 4: return .close(reason(), detail: "bye")
    case 5: return .ping(input.hostileNumber())
    case 6: return .pong(input.hostileNumber())
    case 7: return .acknowledge(received: input.hostileNumber())
    case 8: return .messageCredit(limit: input.hostileNumber())
    case 9: return .unreliableMessage(number: input.hostileNumber(), contents(self))
    case 10, 11: return .chunk(transfer: transfer, contents(self) + [1])
    case 12: return .position(transfer: transfer, offset: input.hostileNumber())
    case 13:
      let (one, other) = (input.hostileNumber(), input.hostileNumber())
      return .transferCredit(transfer: transfer, stored: min(one, other), limit: max(one, other))
    case 14:
      guard let digest = ResourceDigest(sha256: [UInt8](repeating: 1, count: ResourceDigest.byteCount)) else {
        return .accept
      }
      return .end(transfer: transfer, size: input.isTrue() ? input.hostileNumber() : UInt64(input.byte()) * 64, digest)
    case 15, 16: return .message(contents(self))
    case 17: return .fragment(contents(self) + [1])
    case 18:
      return .invite(
        Invite(
          timeout: input.hostileNumber(), terms: InvitationTerms(rawValue: input.hostileNumber()),
          commitment: Self.someNonce.commitment, context: input.bytes(atMost: 30)[...]))
    case 19: return .accept
    case 20: return .decline(reason(), detail: "no")
    case 21: return .withdraw(reason())
    case 22: return .leave(reason(), detail: "")
    case 23:
      return .offer(
        transfer: transfer,
        ResourceOffer(
          name: input.bytes(atMost: 20), size: input.isTrue() ? input.hostileNumber() : UInt64(input.byte()) * 64))
    case 24:
      let (one, other) = (input.hostileNumber(), input.hostileNumber())
      return .acceptOffer(transfer: transfer, offset: min(one, other), limit: max(one, other))
    case 25: return .declineOffer(transfer: transfer, reason(), detail: "")
    case 26: return .stored(transfer: transfer, name: input.bytes(atMost: 10))
    case 27: return .abandon(transfer: transfer, reason(), detail: "")
    case 28: return .refuse(transfer: transfer, reason(), detail: "")
    case 29: return .senderPaused(transfer: transfer, input.isTrue())
    case 30: return .receiverPaused(transfer: transfer, input.isTrue())
    case 31: return .removeMember(subject: pickMember(), reason())
    case 32: return .removed(by: pickMember())
    case 33: return .streamCredit(stream: transfer, limit: input.hostileNumber())
    case 34, 35: return .openStream(stream: transfer, name: "stream")
    case 36, 37: return .streamData(stream: transfer, contents(self) + [1])
    case 38: return .endStream(stream: transfer)
    case 39: return .resetStream(stream: transfer, reason(), detail: "")
    case 40: return .stopStream(stream: transfer, reason(), detail: "")
    case 41: return .streamDone(stream: transfer)
    case 42: return .codeNonce([UInt8](repeating: input.byte(), count: Invite.nonceCount))
    case 43: return .admit
    case 44:
      return .inviteByCode(
        InviteByCode(
          timeout: input.hostileNumber(), share: [UInt8](repeating: input.byte(), count: InviteByCode.shareCount),
          context: input.bytes(atMost: 30)[...]))
    case 45:
      return .codeAnswer(
        CodeAnswer(
          share: [UInt8](repeating: input.byte(), count: InviteByCode.shareCount),
          confirmation: [UInt8](repeating: input.byte(), count: InviteByCode.confirmationCount),
          left: input.hostileNumber()))
    case 47: return .channelMessage(pickChannel(), contents(self))
    case 48, 49: return .channelFragment(pickChannel(), contents(self) + [1])
    case 50: return .channelCredit(pickChannel(), limit: input.hostileNumber())
    case 51, 52: return .introduce(introduction())
    case 56: return .askToIntroduce(pickMember())
    case 53: return .introduced(pickMember())
    case 54: return .introductionFailed(pickMember(), reason(), detail: "")
    case 55: return .withdrawIntroduction(pickMember(), reason())
    case 46: return .codeConfirm([UInt8](repeating: input.byte(), count: InviteByCode.confirmationCount))
    default:
      let byte = input.byte()
      switch byte & 7 {
      case 1: return .present(transfer: transfer, name: input.bytes(atMost: 10))
      case 2:
        let (one, other) = (input.hostileNumber(), input.hostileNumber())
        return .restart(transfer: transfer, offset: min(one, other), limit: max(one, other))
      case 5: return tunnelFrame(transfer)
      case 6: return .tunnelData(tunnel: transfer, contents(self) + [1])
      case 3: return .comparing(transfer: transfer, compared: input.hostileNumber())
      case 4:
        let ports = 1...UInt8(input.byte() % 8 + 1)
        return .listening(ports.map { ListeningPort(transport: $0, port: UInt16(input.byte()) * 257 | 1) })
      case 7:
        let (one, other) = (input.hostileNumber(), input.hostileNumber())
        return .groupView(
          GroupView(
            capacity: max(2, input.hostileNumber()), smallest: max(2, input.hostileNumber()), rank: min(one, other),
            highest: max(one, other), members: [Incarnation(rawValue: one), Incarnation(rawValue: one + 1)]))
      default: return byte & 8 == 0 ? .unknownOptional(type: byte | FrameType.optionalBit) : comparison(byte >> 4)
      }
    }
  }

  private func comparison(_ kind: UInt8) -> Frame {
    let bytes = [UInt8](repeating: input.byte(), count: Invite.nonceCount)
    switch kind {
    case 0, 1: return .comparison(.ask(timeout: input.hostileNumber(), commitment: Self.someNonce.commitment))
    case 2: return .comparison(.nonce(bytes))
    case 3: return .comparison(.reveal(bytes))
    case 4: return .comparison(.same)
    default: return .comparison(.end(reason(), detail: ""))
    }
  }

  private func credit(_ number: UInt64) -> Frame {
    let (one, other) = (input.hostileNumber(), input.hostileNumber())
    return .tunnelCredit(tunnel: number, consumed: min(one, other), limit: max(one, other))
  }

  private func tunnelFrame(_ number: UInt64) -> Frame {
    switch input.number(below: 5) {
    case 0: .openTunnel(tunnel: number, to: pickMember())
    case 1: .offerTunnel(tunnel: number, from: pickMember(), relays: UInt64(input.number(below: 3) + 1))
    case 2: .tunnelOpened(tunnel: number, relays: UInt64(input.number(below: 3) + 1))
    case 3: credit(number)
    default: .closeTunnel(tunnel: number, reason(), detail: "")
    }
  }
}
