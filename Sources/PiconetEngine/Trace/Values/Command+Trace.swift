import PiconetWire

// A new case needs a tag at the end, a line in `write` and a line in `read`; the compiler asks for each.
extension Command: TraceCoded {
  private enum Tag: UInt8 {
    case invite, cancelInvitation, answerInvitation, confirm, leave, offer, acceptOffer, declineOffer, cancelTransfer
    case shutDown, ping, remove, pauseTransfer, openStream, finishStream, cancelStream, setDisconnectTimeout
    case cancelPing, tellCompared, showCode, setCode, setName, expect, stopExpecting
    case introduce, cancelIntroduction, answerIntroduction, compareCodes, cancelComparison, answerComparison
  }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .invite(let target, let context, let timeout, let code): bytes(Tag.invite, target, context, timeout, code)
    case .cancelInvitation(let id): bytes(Tag.cancelInvitation, id)
    case .answerInvitation(let node, let accept, let reason): bytes(Tag.answerInvitation, node, accept, reason)
    case .confirm(let node, let isConfirmed, let reason): bytes(Tag.confirm, node, isConfirmed, reason)
    case .leave(let node, let reason): bytes(Tag.leave, node, reason)
    case .offer(let id, let node, let offer): bytes(Tag.offer, id, node, offer)
    case .acceptOffer(let id, let offset): bytes(Tag.acceptOffer, id, offset)
    case .declineOffer(let id, let reason, let detail): bytes(Tag.declineOffer, id, reason, detail)
    case .tellCompared(let id, let count): bytes(Tag.tellCompared, id, count)
    case .cancelTransfer(let id, let reason): bytes(Tag.cancelTransfer, id, reason)
    case .shutDown: bytes(Tag.shutDown)
    case .ping(let node, let timeout): bytes(Tag.ping, node, timeout)
    case .cancelPing(let id): bytes(Tag.cancelPing, id)
    case .remove(let node): bytes(Tag.remove, node)
    case .pauseTransfer(let id, let isPaused): bytes(Tag.pauseTransfer, id, isPaused)
    case .setDisconnectTimeout(let timeout): bytes(Tag.setDisconnectTimeout, timeout)
    case .openStream(let id, let node, let name): bytes(Tag.openStream, id, node, name)
    case .finishStream(let id): bytes(Tag.finishStream, id)
    case .cancelStream(let id, let reason, let detail): bytes(Tag.cancelStream, id, reason, detail)
    case .showCode(let node): bytes(Tag.showCode, node)
    case .setCode(let code): bytes(Tag.setCode, code)
    case .setName(let name): bytes(Tag.setName, name)
    case .expect(let peer, let duration): bytes(Tag.expect, peer, duration)
    case .stopExpecting(let peer): bytes(Tag.stopExpecting, peer)
    case .compareCodes(let node, let timeout): bytes(Tag.compareCodes, node, timeout)
    case .cancelComparison(let id): bytes(Tag.cancelComparison, id)
    case .answerComparison(let node, let isSame, let reason): bytes(Tag.answerComparison, node, isSame, reason)
    case .introduce(let one, let other, let timeout): bytes(Tag.introduce, one, other, timeout)
    case .cancelIntroduction(let id): bytes(Tag.cancelIntroduction, id)
    case .answerIntroduction(let node, let accept, let reason): bytes(Tag.answerIntroduction, node, accept, reason)
    }
  }

  static func read(from reader: inout TraceReader) throws(TraceError) -> Command {
    switch try reader.tag(Tag.self) {
    case .invite: .invite(try reader(), context: try reader(), timeout: try reader(), code: try reader())
    case .cancelInvitation: .cancelInvitation(try reader())
    case .answerInvitation: .answerInvitation(try reader(), accept: try reader(), try reader())
    case .confirm: .confirm(try reader(), try reader(), try reader())
    case .leave: .leave(try reader(), try reader())
    case .offer: .offer(try reader(), to: try reader(), try reader())
    case .acceptOffer: .acceptOffer(try reader(), offset: try reader())
    case .declineOffer: .declineOffer(try reader(), try reader(), detail: try reader())
    case .tellCompared: .tellCompared(try reader(), byteCount: try reader())
    case .cancelTransfer: .cancelTransfer(try reader(), try reader())
    case .shutDown: .shutDown
    case .ping: .ping(try reader(), timeout: try reader())
    case .cancelPing: .cancelPing(try reader())
    case .showCode: .showCode(try reader())
    case .setCode: .setCode(try reader())
    case .setName: .setName(try reader())
    case .expect: .expect(try reader(), for: try reader())
    case .stopExpecting: .stopExpecting(try reader())
    case .compareCodes: .compareCodes(try reader(), timeout: try reader())
    case .cancelComparison: .cancelComparison(try reader())
    case .answerComparison: .answerComparison(try reader(), try reader(), try reader())
    case .introduce: .introduce(try reader(), to: try reader(), timeout: try reader())
    case .cancelIntroduction: .cancelIntroduction(try reader())
    case .answerIntroduction: .answerIntroduction(try reader(), accept: try reader(), try reader())
    case .remove: .remove(try reader())
    case .pauseTransfer: .pauseTransfer(try reader(), try reader())
    case .setDisconnectTimeout: .setDisconnectTimeout(try reader())
    case .openStream: .openStream(try reader(), to: try reader(), name: try reader())
    case .finishStream: .finishStream(try reader())
    case .cancelStream: .cancelStream(try reader(), try reader(), detail: try reader())
    }
  }
}

extension Reply: TraceCoded {
  private enum Tag: UInt8 { case done, connected, stored, failed, roundTrip, code }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .done: bytes(Tag.done)
    case .connected(let node): bytes(Tag.connected, node)
    case .stored(let name, let wasAlreadyPresent): bytes(Tag.stored, name, wasAlreadyPresent)
    case .failed(let ending): bytes(Tag.failed, ending)
    case .roundTrip(let duration): bytes(Tag.roundTrip, duration)
    case .code(let code): bytes(Tag.code, code)
    }
  }

  static func read(from reader: inout TraceReader) throws(TraceError) -> Reply {
    switch try reader.tag(Tag.self) {
    case .done: .done
    case .connected: .connected(try reader())
    case .stored: .stored(name: try reader(), wasAlreadyPresent: try reader())
    case .failed: .failed(try reader())
    case .roundTrip: .roundTrip(try reader())
    case .code: .code(try reader())
    }
  }
}
