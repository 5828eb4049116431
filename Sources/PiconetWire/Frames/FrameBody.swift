/// Turns the body of a frame into its fields.
enum FrameBody {
  static func decode(type: UInt8, _ body: Bytes) throws(WireError) -> Frame {
    switch type {
    case FrameType.message: return .message(body)
    case FrameType.chunk:
      var reader = ByteReader(body, type: type)
      let transfer = try transferNumber(&reader)
      guard !reader.isAtEnd else { throw reader.malformed("no bytes") }
      return .chunk(transfer: transfer, reader.rest)
    case FrameType.fragment:
      guard !body.isEmpty else { throw WireError.malformed(type: type, what: "no bytes") }
      return .fragment(body)
    case FrameType.streamData:
      var reader = ByteReader(body, type: type)
      let stream = try streamNumber(&reader)
      guard !reader.isAtEnd else { throw reader.malformed("no bytes") }
      return .streamData(stream: stream, reader.rest)
    case FrameType.tunnelData:
      var reader = ByteReader(body, type: type)
      let tunnel = try tunnelNumber(&reader)
      guard !reader.isAtEnd else { throw reader.malformed("no bytes") }
      return .tunnelData(tunnel: tunnel, reader.rest)
    case FrameType.channelMessage:
      var reader = ByteReader(body, type: type)
      return .channelMessage(try channel(&reader), reader.rest)
    case FrameType.channelFragment:
      var reader = ByteReader(body, type: type)
      let channel = try channel(&reader)
      guard !reader.isAtEnd else { throw reader.malformed("no bytes") }
      return .channelFragment(channel, reader.rest)
    case FrameType.unreliableMessage:
      var reader = ByteReader(body, type: type)
      return .unreliableMessage(number: try reader.integer("number"), reader.rest)
    default: return try decodeControl(type: type, body)
    }
  }

  private static func decodeControl(type: UInt8, _ body: Bytes) throws(WireError) -> Frame {
    var reader = ByteReader(body, type: type)
    let frame: Frame
    switch type {
    case FrameType.hello: return .hello(try HelloCodec.decode(body))
    case FrameType.codeNonce: frame = .codeNonce(Array(try reader.bytes(Invite.nonceCount, "nonce")))
    case FrameType.codeReveal: frame = .codeReveal(Array(try reader.bytes(Invite.nonceCount, "nonce")))
    case FrameType.associate:
      let high = try HelloCodec.word(&reader, "association")
      let low = try HelloCodec.word(&reader, "association")
      frame = .associate(AssociationID(high: high, low: low), received: try reader.integer("received"))
    case FrameType.associated:
      frame = .associated(received: try reader.integer("received"), begun: try reader.integer("begun"))
    case FrameType.close:
      frame = .close(try reason(&reader), detail: try reader.remainingText("detail", atMost: WireLimits.detail))
    case FrameType.ping: frame = .ping(try reader.integer("token"))
    case FrameType.pong: frame = .pong(try reader.integer("token"))
    case FrameType.acknowledge: frame = .acknowledge(received: try reader.integer("received"))
    case FrameType.channelCredit: frame = .channelCredit(try channel(&reader), limit: try reader.integer("limit"))
    case FrameType.messageCredit: frame = .messageCredit(limit: try reader.integer("limit"))
    case FrameType.listening: return .listening(try listeningPorts(&reader))
    case FrameType.invite:
      let timeout = try reader.integer("timeout")
      let terms = InvitationTerms(rawValue: try reader.integer("terms"))
      let commitment = Array(try reader.bytes(Invite.nonceCount, "commitment"))
      guard reader.rest.count <= WireLimits.context else {
        throw reader.malformed("context above \(WireLimits.context) bytes")
      }
      // Copied: it waits for a person's answer, and a slice would keep everything alive that was read with it.
      return .invite(Invite(timeout: timeout, terms: terms, commitment: commitment, context: Array(reader.rest)[...]))
    case FrameType.accept: frame = .accept
    case FrameType.decline:
      frame = .decline(try reason(&reader), detail: try reader.remainingText("detail", atMost: WireLimits.detail))
    case FrameType.withdraw: frame = .withdraw(try reason(&reader))
    case FrameType.admit: frame = .admit
    case FrameType.leave:
      frame = .leave(try reason(&reader), detail: try reader.remainingText("detail", atMost: WireLimits.detail))
    case FrameType.inviteByCode:
      let timeout = try reader.integer("timeout")
      let share = Array(try reader.bytes(InviteByCode.shareCount, "share"))
      guard reader.rest.count <= WireLimits.context else {
        throw reader.malformed("context above \(WireLimits.context) bytes")
      }
      return .inviteByCode(InviteByCode(timeout: timeout, share: share, context: Array(reader.rest)[...]))
    case FrameType.codeAnswer:
      let share = Array(try reader.bytes(InviteByCode.shareCount, "share"))
      let confirmation = Array(try reader.bytes(InviteByCode.confirmationCount, "confirmation"))
      frame = .codeAnswer(
        CodeAnswer(share: share, confirmation: confirmation, left: try reader.integer("tries left")))
    case FrameType.codeConfirm:
      frame = .codeConfirm(Array(try reader.bytes(InviteByCode.confirmationCount, "confirmation")))
    case FrameType.askToCompare, FrameType.compareNonce, FrameType.compareReveal, FrameType.sameCode,
      FrameType.endComparison:
      frame = .comparison(try comparison(type: type, &reader))
    case FrameType.removeMember: frame = .removeMember(subject: try member(&reader), try reason(&reader))
    case FrameType.removed: frame = .removed(by: try member(&reader))
    case FrameType.introduce: return .introduce(try introduction(&reader))
    case FrameType.askToIntroduce: frame = .askToIntroduce(try member(&reader))
    case FrameType.groupView: return .groupView(try GroupView(from: &reader))
    case FrameType.introduced: frame = .introduced(try member(&reader))
    case FrameType.introductionFailed:
      frame = .introductionFailed(
        try member(&reader), try reason(&reader), detail: try reader.remainingText("detail", atMost: WireLimits.detail))
    case FrameType.withdrawIntroduction: frame = .withdrawIntroduction(try member(&reader), try reason(&reader))
    default: return try decodeTransfer(type: type, body)
    }
    try reader.end()
    return frame
  }

  private static func comparison(type: UInt8, _ reader: inout ByteReader) throws(WireError) -> Comparison {
    switch type {
    case FrameType.askToCompare:
      let timeout = try reader.integer("timeout")
      return .ask(timeout: timeout, commitment: Array(try reader.bytes(Invite.nonceCount, "commitment")))
    case FrameType.compareNonce: return .nonce(Array(try reader.bytes(Invite.nonceCount, "nonce")))
    case FrameType.compareReveal: return .reveal(Array(try reader.bytes(Invite.nonceCount, "nonce")))
    case FrameType.sameCode: return .same
    default:
      return .end(try reason(&reader), detail: try reader.remainingText("detail", atMost: WireLimits.detail))
    }
  }

  private static func decodeTransfer(type: UInt8, _ body: Bytes) throws(WireError) -> Frame {
    var reader = ByteReader(body, type: type)
    let frame: Frame
    switch type {
    case FrameType.position:
      frame = .position(transfer: try transferNumber(&reader), offset: try reader.integer("offset"))
    case FrameType.comparing:
      frame = .comparing(transfer: try transferNumber(&reader), compared: try reader.integer("compared"))
    case FrameType.transferCredit:
      let (transfer, stored, limit) = try transferCredit(&reader)
      frame = .transferCredit(transfer: transfer, stored: stored, limit: limit)
    case FrameType.acceptOffer:
      let (transfer, offset, limit) = try transferCredit(&reader)
      frame = .acceptOffer(transfer: transfer, offset: offset, limit: limit)
    case FrameType.restart:
      let (transfer, offset, limit) = try transferCredit(&reader)
      frame = .restart(transfer: transfer, offset: offset, limit: limit)
    case FrameType.end:
      let transfer = try transferNumber(&reader)
      let size = try reader.integer("size")
      let algorithm = try reader.byte("digest algorithm")
      guard algorithm == ResourceDigest.sha256Algorithm else {
        throw reader.malformed("digest algorithm \(algorithm) is unknown")
      }
      guard let digest = ResourceDigest(sha256: try reader.bytes(ResourceDigest.byteCount, "digest")) else {
        throw reader.malformed("digest is cut off")
      }
      frame = .end(transfer: transfer, size: size, digest)
    case FrameType.offer:
      let (transfer, offer) = try OfferCodec.decode(body)
      return .offer(transfer: transfer, offer)
    case FrameType.declineOffer:
      let (transfer, reason, detail) = try transferEnd(&reader)
      frame = .declineOffer(transfer: transfer, reason, detail: detail)
    case FrameType.abandon:
      let (transfer, reason, detail) = try transferEnd(&reader)
      frame = .abandon(transfer: transfer, reason, detail: detail)
    case FrameType.refuse:
      let (transfer, reason, detail) = try transferEnd(&reader)
      frame = .refuse(transfer: transfer, reason, detail: detail)
    case FrameType.senderPaused, FrameType.receiverPaused:
      let transfer = try transferNumber(&reader)
      let isPaused = try reader.integer("paused", atMost: 1) == 1
      frame =
        type == FrameType.senderPaused
        ? .senderPaused(transfer: transfer, isPaused) : .receiverPaused(transfer: transfer, isPaused)
    case FrameType.stored, FrameType.present:
      let transfer = try transferNumber(&reader)
      guard reader.rest.count <= WireLimits.storedPath else { throw reader.malformed("name above its limit") }
      let name = Array(reader.rest)
      return type == FrameType.stored
        ? .stored(transfer: transfer, name: name) : .present(transfer: transfer, name: name)
    default: return try decodeStream(type: type, body)
    }
    try reader.end()
    return frame
  }

  /// Reads the offset that the receiver has reached, and the limit for the sender.
  private static func transferCredit(
    _ reader: inout ByteReader
  ) throws(WireError) -> (transfer: UInt64, offset: UInt64, limit: UInt64) {
    let transfer = try transferNumber(&reader)
    let offset = try reader.integer("offset")
    let limit = try reader.integer("limit")
    guard offset <= limit else { throw reader.malformed("offset \(offset) above limit \(limit)") }
    return (transfer, offset, limit)
  }

  /// Reads the transfer that ends, and the reason.
  private static func transferEnd(
    _ reader: inout ByteReader
  ) throws(WireError) -> (transfer: UInt64, reason: Reason, detail: String) {
    let transfer = try transferNumber(&reader)
    let reason = try reason(&reader)
    return (transfer, reason, try reader.remainingText("detail", atMost: WireLimits.detail))
  }

  private static func decodeStream(type: UInt8, _ body: Bytes) throws(WireError) -> Frame {
    var reader = ByteReader(body, type: type)
    let frame: Frame
    switch type {
    case FrameType.streamCredit:
      frame = .streamCredit(stream: try streamNumber(&reader), limit: try reader.integer("limit"))
    case FrameType.openStream:
      frame = .openStream(
        stream: try streamNumber(&reader), name: try reader.remainingText("name", atMost: WireLimits.streamName))
    case FrameType.endStream: frame = .endStream(stream: try streamNumber(&reader))
    case FrameType.streamDone: frame = .streamDone(stream: try streamNumber(&reader))
    case FrameType.resetStream, FrameType.stopStream:
      let stream = try streamNumber(&reader)
      let reason = try reason(&reader)
      let detail = try reader.remainingText("detail", atMost: WireLimits.detail)
      frame =
        type == FrameType.resetStream
        ? .resetStream(stream: stream, reason, detail: detail) : .stopStream(stream: stream, reason, detail: detail)
    default: return try decodeTunnel(type: type, body)
    }
    try reader.end()
    return frame
  }

  private static func decodeTunnel(type: UInt8, _ body: Bytes) throws(WireError) -> Frame {
    var reader = ByteReader(body, type: type)
    let frame: Frame
    switch type {
    case FrameType.tunnelCredit:
      let tunnel = try tunnelNumber(&reader)
      let consumed = try reader.integer("consumed")
      let limit = try reader.integer("limit")
      guard consumed <= limit else { throw reader.malformed("consumed is beyond the limit") }
      frame = .tunnelCredit(tunnel: tunnel, consumed: consumed, limit: limit)
    case FrameType.openTunnel: frame = .openTunnel(tunnel: try tunnelNumber(&reader), to: try member(&reader))
    case FrameType.offerTunnel:
      let tunnel = try tunnelNumber(&reader)
      frame = .offerTunnel(tunnel: tunnel, from: try member(&reader), relays: try relays(&reader))
    case FrameType.tunnelOpened:
      frame = .tunnelOpened(tunnel: try tunnelNumber(&reader), relays: try relays(&reader))
    case FrameType.closeTunnel:
      frame = .closeTunnel(
        tunnel: try tunnelNumber(&reader), try reason(&reader),
        detail: try reader.remainingText("detail", atMost: WireLimits.detail))
    default:
      guard FrameType.isOptional(type) else { throw WireError.unknownRequiredFrame(type: type) }
      return .unknownOptional(type: type)
    }
    try reader.end()
    return frame
  }

  private static func member(_ reader: inout ByteReader) throws(WireError) -> NodeID {
    guard let peer = PeerID(bytes: Array(try reader.bytes(PeerID.byteCount, "peer"))) else {
      throw reader.malformed("peer is cut off")
    }
    return NodeID(peer: peer, incarnation: Incarnation(rawValue: try HelloCodec.word(&reader, "incarnation")))
  }

  private static func introduction(_ reader: inout ByteReader) throws(WireError) -> Introduce {
    let timeout = try reader.integer("timeout")
    let member = try member(&reader)
    let count = try reader.integer("length of the name", atMost: UInt64(WireLimits.name))
    let name = try ByteReader.text(try reader.bytes(Int(count), "name"), "name", type: FrameType.introduce)
    var addresses: [HostAddress] = []
    while !reader.isAtEnd {
      guard addresses.count < WireLimits.introducedAddresses else {
        throw reader.malformed("more than \(WireLimits.introducedAddresses) addresses")
      }
      let transport = try reader.byte("transport")
      let hostCount = try reader.integer("length of the host", atMost: UInt64(WireLimits.introducedHost))
      let host = Array(try reader.bytes(Int(hostCount), "host"))
      addresses.append(HostAddress(transport: transport, host: host, port: try port(&reader)))
    }
    return Introduce(member, timeout: timeout, name: name, addresses: addresses)
  }

  private static func port(_ reader: inout ByteReader) throws(WireError) -> UInt16 {
    guard let port = UInt16(exactly: try reader.integer("port", atMost: UInt64(UInt16.max))), port > 0 else {
      throw reader.malformed("port 0")
    }
    return port
  }

  /// Reads ports in the order of the transports, each transport at most once.
  private static func listeningPorts(_ reader: inout ByteReader) throws(WireError) -> [ListeningPort] {
    var ports: [ListeningPort] = []
    while !reader.isAtEnd {
      guard ports.count < WireLimits.listeningPorts else {
        throw reader.malformed("more than \(WireLimits.listeningPorts) ports")
      }
      let transport = try reader.byte("transport")
      if let last = ports.last, last.transport >= transport { throw reader.malformed("transports out of order") }
      ports.append(ListeningPort(transport: transport, port: try port(&reader)))
    }
    return ports
  }

  /// Reads a channel other than 0. Channel 0 has frames of its own, without a number.
  private static func channel(_ reader: inout ByteReader) throws(WireError) -> MessageChannel {
    let number = try reader.integer("channel", atMost: UInt64(MessageChannel.count - 1))
    guard number > 0, let channel = MessageChannel(Int(number)) else { throw reader.malformed("channel 0") }
    return channel
  }

  private static func transferNumber(_ reader: inout ByteReader) throws(WireError) -> UInt64 {
    try reader.integer("transfer", atMost: WireLimits.transferNumbers - 1)
  }

  private static func streamNumber(_ reader: inout ByteReader) throws(WireError) -> UInt64 {
    try reader.integer("stream", atMost: WireLimits.streamNumbers - 1)
  }

  private static func tunnelNumber(_ reader: inout ByteReader) throws(WireError) -> UInt64 {
    try reader.integer("tunnel", atMost: WireLimits.tunnelNumbers - 1)
  }

  private static func relays(_ reader: inout ByteReader) throws(WireError) -> UInt64 {
    let count = try reader.integer("relays", atMost: WireLimits.relays)
    guard count > 0 else { throw reader.malformed("no relay") }
    return count
  }

  private static func reason(_ reader: inout ByteReader) throws(WireError) -> Reason {
    Reason(rawValue: UInt16(truncatingIfNeeded: try reader.integer("reason", atMost: UInt64(UInt16.max))))
  }
}
