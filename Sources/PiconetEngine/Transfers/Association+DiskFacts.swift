import PiconetWire

/// What the driver says of sources and stores.
extension Association {
  func take(_ fact: Fact, _ turn: Turn) {
    switch fact {
    case .chunksRead(let id, let frames, let count): chunksRead(id, frames, count, turn)
    case .sourceFinished(let id, let digest): sourceFinished(id, digest, turn)
    case .sourceFailed(let id, let reason, let detail): sourceFailed(id, Ending(reason, .us, detail), turn)
    case .chunkStored(let id, let upTo): chunkStored(id, upTo: upTo, turn)
    case .committed(let id, let name, let wasThere): committed(id, name: name, wasThere: wasThere, turn)
    case .storeRestarted(let id, let offset): storeRestarted(id, offset: offset, turn)
    case .storeFailed(let id, let reason, let detail): storeFailed(id, Ending(reason, .us, detail), turn)

    case .messageQueued, .messagesConsumed, .streamWritten, .streamConsumed, .tunnelWanted, .tunnelWritten,
      .tunnelConsumed, .tunnelClosed, .commanded, .discoveryReported, .discoveryEnded, .dialFailed, .linkOpened,
      .received, .transmitted, .linkPaced, .linkClosed, .trustJudged, .nonceDrawn, .codeDerived, .codeProven,
      .availabilityChanged, .listeningChanged, .deadlineReached:
      break
    }
  }
}
