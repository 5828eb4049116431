import Piconet
import PiconetCalls
import Synchronization

/// The names that nodes of the session have claimed, and tasks that wait until members have heard of a claim of this
/// node.
final class SessionNames: Sendable {
  private struct State {
    var desk: NameDesk<NodeID>
    /// Conversations with members that run an actor system.
    var conversations: [NodeID: Conversation] = [:]
    var waiting: [UInt64: UnsafeContinuation<Bool, Never>] = [:]
    /// Runs while some members may not have heard of a name.
    var patience: Task<Void, Never>?
    var lastNumber: UInt64 = 0
    weak var system: PiconetActorSystem?
    var isOver = false
  }

  private let state: Mutex<State>

  /// The longest time for which a claim waits for members.
  private static let patience = Duration.seconds(5)
  /// After this time or twice as long, a member with a link that does not say whether it has heard of a claim is taken
  /// to have heard of it. The time exceeds that for which a lost link goes unnoticed by default.
  private static let deafTime = Duration.seconds(30)

  init(of own: NodeID) { state = Mutex(State(desk: NameDesk(of: own))) }

  func start(_ system: PiconetActorSystem) { state.withLock { $0.system = system } }

  func stop() {
    let (waiting, patience) = state.withLock { state in
      state.isOver = true
      defer {
        state.waiting = [:]
        state.patience = nil
        state.conversations = [:]
      }
      return (Array(state.waiting.values), state.patience)
    }
    patience?.cancel()
    for wait in waiting { wait.resume(returning: true) }
  }

  func owner(of name: String) -> NodeID? { state.withLock { $0.desk.owner(of: name) } }

  func standing(for name: String) -> NameClaims<NodeID>.Standing { state.withLock { $0.desk.standing(for: name) } }

  // MARK: This node's claims

  /// Claims the name, and waits until members have heard of it; for five seconds at most, or until the task is
  /// cancelled.
  /// - Returns: false if this node has as many names as it may.
  func claim(_ name: String, _ options: NameClaim.Options) async -> Bool {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let timeout = Task { [weak self] in
      try? await ContinuousClock().sleep(for: Self.patience)
      self?.endWait(number, true)
    }
    defer { timeout.cancel() }
    return await waitForAnswer {
      begin(number, name, options, $0)
    } cancel: {
      endWait(number, true)
    }
  }

  private func begin(
    _ number: UInt64, _ name: String, _ options: NameClaim.Options, _ continuation: UnsafeContinuation<Bool, Never>
  ) {
    let isOver = state.withLock { state in
      if !state.isOver { state.waiting[number] = continuation }
      return state.isOver
    }
    if isOver { return continuation.resume(returning: true) }
    var isTaken = true
    change { state in
      guard let effects = state.desk.claim(name, options, number) else {
        isTaken = false
        return []
      }
      return effects
    }
    if !isTaken { endWait(number, false) }
  }

  /// Stops waiting for silent members, again and again, until it is no longer needed.
  private func bePatient() -> Task<Void, Never> {
    Task { [weak self] in
      while (try? await ContinuousClock().sleep(for: Self.deafTime)) != nil, let self {
        self.change { $0.desk.losePatience() }
        let isNeeded = self.state.withLock { state in
          if !state.desk.isUnsettled { state.patience = nil }
          return state.desk.isUnsettled && !state.isOver
        }
        if !isNeeded { return }
      }
    }
  }

  private func endWait(_ number: UInt64, _ isTaken: Bool) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: isTaken)
  }

  func release(_ name: String) { change { $0.desk.release(name) } }

  // MARK: Members

  func received(_ frame: CallFrame, from conversation: Conversation) {
    // Not under the lock, since the program is asked.
    let isAllowed = if case .claim(let claim) = frame { conversation.allows(.claiming(name: claim.name)) } else { true }
    change(of: conversation.member) { $0.desk.received(frame, from: conversation.member.id, isAllowed: isAllowed) }
  }

  func joined(_ member: Member) { state.withLock { $0.desk.joined(member.id) } }

  /// Notes that a member has an actor system, a different one than before.
  func greeted(_ conversation: Conversation, instance: UInt64) {
    let node = conversation.member.id
    change(of: conversation.member) { state in
      let former = state.conversations.updateValue(conversation, forKey: node)
      // It has left and come back, and its end has not been read yet.
      let ended = former.map { $0 === conversation } ?? true ? [] : state.desk.ended(node, isGone: true)
      return ended + state.desk.greeted(node, instance: instance)
    }
  }

  /// - Parameter isGone: whether it is no longer a member.
  func ended(_ conversation: Conversation, isGone: Bool) {
    let node = conversation.member.id
    change(of: conversation.member) { state in
      // It may have come back as another member.
      if let present = state.conversations[node], present !== conversation { return [] }
      state.conversations[node] = nil
      return state.desk.ended(node, isGone: isGone)
    }
  }

  func setSuspended(_ member: Member, _ isSuspended: Bool) {
    state.withLock { $0.desk.setSuspended(member.id, isSuspended) }
  }

  /// Notes that the policy's answer about a member may have changed.
  func reconsider(_ conversation: Conversation) {
    let node = conversation.member.id
    let names = state.withLock { $0.desk.names(claimedBy: node) }
    let answers = Dictionary(names.map { ($0, conversation.allows(.claiming(name: $0))) }) { first, _ in first }
    change(of: conversation.member) { $0.desk.reconsider(node, answers) }
  }

  /// Changes the names, and carries out the effects.
  ///
  /// Members are told under the lock: a member that hears that we have heard of its claim has heard of our claim
  /// before.
  /// - Parameter source: the member that caused the change; nil: this node.
  private func change(of source: Member? = nil, _ body: (inout State) -> [NameDesk<NodeID>.Effect]) {
    var events: [(event: ActorSystemEvent, source: Member?)] = []
    var done: [UnsafeContinuation<Bool, Never>] = []
    let system = state.withLock { state -> PiconetActorSystem? in
      if state.isOver { return nil }
      for effect in body(&state) {
        switch effect {
        case .tell(let frame, let node): state.conversations[node]?.tell(frame)
        case .changed(.owner(let name, let former, let owner)):
          events.append((.ownerChanged(name: name, from: former, to: owner), source))
        case .heard(let number):
          if let wait = state.waiting.removeValue(forKey: number) { done.append(wait) }
        case .refused(let name, let node):
          if let member = state.conversations[node]?.member { events.append((.nameRefused(name, by: member), member)) }
        }
      }
      if state.patience == nil, state.desk.isUnsettled { state.patience = bePatient() }
      return state.system
    }
    for wait in done { wait.resume(returning: true) }
    for (event, source) in events { system?.tell(event, of: source) }
  }
}
