import PiconetEngine
import PiconetWire

extension TranscriptWording {
  /// Returns the frames in bytes that begin at a frame boundary. Bytes that can't be read as frames are given as a
  /// count.
  func frames(_ bytes: Bytes) -> String {
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    decoder.push(bytes)
    var words: [String] = []
    do throws(WireError) {
      while let frame = try decoder.next() { words.append(describe(frame)) }
    } catch {
      words.append("?")
    }
    if decoder.bufferedCount > 0 { words.append("+\(decoder.bufferedCount) bytes") }
    return "\(bytes.count) bytes [" + words.joined(separator: ", ") + "]"
  }

  private func describe(_ word: Comparison) -> String {
    switch word {
    case .ask(let timeout, _): "askToCompare(\(timeout) ms)"
    case .nonce: "compareNonce"
    case .reveal: "compareReveal"
    case .same: "sameCode"
    case .end(let reason, let detail): "endComparison(\(Ending(reason, .peer, detail)))"
    }
  }

  private func describe(_ frame: Frame) -> String {
    switch frame {
    case .hello(let hello):
      "hello begun \(hello.associationsBegun)\(hello.held == nil ? "" : " held")"
    case .codeNonce: "codeNonce"
    case .codeReveal: "codeReveal"
    case .message(let bytes): "message(\(bytes.count))"
    case .fragment(let bytes): "fragment(\(bytes.count))"
    case .channelMessage(let channel, let bytes): "channelMessage(\(channel), \(bytes.count))"
    case .channelFragment(let channel, let bytes): "channelFragment(\(channel), \(bytes.count))"
    case .unreliableMessage(let number, let bytes): "unreliable(\(number), \(bytes.count))"
    case .chunk(let transfer, let bytes): "chunk(\(transfer), \(bytes.count))"
    case .streamData(let stream, let bytes): "streamData(\(stream), \(bytes.count))"
    case .invite(let invite):
      "invite(\(invite.timeout) ms, terms \(invite.terms.rawValue), \(invite.context.count))"
    case .inviteByCode(let invite): "inviteByCode(\(invite.timeout) ms, \(invite.context.count))"
    case .codeAnswer(let answer): "codeAnswer(left \(answer.left))"
    case .codeConfirm: "codeConfirm"
    case .comparison(let word): describe(word)
    case .offer(let transfer, let offer): "offer(\(transfer), \(offer.size))"
    case .end(let transfer, let size, _): "end(\(transfer), \(size))"
    case .stored(let transfer, _): "stored(\(transfer))"
    case .present(let transfer, _): "present(\(transfer))"
    case .restart(let transfer, let offset, let limit): "restart(\(transfer), \(offset), \(limit))"
    case .comparing(let transfer, let count): "comparing(\(transfer), \(count))"
    case .associate, .associated, .close, .ping, .pong, .acknowledge, .messageCredit, .listening, .channelCredit,
      .position, .transferCredit, .streamCredit, .tunnelCredit, .accept, .decline, .withdraw, .admit, .leave,
      .removeMember, .removed, .introduce, .introduced, .introductionFailed, .withdrawIntroduction, .askToIntroduce,
      .groupView,
      .openTunnel, .offerTunnel, .tunnelOpened, .tunnelData, .closeTunnel, .acceptOffer, .declineOffer, .abandon,
      .refuse, .senderPaused, .receiverPaused, .openStream, .endStream, .resetStream, .stopStream, .streamDone,
      .unknownOptional:
      "\(frame)"
    }
  }
}
