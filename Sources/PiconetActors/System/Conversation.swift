import Piconet
import PiconetCalls
import Synchronization

/// The calls to and from one member, as long as it is a member: the machine that decides, under one lock, and the tasks
/// that wait for its answers.
final class Conversation: Sendable {
  private struct State {
    var calls: PeerCalls
    var lastNumber: UInt64
    var waiters: [UInt64: WaitingCaller] = [:]
    /// Our calls that have gone in the channel for long frames, and have no answer.
    var longCalls: Set<UInt64> = []
    var tasks: [UInt64: Task<Void, Never>] = [:]
    /// Why the member has left.
    var departure: PiconetError?
    var about: [String: String]?
    var unreported = UnreportedSignals()
    /// Whether it has failed to take a signal in time.
    var isDeaf = false
    /// Whether a task tells them.
    var isTelling = false
  }

  let member: Member
  private let state: Mutex<State>
  private let urgent: FrameSender
  private let long: FrameSender
  private weak let system: PiconetActorSystem?
  private let timer: DeadlineTimer
  // Copied from the member's proven data; a call that read it there would copy all of that.
  private let takesCalls: Bool
  let isIntroduced: Bool
  /// Whether the task that serves a call runs in the common pool of threads, not on the node's own.
  let servesInPool: Bool

  init(with member: Member, of system: PiconetActorSystem) {
    self.member = member
    self.system = system
    timer = system.timer
    takesCalls =
      member.proven.channelLimit > PiconetActorSystem.longChannel.number
      && member.proven.messageLimit >= FrameSender.leastMessage
    isIntroduced = member.proven.introducedBy != nil
    servesInPool = !system.configuration.servesOnNodeThread
    urgent = FrameSender(
      to: member, in: PiconetActorSystem.channel, limit: FrameSender.shortLimit, byteLimit: FrameSender.shortBytes)
    // Results are refused earlier. A member that withdraws long calls again and again, and reads nothing, makes notes
    // of that wait. Held until the member has greeted: it would take frames that overtake our greeting for those of a
    // former system.
    long = FrameSender(
      to: member, in: PiconetActorSystem.longChannel, byteLimit: 2 * system.configuration.resultLimit, isHeld: true)
    let calls = PeerCalls(
      instance: system.instance, own: system.limits, argumentLimit: system.configuration.argumentLimit,
      resultLimit: system.configuration.resultLimit,
      about: system.configuration.about.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    if takesCalls { urgent.send(calls.hello) }
    // Numbers of an earlier system of this node may still be in use at the member.
    state = Mutex(State(calls: calls, lastNumber: UInt64.random(in: 0..<1 << 48)))
  }

  /// The member's description of itself; nil until it has greeted.
  var about: [String: String]? { state.withLock { $0.about } }

  var departure: PiconetError? { state.withLock { $0.departure } }

  /// Changes the machine, and carries out the effects.
  private func follow(_ change: (inout PeerCalls) -> [PeerCalls.Effect]) {
    var woken = WokenCalls()
    follow(waking: &woken, change)
    woken.start()
  }

  /// Changes the machine, and carries out the effects, except for the tasks that it wakes. Frames leave under the lock,
  /// so that they leave in their order; only answers do not, which have no order.
  private func follow(waking woken: inout WokenCalls, _ change: (inout PeerCalls) -> [PeerCalls.Effect]) {
    var stopped: [Task<Void, Never>] = []
    let effects = state.withLock { state in
      let effects = change(&state.calls)
      for effect in effects {
        switch effect {
        case .send(let frame, let isLong): (isLong ? long : urgent).send(frame)
        case .call(let number, let frame): send(number, frame, &state)
        case .settle(let number, let answer):
          if state.longCalls.remove(number) != nil { long.withdraw(.call(number)) }
          if let caller = state.waiters.removeValue(forKey: number) { woken.add(caller, answer) }
        case .stop(let number): if let task = state.tasks[number] { stopped.append(task) }
        case .withdraw(let number): long.withdraw(.answer(number))
        case .greeted(let hello):
          state.about = Dictionary(hello.about.map { ($0.key, $0.value) }) { first, _ in first }
          long.open()
        case .serve(let call): woken.add(call, for: self)
        case .closed(let failure):
          // Parts of two systems of one node must not mix.
          long.close()
          // A goodbye comes before this. Another system of the member may follow one that has stopped.
          if failure.code != .shuttingDown, failure.code != .restarted { urgent.finish() }
        case .refused, .passed: break
        }
      }
      return effects
    }
    for task in stopped { task.cancel() }
    for effect in effects { perform(effect) }
  }

  private func perform(_ effect: PeerCalls.Effect) {
    switch effect {
    case .greeted(let hello): system?.greeted(self, hello)
    case .refused(let call, let failure): system?.refused(IncomingCall(call, in: self), failure)
    case .passed(.signal(let signal)):
      if allows(.telling(path: signal.path, interface: signal.interface, name: signal.name)) {
        system?.signals.received(signal, from: member)
      }
    case .passed(let frame): system?.names.received(frame, from: self)
    case .closed(let failure):
      system?.names.ended(self, isGone: failure.code == .left)
      system?.signals.left(member)
      system?.tell(.lost(member, error(failure)), of: member)
    case .send, .call, .settle, .stop, .withdraw, .serve: break
    }
  }

  // MARK: Our calls

  /// Makes a call and waits for its answer. Cancelling the task cancels the call.
  /// - Parameters:
  ///   - arguments: the arguments, one behind the other.
  ///   - count: how many there are.
  @inline(__always)
  func call(
    path: String, interface: String, version: Int, method: String, within time: Duration, arguments: CBORWriter,
    count: Int
  ) async throws(RemoteCallError) -> ArraySlice<UInt8> {
    guard takesCalls else {
      throw RemoteCallError(
        .notConnected, node: member.id, detail: "the device takes too few channels, or too short messages, for calls")
    }
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let (seconds, attoseconds) = time.components
    let milliseconds = max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    let frame = CallFrame.Call.encoded(
      number: number, path: path, interface: interface, version: UInt64(version), method: method,
      milliseconds: min(CallLimits.milliseconds, UInt64(milliseconds)), arguments: arguments, count: count)
    let deadline = timer.now + time
    let answer = await waitForAnswer {
      begin(number, frame, until: deadline, $0)
    } cancel: {
      cancel(number)
    }
    switch answer {
    case .value(let value): return value
    case .failed(let failure): throw error(failure)
    }
  }

  private func begin(
    _ number: UInt64, _ frame: [UInt8], until deadline: Duration,
    _ continuation: UnsafeContinuation<PeerCalls.Answer, Never>
  ) {
    let failure = state.withLock { state -> CallFailure? in
      do throws(CallFailure) {
        let isSent = try state.calls.begin(number, frame, until: deadline)
        state.waiters[number] = WaitingCaller(continuation)
        if isSent { send(number, frame, &state) }
        return nil
      } catch {
        return error
      }
    }
    if let failure { return continuation.resume(returning: .failed(failure)) }
    timer.needs(deadline)
  }

  /// Sends one of our calls.
  private func send(_ number: UInt64, _ frame: [UInt8], _ state: inout State) {
    if PeerCalls.isLong(frame) {
      state.longCalls.insert(number)
      long.send(frame, .call(number))
    } else {
      urgent.send(frame)
    }
  }

  private func cancel(_ number: UInt64) { follow { $0.cancel(number) } }

  func error(_ failure: CallFailure) -> RemoteCallError {
    RemoteCallError(failure, node: member.id, underlying: departure)
  }

  // MARK: Calls of the member

  /// Begins to serve a call that the machine has taken.
  func serve(_ call: CallFrame.Call) {
    guard let system else {
      finished(call.number, .failed(CallFailure(.shuttingDown, "")))
      return
    }
    // Not under the lock: the thread that it wakes may take this one's processor, and would then wait for the lock. A
    // preference for no executor would still be looked up at each step of the task.
    let task =
      if system.configuration.servesOnNodeThread {
        Task(executorPreference: system.node.executor) { await self.run(call, in: system) }
      } else {
        Task { await self.run(call, in: system) }
      }
    let isUnwanted = state.withLock { state in
      // It may have ended by now. Its number does not belong to another call: it is free once this one is finished.
      guard let isWanted = state.calls.isWanted(call.number) else { return false }
      state.tasks[call.number] = task
      return !isWanted
    }
    if isUnwanted { task.cancel() }
    timer.needs(timer.now + .milliseconds(Int64(call.milliseconds)))
  }

  @inline(__always)
  private func run(_ call: CallFrame.Call, in system: PiconetActorSystem) async {
    let failure = finished(call.number, await system.answer(to: call, in: self))
    if let failure { system.refused(IncomingCall(call, in: self), failure) }
  }

  /// - Returns: the failure that the caller is told instead of the answer.
  @discardableResult
  private func finished(_ number: UInt64, _ answer: PeerCalls.Answer) -> CallFailure? {
    let reply = state.withLock { state -> PeerCalls.Reply? in
      state.tasks[number] = nil
      state.calls.resultsWait(long.waitingBytes)
      guard let reply = state.calls.finished(number, with: answer) else { return nil }
      // Under the lock, so that of two that end at once one knows that the other waits.
      if PeerCalls.isLong(reply.frame) { long.send(reply.frame, .answer(number)) }
      return reply
    }
    guard let reply else { return nil }
    if PeerCalls.isLong(reply.frame) {
      endIfUnread()
    } else {
      // Not under the lock: no answer waits for another, and a peer reads none behind a goodbye.
      urgent.send(reply.frame)
    }
    return reply.failure
  }

  /// Returns why the answer of a call that is being served is no longer wanted; nil: it is wanted, or has been given.
  func ending(of number: UInt64) -> RemoteCallError? {
    state.withLock { $0.calls.ending(of: number) }.map { error($0) }
  }

  /// Returns whether the policy lets the member do this. The program may be asked: not under a lock.
  func allows(_ purpose: MemberAccess.Purpose) -> Bool {
    guard let system else { return false }
    return system.configuration.policy.allows(
      MemberAccess(member: member, purpose: purpose), isIntroduced: isIntroduced,
      isAllowedByName: { system.isAllowed(member.id.peer) })
  }

  func mayObserve(_ key: KeptSignals.Key) -> Bool {
    allows(.observing(path: key.path, interface: key.interface, name: key.name))
  }

  /// Whether the member runs an actor system.
  var hasGreeted: Bool { state.withLock { $0.about != nil } }

  /// Sends the member a frame that belongs to no call.
  func tell(_ frame: CallFrame) { state.withLock { _ in urgent.send(frame.encoded) } }

  // MARK: Signals

  private static func channel(of frame: [UInt8]) -> MessageChannel {
    PeerCalls.isLong(frame) ? PiconetActorSystem.longChannel : PiconetActorSystem.channel
  }

  /// Notes that the member has not taken a signal in time.
  func missedSignal() { state.withLock { $0.isDeaf = true } }

  /// Sends the signal if the member takes it at once, provided that it has not taken an earlier one in time.
  /// - Returns: false if it has taken all in time: the signal may then wait for it.
  func offerIfDeaf(_ frame: [UInt8]) -> Bool {
    guard state.withLock({ $0.isDeaf }) else { return false }
    if (try? member.trySend(frame, in: Self.channel(of: frame))) == true { state.withLock { $0.isDeaf = false } }
    return true
  }

  /// Sends a signal, and waits until the member's queue has taken it.
  func deliver(_ frame: [UInt8]) async throws(RemoteCallError) {
    do throws(PiconetError) {
      try await member.send(frame, in: Self.channel(of: frame))
    } catch {
      // A member that leaves is skipped, and so is one that takes no such messages.
      if error.code == .cancelled { throw RemoteCallError(.cancelled, node: member.id, detail: error.detail) }
    }
  }

  /// Notes that the member has to be told of these kept signals.
  func hasToTell(_ keys: [KeptSignals.Key]) {
    let begins = state.withLock { state in
      guard state.about != nil, state.departure == nil else { return false }
      for key in keys { state.unreported.add(key) }
      if state.isTelling || state.unreported.isEmpty { return false }
      state.isTelling = true
      return true
    }
    if begins { Task { [weak self] in while await self?.tellNext() == true {} } }
  }

  /// - Returns: false if there was nothing to tell.
  private func tellNext() async -> Bool {
    let key = state.withLock { state in
      let key = state.unreported.next()
      if key == nil { state.isTelling = false }
      return key
    }
    guard let key, let system else { return false }
    if mayObserve(key), let value = system.signals.own(key),
      let frame = try? PiconetActorSystem.frame(key, value, isKept: true)
    {
      try? await deliver(frame)
    }
    return true
  }

  // MARK: Events

  /// - Parameters:
  ///   - isLong: whether it came in the channel for long frames.
  ///   - woken: is given the tasks that the frame wakes, for the caller to start.
  func received(_ bytes: ArraySlice<UInt8>, isLong: Bool, waking woken: inout WokenCalls) {
    // Its answers could not be sent, or only in countless parts.
    guard takesCalls else { return }
    let now = timer.now
    let waiting = long.waitingBytes
    follow(waking: &woken) { calls in
      calls.resultsWait(waiting)
      return calls.received(bytes, at: now, isLong: isLong)
    }
    endIfUnread()
  }

  /// Ends the conversation if more waits for the member than may.
  private func endIfUnread() {
    if urgent.hasOverflowed {
      let most = "\(FrameSender.shortLimit) answers wait, or \(FrameSender.shortBytes) bytes of them"
      end(CallFailure(.protocolBroken, "\(most), and the member does not read them"))
    }
    if long.hasOverflowed {
      let text = "\(long.byteLimit) bytes wait among long frames, and the member does not read them"
      end(CallFailure(.protocolBroken, text), saysGoodbye: true)
    }
  }

  /// Ends the calls that are due.
  /// - Returns: when the next calls are due.
  func expire(at now: Duration) -> Duration? {
    follow { $0.expired(at: now) }
    return state.withLock { $0.calls.nextDeadline }
  }

  func end(_ failure: CallFailure, departure: PiconetError? = nil, saysGoodbye: Bool = false) {
    if let departure { state.withLock { $0.departure = departure } }
    follow { calls in
      let effects = calls.end(failure)
      // The goodbye goes first, and once: after the end nothing is taken.
      let goodbye = PeerCalls.Effect.send(CallFrame.goodbye(failure.code, failure.text).encoded)
      return saysGoodbye && !effects.isEmpty ? [goodbye] + effects : effects
    }
  }
}
