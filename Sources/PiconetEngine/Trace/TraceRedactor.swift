import PiconetWire

/// Replaces the contents of messages, streams and files by the same number of zeros, so that a trace can be shown to
/// others. Everything else stays: senders and receivers, times, amounts, names, addresses, contexts of invitations,
/// metadata and digests of files. Without them it would be another run.
///
/// The engine does not look at contents, so replaying a redacted trace gives the effects that are in it.
struct TraceRedactor: Sendable {
  private var incoming: [LinkID: FrameRedactor] = [:]
  private var outgoing: [LinkID: FrameRedactor] = [:]

  mutating func redacted(_ fact: Fact) -> Fact {
    switch fact {
    case .messageQueued(let node, let message, let mode, let channel):
      return .messageQueued(node, Self.zeros(message), mode, in: channel)
    case .streamWritten(let stream, let bytes): return .streamWritten(stream, Self.zeros(bytes))
    case .tunnelWritten(let tunnel, let bytes): return .tunnelWritten(tunnel, Self.zeros(bytes))
    case .received(let link, let bytes):
      return .received(link, incoming[link, default: FrameRedactor()].redacted(bytes))
    case .chunksRead(let id, let frames, let count):
      var redactor = FrameRedactor()
      return .chunksRead(id, frames: redactor.redacted(frames), payloadCount: count)
    case .linkClosed(let link, _):
      forget(link)
      return fact
    // Cases that carry contents belong above.
    case .messagesConsumed, .streamConsumed, .commanded, .discoveryReported, .discoveryEnded, .dialFailed, .linkOpened,
      .transmitted, .linkPaced, .trustJudged, .nonceDrawn, .codeDerived, .codeProven, .sourceFinished, .sourceFailed,
      .chunkStored, .committed, .storeRestarted, .storeFailed, .availabilityChanged, .listeningChanged, .tunnelWanted,
      .tunnelConsumed, .tunnelClosed, .forgiven, .deadlineReached:
      return fact
    }
  }

  mutating func redacted(_ effect: Effect) -> Effect {
    switch effect {
    case .transmit(let link, let bytes):
      return .transmit(link, outgoing[link, default: FrameRedactor()].redacted(bytes))
    case .storeChunk(let id, let bytes): return .storeChunk(id, Self.zeros(bytes))
    case .deliver(let event): return .deliver(Self.redacted(event))
    case .tunnelReceived(let tunnel, let bytes): return .tunnelReceived(tunnel, Self.zeros(bytes))
    case .closeLink(let link, _):
      forget(link)
      return effect
    // Cases that carry contents belong above.
    case .dial, .cancelDial, .judgeTrust, .drawNonce, .deriveCode, .proveCode, .readChunks, .finishSource, .closeSource,
      .chunkRepeated, .commitStore, .discardStore, .keepStore, .messagesTaken, .streamTaken, .tunnelOpened,
      .tunnelOffered, .tunnelTaken, .tunnelPassedOn, .tunnelEnded, .reply, .finished:
      return effect
    }
  }

  private static func redacted(_ event: Event) -> Event {
    switch event {
    case .messagesReceived(let node, let messages, let mode, let channel):
      .messagesReceived(node, messages.map(zeros), mode, in: channel)
    case .streamReceived(let stream, let bytes): .streamReceived(stream, zeros(bytes))
    // Cases that carry contents belong above.
    case .peerFound, .peerChanged, .peerLost, .invitationReceived, .invitationEnded, .confirmationNeeded, .codeShown,
      .comparisonNeeded, .comparisonEnded, .codesCompared,
      .codeFailed, .invitationSent, .introductionReceived, .introductionEnded, .membersApart, .membersTogether,
      .peerRefused, .connected, .disconnected, .suspended, .resumed, .stateChanged, .streamOpened, .streamEnded,
      .streamStopped, .offerReceived, .transferProgressed, .transferAccepted, .transferCompared, .transferPaused,
      .transferEnded:
      event
    }
  }

  private mutating func forget(_ link: LinkID) {
    incoming[link] = nil
    outgoing[link] = nil
  }

  static func zeros(_ bytes: Bytes) -> Bytes { [UInt8](repeating: 0, count: bytes.count)[...] }
}

/// Follows the frames of one direction of a link and blanks the bodies of those that carry contents.
struct FrameRedactor: Sendable {
  private enum Place: Sendable {
    case type
    /// The length of the body, with its bytes so far.
    case length([UInt8])
    /// A number before the content: that of a transfer, a stream or a channel.
    case number([UInt8], rest: UInt64)
    case body(rest: UInt64)
    /// The bytes no longer follow the format. The engine has closed the link because of them.
    case lost
  }

  private var place = Place.type
  private var type: UInt8 = 0

  /// Frames whose whole body is content, and frames with a number before it.
  private static let contents: Set<UInt8> = [FrameType.message, FrameType.fragment]
  private static let numbered: Set<UInt8> = [
    FrameType.channelMessage, FrameType.channelFragment, FrameType.chunk, FrameType.unreliableMessage,
    FrameType.streamData, FrameType.tunnelData,
  ]

  mutating func redacted(_ bytes: Bytes) -> Bytes {
    var result = Array(bytes)
    var index = 0
    while index < result.count {
      if case .body(let rest) = place {
        let count = min(result.count - index, Int(clamping: rest))
        if Self.contents.contains(type) || Self.numbered.contains(type) {
          for position in index..<(index + count) { result[position] = 0 }
        }
        index += count
        enterBody(rest - UInt64(count))
      } else {
        if !take(result[index]) { result[index] = 0 }
        index += 1
      }
    }
    return result[...]
  }

  private mutating func enterBody(_ rest: UInt64) { place = rest == 0 ? .type : .body(rest: rest) }

  /// - Returns: false for a byte that must be blanked.
  private mutating func take(_ byte: UInt8) -> Bool {
    switch place {
    case .type:
      type = byte
      place = .length([])
    case .length(let before):
      let digits = before + [byte]
      switch VariableInteger.read(digits[...], at: 0) {
      case .value(let count, _):
        if Self.numbered.contains(type), count > 0 {
          place = .number([], rest: count)
        } else {
          enterBody(count)
        }
      case .incomplete: place = .length(digits)
      case .notShortest: place = .lost
      }
    case .number(let before, let rest):
      let digits = before + [byte]
      switch VariableInteger.read(digits[...], at: 0) {
      case .value, .notShortest: enterBody(rest - 1)
      case .incomplete: if rest == 1 { place = .type } else { place = .number(digits, rest: rest - 1) }
      }
    case .body: break
    case .lost: return false
    }
    return true
  }
}
