import PiconetCalls
import PiconetEngine
import PiconetWire

/// The actor system of each node. It calls members and serves their calls, over the existing associations. Objects and
/// their methods, the policy, names and signals are not simulated.
extension World {
  var callTime: Duration { .nanoseconds(Int64(now)) }

  func beginCalls(with peer: ProvenPeer, _ node: SimulatedNode) {
    guard scenario.makesCalls, peer.channelLimit > SimulatedCalls.longChannel.number, peer.messageLimit >= 128,
      let association = node.record.members[peer.node]
    else { return }
    calls.lastSerial += 1
    // Numbers of an earlier system of this node may still be in use at the member.
    let fresh = SimulatedCalls(
      node.application.callInstance, association, serial: calls.lastSerial, firstNumber: callDice.word() >> 16,
      messageLimit: peer.messageLimit)
    node.application.calls[peer.node] = fresh
    send(fresh.machine.hello, in: SimulatedCalls.channel, to: peer.node, node)
    guard !isCalm, let persona = scenario.callPersonas[node.index] else { return }
    for _ in 0..<callDice.number(persona.calls) {
      plan(.call(peer.node), of: node, in: callDice.chance(30) ? 0 : callDice.milliseconds(0...persona.spread))
    }
  }

  /// Ends all calls with a member that has left, and with that reason.
  func endCalls(with peer: NodeID, _ node: SimulatedNode) {
    guard node.application.calls[peer] != nil else { return }
    change(peer, node) { calls, _ in calls.machine.end(CallFailure(.left, "")) }
    checkNothingLeft(of: peer, node)
    node.application.calls[peer] = nil
  }

  /// Makes the node's program start another actor system.
  func remakeCalls(_ node: SimulatedNode) {
    calls.remade.insert(node.node)
    node.application.callInstance = callDice.word()
    for peer in node.application.calls.keys.sorted() {
      guard let former = node.application.calls[peer], let limit = node.application.messageLimits[peer] else {
        continue
      }
      send(CallFrame.goodbye(.shuttingDown, "").encoded, in: SimulatedCalls.channel, to: peer, node)
      change(peer, node) { calls, _ in calls.machine.end(CallFailure(.shuttingDown, "")) }
      checkNothingLeft(of: peer, node)
      calls.lastSerial += 1
      var fresh = SimulatedCalls(
        node.application.callInstance, former.association, serial: calls.lastSerial,
        firstNumber: callDice.word() >> 16, messageLimit: limit)
      // The waiting frames were sent before the system that follows.
      fresh.waiting[SimulatedCalls.channel] = node.application.calls[peer]?.waiting[SimulatedCalls.channel]
      node.application.calls[peer] = fresh
      send(fresh.machine.hello, in: SimulatedCalls.channel, to: peer, node)
    }
  }

  // MARK: Calls

  func makeCall(to peer: NodeID, _ node: SimulatedNode) {
    // A program may keep a reference from a former life of the peer, or to a peer that has left. Nothing is sent then.
    guard !isCalm, let conversation = node.application.calls[peer] else { return }
    let size = callDice.pick([0, 0, 10, 100, 1_000, 3_000, 17_000, 60_000, 79_000, 90_000])
    let milliseconds = callDice.number(50...callDice.pick([200, 4_000]))
    let deadline = callTime + .milliseconds(milliseconds)
    let number = conversation.lastNumber + 1
    let truth = calls.add(
      CallTruths.Truth(
        from: node.node, to: peer, association: conversation.association, made: callTime, deadline: deadline, size: size
      ))
    let frame = CallFrame.call(
      .init(
        number: number, path: "/", interface: "i", version: 1, method: "m", milliseconds: UInt64(milliseconds),
        arguments: CallTruths.arguments(truth, size: size)[...])
    ).encoded
    statistics.calls += 1
    var refusal: CallFailure?
    var isSent = false
    change(peer, node) { calls, _ in
      calls.lastNumber = number
      do throws(CallFailure) {
        isSent = try calls.machine.begin(number, frame, until: deadline)
        calls.made[number] = truth
      } catch {
        refusal = error
      }
      return []
    }
    if let refusal { return settled(truth, .failed(refusal), node) }
    if isSent { sendCalls(frame, .call(number), to: peer, node) }
    if callDice.chance(10) {
      plan(
        .cancelCall(peer, conversation.serial, number), of: node,
        in: callDice.milliseconds(0...callDice.pick([5, 1_000])))
    }
  }

  func cancelCall(_ number: UInt64, to peer: NodeID, _ serial: Int, _ node: SimulatedNode) {
    guard let conversation = node.application.calls[peer], conversation.serial == serial else { return }
    if let truth = conversation.made[number] { calls[truth].isTakenBack = true }
    change(peer, node) { calls, _ in calls.machine.cancel(number) }
  }

  func finishCall(_ number: UInt64, of peer: NodeID, _ serial: Int, _ node: SimulatedNode) {
    guard var conversation = node.application.calls[peer], conversation.serial == serial,
      let running = conversation.running.removeValue(forKey: number)
    else { return }
    let result = running.truth.map(CallTruths.result) ?? CBORValue.null.encoded
    conversation.machine.resultsWait(conversation.waitingResults)
    let reply = conversation.machine.finished(number, with: .value(result[...]))
    node.application.calls[peer] = conversation
    if let reply {
      if let truth = running.truth { calls[truth].answered = callTime }
      sendCalls(reply.frame, .answer(number), to: peer, node)
    }
    armCalls(peer, node)
  }

  func callTimerFired(_ peer: NodeID, _ serial: Int, _ node: SimulatedNode) {
    guard let conversation = node.application.calls[peer], conversation.serial == serial else { return }
    // The timer was for a deadline that an earlier one has overtaken.
    guard let planned = conversation.timerAt, planned <= callTime else { return }
    node.application.calls[peer]?.timerAt = nil
    let isDue = conversation.machine.nextDeadline.map { $0 <= callTime } ?? false
    if isDue {
      change(peer, node) { calls, now in calls.machine.expired(at: now) }
    } else {
      armCalls(peer, node)
    }
  }

  func callsReceived(_ messages: [Bytes], from peer: NodeID, in channel: MessageChannel, _ node: SimulatedNode) {
    guard SimulatedCalls.channels.contains(channel) else { return }
    for message in messages {
      if scenario.faults.contains(.callLost), faultDice.chance(5) { continue }
      let count = scenario.faults.contains(.callRepeated) && faultDice.chance(20) ? 2 : 1
      for _ in 0..<count where node.application.calls[peer] != nil {
        change(peer, node) { calls, now in
          calls.machine.resultsWait(calls.waitingResults)
          return calls.machine.received(message, at: now, isLong: channel == SimulatedCalls.longChannel)
        }
      }
    }
  }

  // MARK: Outcomes

  private func change(
    _ peer: NodeID, _ node: SimulatedNode, _ body: (inout SimulatedCalls, Duration) -> [PeerCalls.Effect]
  ) {
    guard var conversation = node.application.calls[peer] else { return }
    let effects = body(&conversation, callTime)
    node.application.calls[peer] = conversation
    perform(effects, peer, node)
    armCalls(peer, node)
    checkBounds(of: peer, node)
  }

  private func perform(_ effects: [PeerCalls.Effect], _ peer: NodeID, _ node: SimulatedNode) {
    for effect in effects {
      switch effect {
      case .send(let frame, let isLong): sendCalls(frame, isLong: isLong, .other, to: peer, node)
      case .call(let number, let frame): sendCalls(frame, .call(number), to: peer, node)
      case .withdraw(let number): withdraw(.answer(number), of: peer, node)
      case .settle(let number, let answer):
        withdraw(.call(number), of: peer, node)
        guard let truth = node.application.calls[peer]?.made.removeValue(forKey: number) else {
          finding("n\(node.index): call \(number) to \(name(peer)) is settled, and nobody waits for it")
          return
        }
        settled(truth, answer, node)
      case .serve(let call): serve(call, of: peer, node)
      case .stop(let number): stop(number, of: peer, node)
      case .refused: statistics.callsRefused += 1
      case .closed(let failure): closed(failure, by: peer, node)
      case .greeted: sendWaitingCalls(to: peer, in: SimulatedCalls.longChannel, node)
      case .passed: break
      }
    }
  }

  private func serve(_ call: CallFrame.Call, of peer: NodeID, _ node: SimulatedNode) {
    guard let conversation = node.application.calls[peer] else { return }
    let truth = observeServed(call, of: peer, node)
    node.application.calls[peer]?.running[call.number] = SimulatedCalls.Running(truth: truth)
    // One in ten goes on until it is stopped.
    if callDice.chance(10) { return }
    let time = callDice.chance(40) ? 0 : callDice.milliseconds(0...callDice.pick([20, 1_500]))
    plan(.finishCall(peer, conversation.serial, call.number), of: node, in: time)
  }

  /// Stops a call. Most methods react to cancellation; some go on.
  private func stop(_ number: UInt64, of peer: NodeID, _ node: SimulatedNode) {
    guard let conversation = node.application.calls[peer], let running = conversation.running[number] else {
      return finding("n\(node.index): call \(number) of \(name(peer)) is stopped, and is not served")
    }
    if running.wasStopped { finding("n\(node.index): call \(number) of \(name(peer)) is stopped twice") }
    if conversation.machine.ending(of: number) == nil {
      finding("n\(node.index): call \(number) of \(name(peer)) is stopped for no reason")
    }
    node.application.calls[peer]?.running[number]?.wasStopped = true
    plan(
      .finishCall(peer, conversation.serial, number), of: node,
      in: callDice.chance(80) ? 0 : callDice.milliseconds(0...900))
  }

  // MARK: Frames

  private func sendCalls(
    _ frame: [UInt8], isLong: Bool = false, _ subject: FrameQueue.Subject, to peer: NodeID, _ node: SimulatedNode
  ) {
    let isLong = isLong || PeerCalls.isLong(frame)
    send(frame, in: isLong ? SimulatedCalls.longChannel : SimulatedCalls.channel, subject, to: peer, node)
  }

  /// Sends a frame, in parts if one message can't hold it. Parts without room in the queue wait.
  private func send(
    _ frame: [UInt8], in channel: MessageChannel, _ subject: FrameQueue.Subject = .other, to peer: NodeID,
    _ node: SimulatedNode
  ) {
    guard node.application.calls[peer] != nil else { return }
    // All messages have the same limit.
    let id = frame.count > 2_900 ? callDice.word() : 0
    _ = node.application.calls[peer]?.waiting[channel]?.add(frame, subject, id: id)
    sendWaitingCalls(to: peer, in: channel, node)
  }

  /// Withdraws frames that nothing waits for any more. Parts that have not left are not sent.
  private func withdraw(_ subject: FrameQueue.Subject, of peer: NodeID, _ node: SimulatedNode) {
    node.application.calls[peer]?.waiting[SimulatedCalls.longChannel]?.withdraw(subject)
  }

  func sendWaitingCalls(to peer: NodeID, in channel: MessageChannel, _ node: SimulatedNode) {
    guard let conversation = node.application.calls[peer] else { return }
    // If these frames overtook our greeting, the member would take them for those of a former system. So they wait
    // until the member has greeted us.
    if channel == SimulatedCalls.longChannel, conversation.machine.instance == nil { return }
    let association = conversation.association
    let key = ChannelKey(peer: peer, channel: channel)
    while let message = node.application.calls[peer]?.waiting[channel]?.next {
      let cost = message.count + WireLimits.messageCost
      let queued = node.application.queuedCost[key, default: 0] + cost
      guard queued <= scenario.configurations[node.index].messageWindow else { return }
      node.application.queuedCost[key] = queued
      node.application.calls[peer]?.waiting[channel]?.leave()
      post(.callMessage(peer, association, message, in: channel), to: node)
    }
  }

  private func armCalls(_ peer: NodeID, _ node: SimulatedNode) {
    guard let conversation = node.application.calls[peer], let deadline = conversation.machine.nextDeadline,
      deadline < conversation.timerAt ?? .seconds(Int64.max)
    else { return }
    node.application.calls[peer]?.timerAt = deadline
    plan(
      .callTimer(peer, conversation.serial), of: node, in: UInt64(max(0, (deadline - callTime).wholeNanoseconds)))
  }
}
