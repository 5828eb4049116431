import PiconetWire

// A new case needs a tag at the end, a line in `write` and a line in `read`; the compiler asks for each.
extension Event: TraceCoded {
  private enum Tag: UInt8 {
    case peerFound, peerChanged, peerLost, invitationReceived, invitationEnded, confirmationNeeded, invitationSent
    case connected, disconnected, messagesReceived, offerReceived, transferProgressed, transferAccepted, transferEnded
    case stateChanged, transferPaused, streamOpened, streamReceived, streamEnded, streamStopped, suspended, resumed
    case peerRefused, transferCompared, codeShown, codeFailed
    case introductionReceived, introductionEnded, membersApart, membersTogether
    case comparisonNeeded, comparisonEnded, codesCompared
  }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .peerFound(let peer): bytes(Tag.peerFound, peer)
    case .peerChanged(let peer): bytes(Tag.peerChanged, peer)
    case .peerLost(let node): bytes(Tag.peerLost, node)
    case .invitationReceived(let peer, let context, let expires, let comparesCodes):
      bytes(Tag.invitationReceived, peer, context, expires, comparesCodes)
    case .invitationEnded(let node, let ending): bytes(Tag.invitationEnded, node, ending)
    case .confirmationNeeded(let peer, let code): bytes(Tag.confirmationNeeded, peer, code)
    case .codeShown(let command, let peer, let code): bytes(Tag.codeShown, command, peer, code)
    case .comparisonNeeded(let node, let code): bytes(Tag.comparisonNeeded, node, code)
    case .comparisonEnded(let node, let ending): bytes(Tag.comparisonEnded, node, ending)
    case .codesCompared(let node, let code): bytes(Tag.codesCompared, node, code)
    case .codeFailed(let peer, let code, let left, let ending): bytes(Tag.codeFailed, peer, code, left, ending)
    case .invitationSent(let command, let peer): bytes(Tag.invitationSent, command, peer)
    case .connected(let peer): bytes(Tag.connected, peer)
    case .disconnected(let node, let ending): bytes(Tag.disconnected, node, ending)
    case .messagesReceived(let node, let messages, let mode, let channel):
      bytes(Tag.messagesReceived, node, messages, mode, channel)
    case .offerReceived(let id, let node, let offer): bytes(Tag.offerReceived, id, node, offer)
    case .transferProgressed(let id, let stored): bytes(Tag.transferProgressed, id, stored)
    case .transferAccepted(let id, let offset): bytes(Tag.transferAccepted, id, offset)
    case .transferCompared(let id, let count): bytes(Tag.transferCompared, id, count)
    case .transferEnded(let id, let ending): bytes(Tag.transferEnded, id, ending)
    case .stateChanged(let node, let name, let condition): bytes(Tag.stateChanged, node, name, condition)
    case .transferPaused(let id, let isPaused): bytes(Tag.transferPaused, id, isPaused)
    case .suspended(let node, let ending): bytes(Tag.suspended, node, ending)
    case .resumed(let node, let traits): bytes(Tag.resumed, node, traits)
    case .streamOpened(let id, let node, let name): bytes(Tag.streamOpened, id, node, name)
    case .streamReceived(let id, let received): bytes(Tag.streamReceived, id, received)
    case .streamEnded(let id, let end): bytes(Tag.streamEnded, id, end)
    case .peerRefused(let node, let name, let traits, let ending, let suppressed):
      bytes(Tag.peerRefused, node, name, traits, ending, suppressed)
    case .streamStopped(let id, let ending): bytes(Tag.streamStopped, id, ending)
    case .introductionReceived(let introduced):
      bytes(Tag.introductionReceived, introduced.node, introduced.name, introduced.by, introduced.expires)
    case .membersApart(let one, let other, let ending): bytes(Tag.membersApart, one, other, ending)
    case .membersTogether(let one, let other, let ending): bytes(Tag.membersTogether, one, other, ending)
    case .introductionEnded(let node, let ending): bytes(Tag.introductionEnded, node, ending)
    }
  }

  static func read(from reader: inout TraceReader) throws(TraceError) -> Event {
    switch try reader.tag(Tag.self) {
    case .peerFound: .peerFound(try reader())
    case .peerChanged: .peerChanged(try reader())
    case .peerLost: .peerLost(try reader())
    case .invitationReceived:
      .invitationReceived(
        try reader(), context: try reader(), expires: try reader(), comparesCodes: try reader())
    case .invitationEnded: .invitationEnded(try reader(), try reader())
    case .confirmationNeeded: .confirmationNeeded(try reader(), code: try reader())
    case .codeShown: .codeShown(try reader(), try reader(), code: try reader())
    case .comparisonNeeded: .comparisonNeeded(try reader(), code: try reader())
    case .comparisonEnded: .comparisonEnded(try reader(), try reader())
    case .codesCompared: .codesCompared(try reader(), code: try reader())
    case .codeFailed: .codeFailed(try reader(), try reader(), left: try reader(), try reader())
    case .invitationSent: .invitationSent(try reader(), try reader())
    case .connected: .connected(try reader())
    case .disconnected: .disconnected(try reader(), try reader())
    case .messagesReceived: .messagesReceived(try reader(), try reader(), try reader(), in: try reader())
    case .offerReceived: .offerReceived(try reader(), from: try reader(), try reader())
    case .transferProgressed: .transferProgressed(try reader(), stored: try reader())
    case .transferAccepted: .transferAccepted(try reader(), offset: try reader())
    case .transferCompared: .transferCompared(try reader(), byteCount: try reader())
    case .transferEnded: .transferEnded(try reader(), try reader())
    case .stateChanged: .stateChanged(try reader(), name: try reader(), try reader())
    case .transferPaused: .transferPaused(try reader(), try reader())
    case .suspended: .suspended(try reader(), try reader())
    case .resumed: .resumed(try reader(), try reader())
    case .streamOpened: .streamOpened(try reader(), from: try reader(), name: try reader())
    case .streamReceived: .streamReceived(try reader(), try reader())
    case .streamEnded: .streamEnded(try reader(), try reader())
    case .peerRefused:
      .peerRefused(try reader(), name: try reader(), try reader(), try reader(), suppressed: try reader())
    case .streamStopped: .streamStopped(try reader(), try reader())
    case .introductionReceived:
      .introductionReceived(
        IntroducedNode(node: try reader(), name: try reader(), by: try reader(), expires: try reader()))
    case .membersApart: .membersApart(try reader(), try reader(), try reader())
    case .membersTogether: .membersTogether(try reader(), try reader(), try reader())
    case .introductionEnded: .introductionEnded(try reader(), try reader())
    }
  }
}
