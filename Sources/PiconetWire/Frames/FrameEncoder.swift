/// Turns frames into bytes.
public enum FrameEncoder {
  /// Appends one frame. The caller is responsible for fields above their limits: text is cut at a character, bytes are
  /// kept.
  public static func append(_ frame: Frame, to bytes: inout [UInt8]) {
    switch frame {
    case .message(let payload): append(FrameType.message, payload, to: &bytes)
    case .chunk(let transfer, let payload):
      appendChunkHeader(transfer: transfer, payloadCount: payload.count, to: &bytes)
      bytes.append(contentsOf: payload)
    case .fragment(let payload): append(FrameType.fragment, payload, to: &bytes)
    case .streamData(let stream, let payload):
      appendStreamHeader(stream: stream, payloadCount: payload.count, to: &bytes)
      bytes.append(contentsOf: payload)
    case .tunnelData(let tunnel, let payload):
      appendTunnelHeader(tunnel: tunnel, payloadCount: payload.count, to: &bytes)
      bytes.append(contentsOf: payload)
    case .channelMessage(let channel, let payload):
      appendHeader(of: FrameType.channelMessage, in: channel, payloadCount: payload.count, to: &bytes)
      bytes.append(contentsOf: payload)
    case .channelFragment(let channel, let payload):
      appendHeader(of: FrameType.channelFragment, in: channel, payloadCount: payload.count, to: &bytes)
      bytes.append(contentsOf: payload)
    case .unreliableMessage(let number, let payload):
      appendHeader(
        type: FrameType.unreliableMessage, bodyCount: VariableInteger.byteCount(of: number) + payload.count, to: &bytes)
      VariableInteger.append(number, to: &bytes)
      bytes.append(contentsOf: payload)
    case .messageCredit, .channelCredit, .acknowledge, .listening, .offer, .acceptOffer, .declineOffer, .position,
      .transferCredit, .end, .stored, .present, .restart, .comparing, .abandon, .refuse, .senderPaused, .receiverPaused,
      .openStream, .endStream, .resetStream, .streamCredit, .stopStream, .streamDone, .invite, .accept, .decline,
      .withdraw, .codeNonce, .codeReveal, .admit, .inviteByCode, .codeAnswer, .codeConfirm, .comparison, .leave,
      .removeMember,
      .removed, .introduce, .introduced, .introductionFailed, .withdrawIntroduction, .askToIntroduce, .groupView,
      .openTunnel,
      .offerTunnel, .tunnelOpened, .closeTunnel, .tunnelCredit, .hello, .associate, .associated, .close, .ping, .pong,
      .unknownOptional:
      appendControl(frame, to: &bytes)
    }
  }

  private static func append(_ type: UInt8, _ payload: Bytes, to bytes: inout [UInt8]) {
    appendHeader(type: type, bodyCount: payload.count, to: &bytes)
    bytes.append(contentsOf: payload)
  }

  /// Appends a control frame. The body is written in place after a length of one byte, which nearly always suffices. A
  /// longer length shifts the body.
  private static func appendControl(_ frame: Frame, to bytes: inout [UInt8]) {
    bytes.append(frame.type)
    let lengthIndex = bytes.count
    bytes.append(0)
    appendBody(of: frame, to: &bytes)
    let bodyCount = bytes.count - lengthIndex - 1
    guard bodyCount >= 0x40 else {
      bytes[lengthIndex] = UInt8(truncatingIfNeeded: bodyCount)
      return
    }
    var length: [UInt8] = []
    VariableInteger.append(UInt64(bodyCount), to: &length)
    bytes.replaceSubrange(lengthIndex...lengthIndex, with: length)
  }

  public static func encode(_ frame: Frame) -> [UInt8] {
    var bytes: [UInt8] = []
    append(frame, to: &bytes)
    return bytes
  }

  /// Appends type and length: 2 or 3 bytes before a body below 16,384 bytes, and at most `headerLimit`.
  @inlinable
  public static func appendHeader(type: UInt8, bodyCount: Int, to bytes: inout [UInt8]) {
    bytes.append(type)
    VariableInteger.append(UInt64(bodyCount), to: &bytes)
  }

  /// The maximum number of bytes that `appendHeader` appends. The length of the longest allowed body takes 4 bytes.
  @inlinable
  public static var headerLimit: Int { 5 }

  /// The maximum number of bytes before the payload of a chunk, or of data of a stream or a tunnel: a number of 2 bytes
  /// more.
  @inlinable
  public static var numberedHeaderLimit: Int { 7 }

  /// The maximum number of bytes before the part of a message in a channel other than 0.
  @inlinable
  public static var channelHeaderLimit: Int { headerLimit + channelCount }

  /// The maximum number of bytes of an `endStream`: type, length, and a number of 2 bytes.
  @inlinable
  public static var endStreamLimit: Int { 4 }

  /// Appends the header before the payload of a chunk: at most `numberedHeaderLimit`.
  public static func appendChunkHeader(transfer: UInt64, payloadCount: Int, to bytes: inout [UInt8]) {
    appendHeader(
      type: FrameType.chunk, bodyCount: VariableInteger.byteCount(of: transfer) + payloadCount, to: &bytes)
    VariableInteger.append(transfer, to: &bytes)
  }

  /// Returns how many bytes `appendChunkHeader` appends.
  public static func chunkHeaderCount(transfer: UInt64, payloadCount: Int) -> Int {
    let number = VariableInteger.byteCount(of: transfer)
    return 1 + VariableInteger.byteCount(of: UInt64(number + payloadCount)) + number
  }

  /// Appends the header before the payload of a frame of stream data: at most `numberedHeaderLimit`.
  public static func appendStreamHeader(stream: UInt64, payloadCount: Int, to bytes: inout [UInt8]) {
    appendHeader(
      type: FrameType.streamData, bodyCount: VariableInteger.byteCount(of: stream) + payloadCount, to: &bytes)
    VariableInteger.append(stream, to: &bytes)
  }

  /// Appends the header before the payload of a frame of tunnel data: at most `numberedHeaderLimit`.
  public static func appendTunnelHeader(tunnel: UInt64, payloadCount: Int, to bytes: inout [UInt8]) {
    appendHeader(
      type: FrameType.tunnelData, bodyCount: VariableInteger.byteCount(of: tunnel) + payloadCount, to: &bytes)
    VariableInteger.append(tunnel, to: &bytes)
  }

  /// Appends the header before the part of a message in a channel other than 0: at most `channelHeaderLimit`.
  public static func appendHeader(
    of type: UInt8, in channel: MessageChannel, payloadCount: Int, to bytes: inout [UInt8]
  ) {
    appendHeader(type: type, bodyCount: channelCount + payloadCount, to: &bytes)
    // An integer below 64 is one byte.
    bytes.append(channel.number)
  }

  /// The number of bytes of a channel's number.
  public static let channelCount = 1

  private static func appendBody(of frame: Frame, to body: inout [UInt8]) {
    switch frame {
    case .hello(let hello): HelloCodec.append(hello, to: &body)
    case .codeNonce(let nonce), .codeReveal(let nonce): body.append(contentsOf: nonce)
    case .associate(let id, let received):
      appendWord(id.high, to: &body)
      appendWord(id.low, to: &body)
      VariableInteger.append(received, to: &body)
    case .associated(let received, let begun):
      VariableInteger.append(received, to: &body)
      VariableInteger.append(begun, to: &body)
    case .close(let reason, let detail), .decline(let reason, let detail), .leave(let reason, let detail):
      appendReason(reason, detail, to: &body)
    case .withdraw(let reason): VariableInteger.append(UInt64(reason.rawValue), to: &body)
    case .ping(let token), .pong(let token): VariableInteger.append(token, to: &body)
    case .acknowledge(let received): VariableInteger.append(received, to: &body)
    case .messageCredit(let limit): VariableInteger.append(limit, to: &body)
    case .channelCredit(let channel, let limit):
      body.append(channel.number)
      VariableInteger.append(limit, to: &body)
    case .listening(let ports):
      for port in ports {
        body.append(port.transport)
        VariableInteger.append(UInt64(port.port), to: &body)
      }
    case .position(let transfer, let offset), .comparing(let transfer, let offset):
      VariableInteger.append(transfer, to: &body)
      VariableInteger.append(offset, to: &body)
    case .transferCredit(let transfer, let stored, let limit), .acceptOffer(let transfer, let stored, let limit),
      .restart(let transfer, let stored, let limit):
      VariableInteger.append(transfer, to: &body)
      VariableInteger.append(stored, to: &body)
      VariableInteger.append(limit, to: &body)
    case .end(let transfer, let size, let digest):
      VariableInteger.append(transfer, to: &body)
      VariableInteger.append(size, to: &body)
      body.append(ResourceDigest.sha256Algorithm)
      body.append(contentsOf: digest.bytes)
    case .invite(let invite):
      VariableInteger.append(invite.timeout, to: &body)
      VariableInteger.append(invite.terms.rawValue, to: &body)
      body.append(contentsOf: invite.commitment)
      body.append(contentsOf: invite.context)
    case .accept, .admit: break
    case .inviteByCode(let invite):
      VariableInteger.append(invite.timeout, to: &body)
      body.append(contentsOf: invite.share)
      body.append(contentsOf: invite.context)
    case .codeAnswer(let answer):
      body.append(contentsOf: answer.share)
      body.append(contentsOf: answer.confirmation)
      VariableInteger.append(answer.left, to: &body)
    case .codeConfirm(let confirmation): body.append(contentsOf: confirmation)
    case .comparison(let word): append(word, to: &body)
    case .removeMember(let subject, let reason):
      append(subject, to: &body)
      VariableInteger.append(UInt64(reason.rawValue), to: &body)
    case .removed(let member): append(member, to: &body)
    case .introduce(let introduction): append(introduction, to: &body)
    case .introduced(let member), .askToIntroduce(let member): append(member, to: &body)
    case .groupView(let view): view.append(to: &body)
    case .introductionFailed(let member, let reason, let detail):
      append(member, to: &body)
      appendReason(reason, detail, to: &body)
    case .withdrawIntroduction(let member, let reason):
      append(member, to: &body)
      VariableInteger.append(UInt64(reason.rawValue), to: &body)
    case .offer(let transfer, let offer): OfferCodec.append(transfer: transfer, offer, to: &body)
    case .declineOffer(let transfer, let reason, let detail), .abandon(let transfer, let reason, let detail),
      .refuse(let transfer, let reason, let detail):
      VariableInteger.append(transfer, to: &body)
      appendReason(reason, detail, to: &body)
    case .senderPaused(let transfer, let isPaused), .receiverPaused(let transfer, let isPaused):
      VariableInteger.append(transfer, to: &body)
      body.append(isPaused ? 1 : 0)
    case .stored(let transfer, let name), .present(let transfer, let name):
      VariableInteger.append(transfer, to: &body)
      body.append(contentsOf: name)
    case .streamCredit(let stream, let limit):
      VariableInteger.append(stream, to: &body)
      VariableInteger.append(limit, to: &body)
    case .openStream(let stream, let name):
      VariableInteger.append(stream, to: &body)
      body.append(contentsOf: name.prefix(utf8: WireLimits.streamName).utf8)
    case .endStream(let stream), .streamDone(let stream): VariableInteger.append(stream, to: &body)
    case .resetStream(let stream, let reason, let detail), .stopStream(let stream, let reason, let detail):
      VariableInteger.append(stream, to: &body)
      appendReason(reason, detail, to: &body)
    case .tunnelCredit(let tunnel, let consumed, let limit):
      VariableInteger.append(tunnel, to: &body)
      VariableInteger.append(consumed, to: &body)
      VariableInteger.append(limit, to: &body)
    case .openTunnel(let tunnel, let member):
      VariableInteger.append(tunnel, to: &body)
      append(member, to: &body)
    case .offerTunnel(let tunnel, let member, let relays):
      VariableInteger.append(tunnel, to: &body)
      append(member, to: &body)
      VariableInteger.append(relays, to: &body)
    case .tunnelOpened(let tunnel, let relays):
      VariableInteger.append(tunnel, to: &body)
      VariableInteger.append(relays, to: &body)
    case .closeTunnel(let tunnel, let reason, let detail):
      VariableInteger.append(tunnel, to: &body)
      appendReason(reason, detail, to: &body)
    case .message, .fragment, .channelMessage, .channelFragment, .unreliableMessage, .chunk, .streamData, .tunnelData,
      .unknownOptional:
      break
    }
  }

  private static func append(_ member: NodeID, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: member.peer.bytes)
    appendWord(member.incarnation.rawValue, to: &bytes)
  }

  private static func append(_ word: Comparison, to body: inout [UInt8]) {
    switch word {
    case .ask(let timeout, let commitment):
      VariableInteger.append(timeout, to: &body)
      body.append(contentsOf: commitment)
    case .nonce(let nonce), .reveal(let nonce): body.append(contentsOf: nonce)
    case .same: break
    case .end(let reason, let detail): appendReason(reason, detail, to: &body)
    }
  }

  private static func append(_ introduction: Introduce, to bytes: inout [UInt8]) {
    VariableInteger.append(introduction.timeout, to: &bytes)
    append(introduction.member, to: &bytes)
    let name = introduction.name.prefix(utf8: WireLimits.name).utf8
    VariableInteger.append(UInt64(name.count), to: &bytes)
    bytes.append(contentsOf: name)
    for address in introduction.addresses {
      bytes.append(address.transport)
      VariableInteger.append(UInt64(address.host.count), to: &bytes)
      bytes.append(contentsOf: address.host)
      VariableInteger.append(UInt64(address.port), to: &bytes)
    }
  }

  static func appendWord(_ word: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
  }

  private static func appendReason(_ reason: Reason, _ detail: String, to bytes: inout [UInt8]) {
    VariableInteger.append(UInt64(reason.rawValue), to: &bytes)
    bytes.append(contentsOf: detail.prefix(utf8: WireLimits.detail).utf8)
  }
}

extension String {
  /// Returns the longest prefix of whole characters that takes at most `count` bytes of UTF-8.
  public func prefix(utf8 count: Int) -> String {
    guard utf8.count > count else { return self }
    var kept = ""
    var size = 0
    for character in self {
      size += character.utf8.count
      guard size <= count else { break }
      kept.append(character)
    }
    return kept
  }
}
