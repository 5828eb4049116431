import PiconetEngine
import PiconetRuntime
import PiconetWire

/// The events that the loop reports. Other files hold those of their own concepts.
extension NodeCore {
  func delivered(_ event: Event) {
    switch event {
    case .messagesReceived(let node, let batch, let mode, let channel):
      guard let membership = withState({ $0.members[node] }) else { return }
      log.push(MessageBatch(from: membership, batch, mode, in: channel))
    case .peerFound(let summary), .peerChanged(let summary):
      judge.saw(summary.node, as: Set(summary.names))
      peers.update { $0[summary.node] = summary }
    case .peerLost(let node):
      judge.lost(node)
      peers.update { $0[node] = nil }
    case .connected(let peer): connected(peer)
    case .disconnected(let node, let ending): disconnected(node, ending)
    case .suspended(let node, let ending): suspended(node, ending)
    case .resumed(let node, let traits): resumed(node, over: traits)
    case .stateChanged(let node, let name, let condition): stateChanged(node, name, condition)
    case .invitationReceived(let peer, let context, _, let comparesCodes): invited(peer, context, comparesCodes)
    case .invitationEnded(let node, let ending): invitationEnded(node, ending)
    case .confirmationNeeded(let peer, let code): confirm(proven(peer), code)
    case .comparisonNeeded(let node, let code): comparing(node, code)
    case .comparisonEnded(let node, let ending): comparisonEnded(node, ending)
    case .codesCompared(let node, _): compared(node)
    case .invitationSent(let command, let peer): inviting(command)?.proven?(proven(peer))
    case .codeShown(let command, let peer, let code): inviting(command)?.code?(proven(peer), code)
    case .introductionReceived(let node): introduced(node)
    case .introductionEnded(let node, let ending): introductionEnded(node, ending)
    case .membersApart(let one, let other, let ending): membersApart(one, other, ending)
    case .membersTogether(let one, let other, let ending): membersTogether(one, other, ending)
    case .peerRefused(let node, let name, let traits, let ending, let suppressed):
      refusals.push(RefusedPeer(node, name: name, traits, ending, suppressed: suppressed))
    case .codeFailed(let peer, _, let left, let ending): failedCodes.push(FailedCode(peer, left: left, ending))
    case .offerReceived(let transfer, let node, let offer): offered(transfer, node, offer)
    case .transferAccepted(let transfer, let offset): sending(transfer)?.accepted(offset: offset)
    case .transferProgressed(let transfer, let stored): sending(transfer)?.stored(stored)
    case .transferCompared(let transfer, let count): sending(transfer)?.compared(count)
    case .transferPaused(let transfer, let isPaused):
      sending(transfer)?.paused(isPaused)
      receiving(transfer)?.paused(isPaused)
    case .transferEnded(let transfer, let ending): transferEnded(transfer, ending)
    case .streamReceived(let stream, let bytes): incomingStream(stream)?.push(bytes)
    case .streamOpened(let stream, let node, let name): streamOpened(stream, from: node, name: name)
    case .streamEnded(let stream, let end): streamEnded(stream, end)
    case .streamStopped(let stream, let ending): streamStopped(stream, ending)
    }
  }
}
