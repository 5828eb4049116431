import PiconetCalls
import PiconetEngine
import PiconetWire

/// The invariants of calls: each is served at most once, answered with its own result, and ended once for a true
/// reason. Nothing is left over.
extension World {
  /// - Returns: the number of the call; nil if a hostile node has made it.
  func observeServed(_ call: CallFrame.Call, of peer: NodeID, _ node: SimulatedNode) -> Int? {
    guard !isOfHostile(peer) else { return nil }
    guard let number = calls.number(of: call.arguments) else {
      finding("n\(node.index) serves a call of \(name(peer)) that was not made so")
      return nil
    }
    let truth = calls[number]
    if truth.from != peer || truth.to != node.node { finding("n\(node.index) serves a call to \(name(truth.to))") }
    if truth.association != node.application.calls[peer]?.association {
      finding("call \(number) is served in another membership")
    }
    if case .failed(let failure)? = truth.outcome, [.tooManyCalls, .tooLarge].contains(failure.code) {
      finding("call \(number) was refused, and is served")
    }
    calls[number].served += 1
    if calls[number].served > 1 { finding("call \(number) of \(name(peer)) is served twice") }
    return number
  }

  /// Checks the outcome that a caller is told.
  func settled(_ number: Int, _ answer: PeerCalls.Answer, _ node: SimulatedNode) {
    let truth = calls[number]
    if truth.outcome != nil { finding("call \(number) of n\(node.index) is settled twice") }
    calls[number].outcome = answer
    switch answer {
    case .value(let value):
      statistics.callsAnswered += 1
      if isOfHostile(truth.to) { return }
      if truth.served != 1 || truth.answered == nil { finding("call \(number) has a result, and was not served") }
      if !value.elementsEqual(CallTruths.result(number)) { finding("call \(number) has another one's result") }
    case .failed(let failure):
      statistics.callEndings[failure.code.rawValue, default: 0] += 1
      if !isOfHostile(truth.to) { check(failure, of: truth, number, node) }
    }
  }

  private func check(_ failure: CallFailure, of truth: CallTruths.Truth, _ number: Int, _ node: SimulatedNode) {
    let isRemade = calls.remade.contains(truth.to) || calls.remade.contains(truth.from)
    let mayEndSo: [CallFailure.Code: Bool] = [
      // Either the arguments or the result are meant.
      .tooManyCalls: (truth.served == 0) == (truth.answered == nil),
      .tooLarge: (truth.served == 0) == (truth.answered == nil),
      .cancelled: truth.isTakenBack, .timedOut: callTime >= truth.deadline,
      .left: node.record.members[truth.to] != truth.association, .shuttingDown: isRemade, .restarted: isRemade,
    ]
    if mayEndSo[failure.code] != true {
      finding("call \(number) of n\(node.index) to \(name(truth.to)) ends with \(failure): \(truth)")
    }
    // Over a slow link, or to a node that reads slowly, much is on the way before it.
    if failure.code == .timedOut, scenario.isFair, scenario.fairLinks, let answered = truth.answered,
      answered + .seconds(2) < truth.deadline, !areAnswersUnderWay(from: truth.to, to: truth.from)
    {
      finding("the answer to call \(number) of n\(node.index) is lost: \(truth)")
    }
  }

  /// Returns whether frames of calls wait until they may leave, or until they are taken.
  private func areAnswersUnderWay(from callee: NodeID, to caller: NodeID) -> Bool {
    guard let index = indices[callee.peer] else { return false }
    let application = nodes[index].application
    return SimulatedCalls.channels.contains { channel in
      application.queuedCost[ChannelKey(peer: caller, channel: channel), default: 0] > 0
        || application.calls[caller]?.waiting[channel]?.isEmpty == false
    }
  }

  func closed(_ failure: CallFailure, by peer: NodeID, _ node: SimulatedNode) {
    if failure.code == .protocolBroken, !isOfHostile(peer) {
      finding("n\(node.index) takes calls of \(name(peer)) for broken: \(failure.text)")
    }
  }

  /// Checks what a member makes a node keep.
  func checkBounds(of peer: NodeID, _ node: SimulatedNode) {
    guard let conversation = node.application.calls[peer] else { return }
    let machine = conversation.machine
    if machine.servedCount > SimulatedCalls.limits.calls { finding("n\(node.index) serves too many calls") }
    if machine.servedBytes > SimulatedCalls.argumentLimit {
      finding("n\(node.index) keeps \(machine.servedBytes) bytes of arguments of \(name(peer))")
    }
    // A single result may be longer.
    if conversation.waitingResults > max(SimulatedCalls.resultLimit, SimulatedCalls.limits.frame) + 10_000 {
      finding("n\(node.index) keeps \(conversation.waitingResults) bytes of answers for \(name(peer))")
    }
    if machine.servedCount != conversation.running.count || machine.outgoingCount != conversation.made.count {
      finding("n\(node.index) and its calls with \(name(peer)) disagree")
    }
  }

  /// Checks that no calls are left between the two.
  func checkNothingLeft(of peer: NodeID, _ node: SimulatedNode) {
    guard let conversation = node.application.calls[peer] else { return }
    if !conversation.made.isEmpty { finding("n\(node.index) waits for answers of \(name(peer)), which is gone") }
    if conversation.running.values.contains(where: { !$0.wasStopped }) {
      finding("n\(node.index) serves calls of \(name(peer)) on, which is gone")
    }
  }

  /// Checks that every call has ended, long after the end of all trouble.
  func checkCallsQuiet() {
    guard scenario.makesCalls else { return }
    for node in nodes.prefix(scenario.engineCount) {
      for (peer, conversation) in node.application.calls.sorted(by: { $0.key < $1.key }) {
        if !conversation.made.isEmpty { finding("calls of n\(node.index) to \(name(peer)) do not end") }
        if !conversation.running.isEmpty { finding("n\(node.index) serves calls of \(name(peer)) for ever") }
        if !isOfHostile(peer), conversation.waiting.values.contains(where: { !$0.isEmpty }) {
          finding("frames of calls of n\(node.index) to \(name(peer)) wait for ever")
        }
      }
    }
    checkCallsEnded()
  }

  func checkCallsEnded() {
    for number in 0..<calls.count where calls[number].outcome == nil && !calls[number].isVoid {
      finding("call \(number) of \(name(calls[number].from)) has not ended")
    }
  }
}
