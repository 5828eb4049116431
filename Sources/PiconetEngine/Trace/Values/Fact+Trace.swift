import PiconetWire

// A new case needs a tag at the end, a line in `write` and a line in `read`; the compiler asks for each.
extension Fact: TraceCoded {
  private enum Tag: UInt8 {
    case commanded, messageQueued, messagesConsumed, discoveryReported, discoveryEnded, dialFailed, linkOpened, received
    case transmitted, linkClosed, trustJudged, codeDerived, chunksRead, sourceFinished, sourceFailed, chunkStored
    case committed, storeFailed, deadlineReached, linkPaced
    case streamWritten, streamConsumed, availabilityChanged, storeRestarted, nonceDrawn, codeProven
    case listeningChanged, tunnelWanted, tunnelWritten, tunnelConsumed, tunnelClosed, forgiven
  }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .commanded(let id, let command): bytes(Tag.commanded, id, command)
    case .messageQueued(let node, let message, let mode, let channel):
      bytes(Tag.messageQueued, node, message, mode, channel)
    case .messagesConsumed(let node, let count, let channel): bytes(Tag.messagesConsumed, node, count, channel)
    case .discoveryReported(let source, let report): bytes(Tag.discoveryReported, source, report)
    case .discoveryEnded(let source): bytes(Tag.discoveryEnded, source)
    case .dialFailed(let dial, let failure, let address): bytes(Tag.dialFailed, dial, failure, address)
    case .linkOpened(let link, let opening): bytes(Tag.linkOpened, link, opening)
    case .received(let link, let received): bytes(Tag.received, link, received)
    case .transmitted(let link, let count): bytes(Tag.transmitted, link, count)
    case .linkClosed(let link, let end): bytes(Tag.linkClosed, link, end)
    case .trustJudged(let link, let judgement): bytes(Tag.trustJudged, link, judgement)
    case .nonceDrawn(let id, let nonce): bytes(Tag.nonceDrawn, id, nonce)
    case .codeDerived(let id, let code): bytes(Tag.codeDerived, id, code)
    case .codeProven(let id, let finding): bytes(Tag.codeProven, id, finding)
    case .chunksRead(let id, let frames, let count): bytes(Tag.chunksRead, id, frames, count)
    case .sourceFinished(let id, let digest): bytes(Tag.sourceFinished, id, digest)
    case .sourceFailed(let id, let reason, let detail): bytes(Tag.sourceFailed, id, reason, detail)
    case .chunkStored(let id, let upTo): bytes(Tag.chunkStored, id, upTo)
    case .committed(let id, let name, let wasAlreadyPresent): bytes(Tag.committed, id, name, wasAlreadyPresent)
    case .storeRestarted(let id, let offset): bytes(Tag.storeRestarted, id, offset)
    case .storeFailed(let id, let reason, let detail): bytes(Tag.storeFailed, id, reason, detail)
    case .deadlineReached: bytes(Tag.deadlineReached)
    case .linkPaced(let link, let pace): bytes(Tag.linkPaced, link, pace.room, pace.bound)
    case .streamWritten(let id, let written): bytes(Tag.streamWritten, id, written)
    case .streamConsumed(let id, let count): bytes(Tag.streamConsumed, id, count)
    case .availabilityChanged(let isOpen): bytes(Tag.availabilityChanged, isOpen)
    case .listeningChanged(let ports): bytes(Tag.listeningChanged, ports)
    case .tunnelWanted(let id, let relay, let remote): bytes(Tag.tunnelWanted, id, relay, remote)
    case .tunnelWritten(let id, let written): bytes(Tag.tunnelWritten, id, written)
    case .tunnelConsumed(let id, let count): bytes(Tag.tunnelConsumed, id, count)
    case .tunnelClosed(let id, let isAborted): bytes(Tag.tunnelClosed, id, isAborted)
    case .forgiven(let digits): bytes(Tag.forgiven, digits)
    }
  }

  static func read(from reader: inout TraceReader) throws(TraceError) -> Fact {
    switch try reader.tag(Tag.self) {
    case .commanded: .commanded(try reader(), try reader())
    case .messageQueued: .messageQueued(try reader(), try reader(), try reader(), in: try reader())
    case .messagesConsumed: .messagesConsumed(try reader(), byteCount: try reader(), in: try reader())
    case .discoveryReported: .discoveryReported(source: try reader(), try reader())
    case .discoveryEnded: .discoveryEnded(source: try reader())
    case .dialFailed: .dialFailed(try reader(), try reader(), at: try reader())
    case .linkOpened: .linkOpened(try reader(), try reader())
    case .received: .received(try reader(), try reader())
    case .transmitted: .transmitted(try reader(), byteCount: try reader())
    case .linkClosed: .linkClosed(try reader(), try reader())
    case .trustJudged: .trustJudged(try reader(), try reader())
    case .nonceDrawn: .nonceDrawn(try reader(), try reader())
    case .codeDerived: .codeDerived(try reader(), try reader())
    case .codeProven: .codeProven(try reader(), try reader())
    case .chunksRead: .chunksRead(try reader(), frames: try reader(), payloadCount: try reader())
    case .sourceFinished: .sourceFinished(try reader(), try reader())
    case .sourceFailed: .sourceFailed(try reader(), try reader(), detail: try reader())
    case .chunkStored: .chunkStored(try reader(), upTo: try reader())
    case .committed: .committed(try reader(), name: try reader(), wasAlreadyPresent: try reader())
    case .storeRestarted: .storeRestarted(try reader(), offset: try reader())
    case .storeFailed: .storeFailed(try reader(), try reader(), detail: try reader())
    case .deadlineReached: .deadlineReached
    case .linkPaced: .linkPaced(try reader(), BulkPace(room: try reader(), bound: try reader()))
    case .streamWritten: .streamWritten(try reader(), try reader())
    case .streamConsumed: .streamConsumed(try reader(), byteCount: try reader())
    case .availabilityChanged: .availabilityChanged(try reader())
    case .listeningChanged: .listeningChanged(try reader())
    case .tunnelWanted: .tunnelWanted(try reader(), over: try reader(), to: try reader())
    case .tunnelWritten: .tunnelWritten(try reader(), try reader())
    case .tunnelConsumed: .tunnelConsumed(try reader(), byteCount: try reader())
    case .tunnelClosed: .tunnelClosed(try reader(), isAborted: try reader())
    case .forgiven: .forgiven(try reader())
    }
  }
}
