import PiconetEngine
import PiconetWire

/// The text of facts and effects, one line each. It gives nodes by their short names, and bytes by their frames or
/// their count.
struct TranscriptWording {
  /// The names of nodes, such as `n2.1` for the second life of the third node.
  let names: [NodeID: String]

  func name(_ node: NodeID) -> String { names[node] ?? "\(node)" }

  func describe(_ entry: Transcript.Entry) -> String {
    switch entry {
    case .fact(let node, let fact): "n\(node) <- \(describe(fact))"
    case .effect(let node, let effect): "n\(node) -> \(describe(effect))"
    case .network(let what, let first, let second, let third): "   net \(what) \(first) \(second) \(third)"
    case .world(let text): "   world \(text)"
    }
  }

  private func describe(_ fact: Fact) -> String {
    switch fact {
    case .commanded(let id, let command): "command \(id.rawValue): \(describe(command))"
    case .messageQueued(let node, let bytes, let mode, let channel):
      "messageQueued \(name(node)) \(size(bytes)) \(mode)\(words(channel))"
    case .messagesConsumed(let node, let count, let channel):
      "messagesConsumed \(name(node)) \(count)\(words(channel))"
    case .discoveryReported(let source, .seen(let sighting)):
      "seen by \(source): \(name(NodeID(peer: sighting.peer, incarnation: sighting.incarnation))) at "
        + sighting.addresses.map(\.description).joined(separator: ", ")
    case .discoveryReported(let source, .gone(let peer, let incarnation)):
      "gone by \(source): \(name(NodeID(peer: peer, incarnation: incarnation)))"
    case .linkOpened(let link, let opening):
      "linkOpened \(link.rawValue) \(opening.dial.map { "dial \($0.rawValue)" } ?? "accepted") "
        + opening.peer.shortDescription
    case .received(let link, let bytes): "received \(link.rawValue) \(frames(bytes))"
    case .transmitted(let link, let count): "transmitted \(link.rawValue) \(count)"
    case .linkPaced(let link, let pace): "linkPaced \(link.rawValue): \(pace.room) of \(pace.bound) bytes of bulk"
    case .linkClosed(let link, let end): "linkClosed \(link.rawValue) \(end)"
    case .trustJudged(let link, let judgement): "trustJudged \(link.rawValue) \(judgement)"
    case .nonceDrawn(let id, let nonce): "nonceDrawn \(id.rawValue)\(nonce == nil ? " nil" : "")"
    case .codeProven(let id, let finding): "codeProven \(id.rawValue) \(describe(finding))"
    case .codeDerived(let id, let code): "codeDerived \(id.rawValue) \(code ?? "nil")"
    case .chunksRead(let transfer, let bytes, let count):
      "chunksRead \(describe(transfer)) \(bytes.count) bytes, payload \(count)"
    case .sourceFinished(let transfer, _): "sourceFinished \(describe(transfer))"
    case .sourceFailed(let transfer, let reason, _): "sourceFailed \(describe(transfer)) \(reason)"
    case .chunkStored(let transfer, let upTo): "chunkStored \(describe(transfer)) \(upTo)"
    case .storeRestarted(let transfer, let offset): "storeRestarted \(describe(transfer)) from \(offset)"
    case .committed(let transfer, _, _): "committed \(describe(transfer))"
    case .storeFailed(let transfer, let reason, _): "storeFailed \(describe(transfer)) \(reason)"
    case .dialFailed(let dial, let failure, let address):
      "dialFailed \(dial.rawValue) \(failure)\(address.map { " at \($0)" } ?? "")"
    case .streamWritten(let stream, let bytes): "streamWritten \(describe(stream)) \(size(bytes))"
    case .streamConsumed(let stream, let count): "streamConsumed \(describe(stream)) \(count)"
    case .discoveryEnded, .deadlineReached, .availabilityChanged: "\(fact)"
    case .listeningChanged(let ports): "listeningChanged \(ports.count)"
    case .tunnelWanted(let id, let relay, let remote):
      "tunnelWanted \(number(id)) over \(name(relay)) to \(name(remote))"
    case .tunnelWritten(let id, let bytes): "tunnelWritten \(number(id)) \(size(bytes))"
    case .tunnelConsumed(let id, let count): "tunnelConsumed \(number(id)) \(count)"
    case .forgiven(let digits): "forgiven \(digits)"
    case .tunnelClosed(let id, let isAborted): "tunnelClosed \(number(id))\(isAborted ? " at once" : "")"
    }
  }

  private func words(_ channel: MessageChannel) -> String { channel == 0 ? "" : " in channel \(channel)" }

  private func describe(_ effect: Effect) -> String {
    switch effect {
    case .dial(let dial, let kind, let addresses):
      "dial \(dial.rawValue) \(kind) " + addresses.map(\.text).joined(separator: ", ")
    case .cancelDial(let dial): "cancelDial \(dial.rawValue)"
    case .transmit(let link, let bytes): "transmit \(link.rawValue) \(frames(bytes))"
    case .closeLink(let link, let flush): "closeLink \(link.rawValue) flush \(flush)"
    case .judgeTrust(let link, let node, _, _): "judgeTrust \(link.rawValue) \(name(node))"
    case .drawNonce(let id): "drawNonce \(id.rawValue)"
    case .deriveCode(let id, let link, _): "deriveCode \(id.rawValue) of \(link.rawValue)"
    case .proveCode(let id, let step): "proveCode \(id.rawValue) \(describe(step))"
    case .readChunks(let transfer, let number, let offset, let count, let frame):
      "readChunks \(describe(transfer)) number \(number) at \(offset), \(count) bytes in frames of \(frame)"
    case .finishSource(let transfer): "finishSource \(describe(transfer))"
    case .closeSource(let transfer): "closeSource \(describe(transfer))"
    case .storeChunk(let transfer, let bytes): "storeChunk \(describe(transfer)) \(size(bytes))"
    case .chunkRepeated(let transfer, let count): "chunkRepeated \(describe(transfer)) \(count)"
    case .commitStore(let transfer, let size, _): "commitStore \(describe(transfer)) \(size) bytes"
    case .discardStore(let transfer): "discardStore \(describe(transfer))"
    case .keepStore(let transfer): "keepStore \(describe(transfer))"
    case .messagesTaken(let node, let count, let channel):
      "messagesTaken \(name(node)) \(count)\(words(channel))"
    case .streamTaken(let stream, let count): "streamTaken \(describe(stream)) \(count)"
    case .tunnelOpened(let id, let route): "tunnelOpened \(number(id)): \(describe(route))"
    case .tunnelOffered(let id, let route): "tunnelOffered \(number(id)): \(describe(route))"
    case .tunnelReceived(let id, let bytes): "tunnelReceived \(number(id)) \(size(bytes))"
    case .tunnelTaken(let id, let count): "tunnelTaken \(number(id)) \(count)"
    case .tunnelPassedOn(let id, let count): "tunnelPassedOn \(number(id)) \(count)"
    case .tunnelEnded(let id, let failure): "tunnelEnded \(number(id)) \(failure.map { "\($0)" } ?? "")"
    case .deliver(let event): "deliver \(describe(event))"
    case .reply(let id, .connected(let node)): "reply \(id.rawValue): connected \(name(node))"
    case .reply(let id, .stored): "reply \(id.rawValue): stored"
    case .reply(let id, let reply): "reply \(id.rawValue): \(reply)"
    case .finished: "finished"
    }
  }

  private func number(_ id: TunnelID) -> String {
    id.isIncoming ? "in \(id.rawValue - TunnelID.firstIncoming)" : "\(id.rawValue)"
  }

  private func describe(_ route: TunnelRoute) -> String {
    "\(name(route.remote)) over \(route.relays.map(name).joined(separator: ", ")), \(route.relayCount) in all"
  }

  private func describe(_ step: TypedCodeStep) -> String {
    switch step {
    case .share(let code, let link): "share of code \(code.rawValue) on \(link.rawValue)"
    case .check: "check"
    case .answer(let code, let link, _): "answer by code \(code.rawValue) on \(link.rawValue)"
    case .confirm: "confirm"
    case .end: "end"
    }
  }

  private func describe(_ finding: TypedCodeFinding) -> String {
    switch finding {
    case .share: "share"
    case .confirmed: "confirmed"
    case .answer: "answer"
    case .right: "right"
    case .wrong: "wrong"
    case .unfit: "unfit"
    case .failed(let words): "failed: \(words)"
    }
  }

  private func describe(_ command: Command) -> String {
    switch command {
    case .invite(.node(let node, let transports), _, let timeout, let code):
      "invite \(name(node))\(transports.map { " over \($0)" } ?? "") within \(timeout)\(code.map { " by code \($0.rawValue)" } ?? "")"
    case .invite(.addresses(let addresses, let expected), _, let timeout, let code):
      "invite \(addresses.map(\.text).joined(separator: ", ")), \(expected?.shortDescription ?? "anybody"), within \(timeout)"
        + (code.map { " by code \($0.rawValue)" } ?? "")
    case .setCode(let code): "setCode \(code.map { "\($0.rawValue)" } ?? "nil")"
    case .cancelInvitation(let id): "cancelInvitation \(id.rawValue)"
    case .answerInvitation(let node, let accept, let reason):
      "answerInvitation \(name(node)) \(accept ? "accept" : "decline: \(reason)")"
    case .showCode(let node): "showCode \(name(node))"
    case .confirm(let node, let isConfirmed, _): "confirm \(name(node)) \(isConfirmed)"
    case .remove(let node): "remove \(name(node))"
    case .leave(let node, let reason): "leave \(name(node)) \(reason)"
    case .offer(let transfer, let node, let offer): "offer \(describe(transfer)) to \(name(node)), \(offer.size) bytes"
    case .acceptOffer(let transfer, let offset): "acceptOffer \(describe(transfer)) from \(offset)"
    case .declineOffer(let transfer, let reason, _): "declineOffer \(describe(transfer)) \(reason)"
    case .cancelTransfer(let transfer, let reason): "cancelTransfer \(describe(transfer)) \(reason)"
    case .setDisconnectTimeout(let timeout): "setDisconnectTimeout \(timeout)"
    case .setName(let name): "setName \(name)"
    case .expect(let peer, let duration): "expect \(peer.shortDescription) for \(duration.inWords)"
    case .stopExpecting(let peer): "stopExpecting \(peer.shortDescription)"
    case .introduce(let one, let other, let timeout):
      "introduce \(name(one)) to \(name(other)) for \(timeout.inWords)"
    case .cancelIntroduction(let id): "cancelIntroduction \(id.rawValue)"
    case .answerIntroduction(let node, let accept, let reason):
      "answerIntroduction \(name(node)) \(accept ? "accept" : "decline: \(reason)")"
    case .ping(let node, let timeout): "ping \(name(node)) within \(timeout)"
    case .cancelPing(let id): "cancelPing \(id.rawValue)"
    case .compareCodes(let node, let timeout): "compareCodes \(name(node)) within \(timeout)"
    case .cancelComparison(let id): "cancelComparison \(id.rawValue)"
    case .answerComparison(let node, let isSame, let reason):
      "answerComparison \(name(node)) \(isSame ? "same" : "\(reason)")"
    case .tellCompared(let transfer, let count): "tellCompared \(describe(transfer)) \(count)"
    case .pauseTransfer(let transfer, let isPaused): "pauseTransfer \(describe(transfer)) \(isPaused)"
    case .openStream(let stream, let node, let name):
      "openStream \(describe(stream)) to \(name.debugDescription) \(self.name(node))"
    case .finishStream(let stream): "finishStream \(describe(stream))"
    case .cancelStream(let stream, let reason, _): "cancelStream \(describe(stream)) \(reason)"
    case .shutDown: "shutDown"
    }
  }

  private func describe(_ event: Event) -> String {
    switch event {
    case .peerFound(let peer): "peerFound \(name(peer.node))"
    case .peerChanged(let peer): "peerChanged \(name(peer.node))"
    case .peerLost(let node): "peerLost \(name(node))"
    case .invitationReceived(let peer, _, let expires, let comparesCodes):
      "invitationReceived \(name(peer.node)) expires \(expires.nanoseconds / 1_000_000) ms\(comparesCodes ? ", compares" : "")"
    case .invitationSent(let command, let peer): "invitationSent \(command.rawValue) to \(name(peer.node))"
    case .invitationEnded(let node, let ending): "invitationEnded \(name(node)): \(ending.blame) \(ending)"
    case .introductionReceived(let introduced):
      "introductionReceived \(name(introduced.node)) by \(name(introduced.by))"
    case .membersApart(let one, let other, let ending):
      "membersApart \(name(one)) and \(name(other)): \(ending.blame) \(ending)"
    case .membersTogether(let one, let other, let ending):
      "membersTogether \(name(one)) and \(name(other)), apart for \(ending)"
    case .introductionEnded(let node, let ending): "introductionEnded \(name(node)): \(ending.blame) \(ending)"
    case .confirmationNeeded(let peer, let code): "confirmationNeeded \(name(peer.node)) code \(code)"
    case .codeShown(let command, let peer, let code): "codeShown \(command.rawValue) \(name(peer.node)) code \(code)"
    case .comparisonNeeded(let node, let code): "comparisonNeeded \(name(node)) code \(code)"
    case .comparisonEnded(let node, let ending): "comparisonEnded \(name(node)): \(ending.blame) \(ending)"
    case .codesCompared(let node, let code): "codesCompared \(name(node)) code \(code)"
    case .codeFailed(let peer, let code, let left, let ending):
      "codeFailed \(name(peer.node)) code \(code.rawValue), \(left) left: \(ending)"
    case .connected(let peer): "connected \(name(peer.node))\(peer.code.map { " code \($0)" } ?? "")"
    case .disconnected(let node, let ending): "disconnected \(name(node)): \(ending.blame) \(ending)"
    case .suspended(let node, let ending): "suspended \(name(node)): \(ending.blame) \(ending)"
    case .resumed(let node, let traits): "resumed \(name(node)) over \(traits.kind.rawValue)"
    case .peerRefused(let node, _, let traits, let ending, let suppressed):
      "peerRefused \(name(node)) over \(traits.kind.rawValue), \(suppressed) suppressed: \(ending.blame) \(ending)"
    case .stateChanged(let node, _, let condition): "stateChanged \(name(node)) \(condition)"
    case .messagesReceived(let node, let messages, let mode, let channel):
      "messagesReceived \(name(node)) \(messages.map(\.count)) \(mode)\(words(channel))"
    case .streamOpened(let stream, let node, let name):
      "streamOpened \(describe(stream)) \(name.debugDescription) from \(self.name(node))"
    case .streamReceived(let stream, let bytes): "streamReceived \(describe(stream)) \(size(bytes))"
    case .streamEnded(let stream, let end): "streamEnded \(describe(stream)) \(end)"
    case .streamStopped(let stream, let ending): "streamStopped \(describe(stream)) \(ending.blame) \(ending)"
    case .offerReceived(let transfer, let node, let offer):
      "offerReceived \(describe(transfer)) from \(name(node)), \(offer.size) bytes"
    case .transferProgressed(let transfer, let stored): "transferProgressed \(describe(transfer)) \(stored)"
    case .transferAccepted(let transfer, let offset): "transferAccepted \(describe(transfer)) from \(offset)"
    case .transferCompared(let transfer, let count): "transferCompared \(describe(transfer)) \(count)"
    case .transferPaused(let transfer, let isPaused): "transferPaused \(describe(transfer)) \(isPaused)"
    case .transferEnded(let transfer, let ending):
      "transferEnded \(describe(transfer)) \(ending.map { "\($0.blame) \($0)" } ?? "stored")"
    }
  }

  private func describe(_ transfer: TransferID) -> String {
    transfer.isIncoming ? "in\(transfer.rawValue - TransferID.firstIncoming)" : "out\(transfer.rawValue)"
  }

  private func describe(_ stream: StreamID) -> String {
    stream.isIncoming ? "in\(stream.rawValue - StreamID.firstIncoming)" : "out\(stream.rawValue)"
  }

  private func size(_ bytes: Bytes) -> String { "\(bytes.count) bytes" }
}
