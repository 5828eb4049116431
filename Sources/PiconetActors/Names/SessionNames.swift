import Piconet
import PiconetCalls
import Synchronization

/// The names that nodes of the session have claimed, and claims of this node that wait until members have heard of
/// them.
final class SessionNames: Sendable {
  private struct Waiting {
    let name: String
    let time: UInt64
    var members: Set<NodeID>
    let continuation: UnsafeContinuation<Bool, Never>
  }

  private struct State {
    var claims = NameClaims<NodeID>()
    var waiting: [UInt64: Waiting] = [:]
    var lastWait: UInt64 = 0
    weak var system: PiconetActorSystem?
    var isOver = false
  }

  private let own: NodeID
  private let state = Mutex(State())

  init(of own: NodeID) { self.own = own }

  func start(_ system: PiconetActorSystem) { state.withLock { $0.system = system } }

  func stop() {
    let waiting = state.withLock { state in
      state.isOver = true
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for wait in waiting { wait.continuation.resume(returning: true) }
  }

  func owner(of name: String) -> NodeID? { state.withLock { $0.claims.owner(of: name) } }

  func standing(for name: String) -> NameClaims<NodeID>.Standing {
    state.withLock { $0.claims.standing(of: own, for: name) }
  }

  var all: [String: NodeID] { state.withLock { $0.claims.all } }

  // MARK: This node's claims

  /// Claims the name, and waits until members have heard of it; for five seconds at most, or until the task is
  /// cancelled.
  /// - Returns: false if this node has as many names as it may.
  func claim(_ name: String, _ options: NameClaim.Options) async -> Bool {
    let number = state.withLock { state in
      state.lastWait += 1
      return state.lastWait
    }
    let timeout = Task { [weak self] in
      try? await ContinuousClock().sleep(for: .seconds(5))
      self?.endWait(number)
    }
    defer { timeout.cancel() }
    return await waitForAnswer {
      begin(number, name, options, $0)
    } cancel: {
      endWait(number)
    }
  }

  private func begin(
    _ number: UInt64, _ name: String, _ options: NameClaim.Options, _ continuation: UnsafeContinuation<Bool, Never>
  ) {
    var isWaiting = false
    let isTaken = change { state, conversations in
      let isNew = !state.claims.claims(of: own).contains { $0.name == name }
      guard !isNew || state.claims.count(of: own) < NameClaims<NodeID>.limit else { return nil }
      let claim = NameClaim(name, time: state.claims.nextTime(), options)
      for conversation in conversations { conversation.tell(.claim(claim)) }
      if !conversations.isEmpty, !state.isOver {
        isWaiting = true
        state.waiting[number] = Waiting(
          name: name, time: claim.time, members: Set(conversations.map(\.member.id)), continuation: continuation)
      }
      return state.claims.claim(claim, by: own)
    }
    if !isWaiting { continuation.resume(returning: isTaken) }
  }

  private func endWait(_ number: UInt64) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume(returning: true)
  }

  func release(_ name: String) {
    _ = change { state, conversations in
      guard state.claims.claims(of: own).contains(where: { $0.name == name }) else { return nil }
      for conversation in conversations { conversation.tell(.release(name: name)) }
      return state.claims.release(name, by: own)
    }
  }

  // MARK: Members

  func received(_ frame: CallFrame, from conversation: Conversation) {
    let node = conversation.member.id
    switch frame {
    case .claim(let claim):
      _ = change { state, _ in
        // Behind our own claims that it did not know.
        conversation.tell(.heard(name: claim.name, time: claim.time))
        return state.claims.claim(claim, by: node)
      }
    case .release(let name): _ = change { state, _ in state.claims.release(name, by: node) }
    case .heard(let name, let time): heard(by: node) { $0.name == name && $0.time == time }
    case .hello, .goodbye, .call, .result, .failure, .cancel, .begin, .next, .signal, .unknown: break
    }
  }

  /// A member has an actor system, another one than before.
  func greeted(_ conversation: Conversation) {
    _ = change { state, _ in
      for claim in state.claims.claims(of: own) { conversation.tell(.claim(claim)) }
      return state.claims.left(conversation.member.id)
    }
  }

  func left(_ member: Member) {
    _ = change { state, _ in state.claims.left(member.id) }
    heard(by: member.id) { _ in true }
  }

  private func heard(by node: NodeID, of isMeant: (Waiting) -> Bool) {
    let done = state.withLock { state in
      var done: [UnsafeContinuation<Bool, Never>] = []
      for (number, var wait) in state.waiting where isMeant(wait) {
        wait.members.remove(node)
        state.waiting[number] = wait.members.isEmpty ? nil : wait
        if wait.members.isEmpty { done.append(wait.continuation) }
      }
      return done
    }
    for continuation in done { continuation.resume(returning: true) }
  }

  /// Changes the claims, and tells what has changed. A claim of this node that has no effect any more goes.
  ///
  /// Members are told under the lock: a member that hears that we have heard of its claim has heard of ours before.
  /// - Parameter body: gets those to tell; gives nil if it may not be.
  private func change(_ body: (inout State, [Conversation]) -> [NameClaims<NodeID>.Change]?) -> Bool {
    let (changes, system) = state.withLock { state -> ([NameClaims<NodeID>.Change]?, PiconetActorSystem?) in
      let system = state.system
      let conversations = (system?.allConversations ?? []).filter { $0.hasGreeted && $0.departure == nil }
      guard var changes = body(&state, conversations) else { return (nil, system) }
      for claim in state.claims.claims(of: own) where state.claims.standing(of: own, for: claim.name) == .none {
        changes += state.claims.release(claim.name, by: own)
        for conversation in conversations { conversation.tell(.release(name: claim.name)) }
      }
      return (changes, system)
    }
    guard let changes else { return false }
    for case .owner(let name, let former, let owner) in changes {
      system?.tell(.ownerChanged(name: name, from: former, to: owner))
    }
    return true
  }
}
