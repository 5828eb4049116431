import PiconetEngine
import PiconetFiles
import PiconetRuntime
import PiconetWire
import Synchronization

/// What node, session, members, invitations and offers share: the way to the loop, and what the loop has told.
final class NodeCore: NodeObserver, @unchecked Sendable {
  // Sendable is right: constants, values behind mutexes, and `mailbox`, which any thread may push to; the observer's methods
  // are called on the loop only.
  let id: NodeID
  let configuration: NodeConfiguration
  let loop: EventLoop
  let executor: LoopTaskExecutor
  let worker: WorkerThread
  private let mailbox: BatchMailbox<NodeInput>

  let peers = Watched<[NodeID: PeerSummary]>([:])
  let messages: MessageQueue
  // The engine's limits bound these two: what has ended is taken back.
  let offers = HappeningQueue<IncomingOffer>(limit: .max)
  let invitations = HappeningQueue<Invitation>(limit: .max)
  let membership = HappeningQueue<MembershipChange>(limit: 4096)
  private let messageWindow: Int

  private struct State {
    var members: [NodeID: Member] = [:]
    var budgets: [NodeID: SendBudget] = [:]
    var proven: [NodeID: ProvenMember] = [:]
    var open: [NodeID: Watched<PiconetError?>] = [:]
    var replies: [CommandID: CheckedContinuation<Reply, Never>] = [:]
    /// Whom to tell when the invited peer is proven.
    var inviting: [CommandID: @Sendable (ProvenMember) -> Void] = [:]
    var nextCommand: UInt64 = 1
    var sending: [TransferID: Outgoing] = [:]
    var receiving: [TransferID: IncomingTransferState] = [:]
    var confirmations: [UInt64: Task<Void, Never>] = [:]
    var nextMembership: UInt64 = 0
    var isClosed = false
    var finished: CheckedContinuation<Void, Never>?
    var isFinished = false
  }

  struct Outgoing {
    var total: UInt64
    var progress: (@Sendable (UInt64, UInt64) -> Void)?
  }

  private let state = Mutex(State())

  /// - Parameter take: called on the loop with what was submitted.
  init(
    id: NodeID, configuration: NodeConfiguration, messageWindow: Int, loop: EventLoop, worker: WorkerThread,
    take: @escaping ([NodeInput]) -> Void
  ) {
    self.id = id
    self.configuration = configuration
    self.messageWindow = messageWindow
    messages = MessageQueue(window: messageWindow, limit: 2 * messageWindow * configuration.capacity)
    self.loop = loop
    executor = LoopTaskExecutor(loop: loop)
    self.worker = worker
    mailbox = BatchMailbox(loop: loop, limit: .max, handler: take)
  }

  // MARK: Towards the loop

  /// Bounded by the budgets of members, and by what the application asks for at once.
  func submit(_ input: NodeInput) { _ = mailbox.push(input) }

  func makeCommand() -> CommandID {
    state.withLock { state in
      state.nextCommand += 1
      return CommandID(rawValue: state.nextCommand)
    }
  }

  /// Gives a command and waits for its reply. When the task is cancelled, `onCancel` is given as a further command.
  func command(
    _ command: Command, onCancel: (@Sendable (CommandID) -> Command)? = nil
  ) async -> Reply {
    await reply(onCancel: onCancel) { id in .fact(.commanded(id, command)) }
  }

  /// - Parameter proven: called on the loop when the peer of an invitation is proven and has been asked.
  func invite(
    _ target: InvitationTarget, context: [UInt8], timeout: Duration,
    proven: (@Sendable (ProvenMember) -> Void)?
  ) async -> Reply {
    let id = makeCommand()
    if let proven { state.withLock { $0.inviting[id] = proven } }
    defer { state.withLock { $0.inviting[id] = nil } }
    return await reply(id, onCancel: { .cancelInvitation($0) }) { id in
      .fact(.commanded(id, .invite(target, context: context, timeout: timeout)))
    }
  }

  func reply(
    _ command: CommandID? = nil, onCancel: (@Sendable (CommandID) -> Command)? = nil,
    to input: @Sendable (CommandID) -> NodeInput
  ) async -> Reply {
    let id = command ?? makeCommand()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isClosed = state.withLock { state in
          if !state.isClosed { state.replies[id] = continuation }
          return state.isClosed
        }
        if isClosed { return continuation.resume(returning: .failed(Ending(.shuttingDown, .us))) }
        submit(input(id))
        // A task that was cancelled before had nothing to cancel then.
        if Task.isCancelled, let onCancel { submit(.fact(.commanded(makeCommand(), onCancel(id)))) }
      }
    } onCancel: {
      if let onCancel { submit(.fact(.commanded(makeCommand(), onCancel(id)))) }
    }
  }

  // MARK: What is known

  var members: [Member] {
    state.withLock { Array($0.members.values) }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }

  func member(_ id: NodeID) -> Member? { state.withLock { $0.members[id] } }

  /// Nothing is done any more.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Whether the invitation waits for its answer.
  func isOpen(_ invitation: Invitation) -> Bool { state.withLock { $0.open[invitation.id] === invitation.state } }

  func answered(_ invitation: Invitation) {
    state.withLock { state in
      if state.open[invitation.id] === invitation.state { state.open[invitation.id] = nil }
    }
  }

  // MARK: Transfers

  func expect(_ transfer: TransferID, _ outgoing: Outgoing) { state.withLock { $0.sending[transfer] = outgoing } }

  func forgetSending(_ transfer: TransferID) { state.withLock { $0.sending[transfer] = nil } }

  // MARK: What the loop tells

  func happened(_ event: Event) {
    switch event {
    case .messagesReceived(let node, let batch, let mode):
      let cost = batch.reduce(0) { $0 + $1.count + WireLimits.messageCost }
      guard let membership = member(node)?.membership else { return }
      messages.push(MessageBatch(node: node, membership: membership, messages: batch, mode: mode, cost: cost))
    case .peerFound(let summary), .peerChanged(let summary): peers.update { $0[summary.node] = summary }
    case .peerLost(let node): peers.update { $0[node] = nil }
    case .connected(let peer): connected(peer)
    case .disconnected(let node, let ending): disconnected(node, ending)
    case .invitationReceived(let peer, let context, _): invited(peer, context)
    case .invitationEnded(let node, let ending):
      guard let invitation = state.withLock({ $0.open.removeValue(forKey: node) }) else { return }
      invitation.update { $0 = PiconetError(ending, peer: node) }
      invitations.remove { $0.state === invitation }
    case .confirmationNeeded(let peer): confirm(ProvenMember(peer))
    case .invitationSent(let command, let peer):
      let waiting = state.withLock { $0.inviting[command] }
      waiting?(ProvenMember(peer))
    case .offerReceived(let transfer, let node, let offer): offered(transfer, node, offer)
    case .transferAccepted(let transfer, let offset):
      if offset > 0 { progressed(transfer, offset) }
    case .transferProgressed(let transfer, let stored): progressed(transfer, stored)
    case .transferEnded(let transfer, let ending):
      guard let incoming = state.withLock({ $0.receiving.removeValue(forKey: transfer) }) else { return }
      incoming.end(ending)
      offers.remove { $0.state === incoming }
    }
  }

  private func connected(_ peer: ProvenPeer) {
    let proven = ProvenMember(peer)
    let (member, invitation) = state.withLock { state in
      state.nextMembership += 1
      let member = Member(
        proven: proven, core: self, budget: SendBudget(limit: messageWindow), membership: state.nextMembership)
      state.members[proven.id] = member
      state.budgets[proven.id] = member.budget
      return (member, state.open.removeValue(forKey: proven.id))
    }
    if let invitation {
      // Answered: by `accept`, or by an invitation of ours, which nobody has to wait for then.
      invitation.finish()
      invitations.remove { $0.state === invitation }
    }
    messages.joined(member.membership)
    membership.push(.joined(member))
  }

  private func disconnected(_ node: NodeID, _ ending: Ending) {
    let error = PiconetError(ending, peer: node)
    let member = state.withLock { state in
      state.budgets[node] = nil
      return state.members.removeValue(forKey: node)
    }
    if let member {
      messages.left(member.membership)
      member.budget.end(error)
    }
    membership.push(.left(node, error))
  }

  /// A reader has read all of these messages.
  func consumed(_ batch: MessageBatch) {
    guard batch.mode == .reliable, messages.isCurrent(batch.membership) else { return }
    submit(.fact(.messagesConsumed(batch.node, byteCount: batch.cost)))
  }

  private func invited(_ peer: ProvenPeer, _ context: [UInt8]) {
    let invitation = Invitation(peer: ProvenMember(peer), context: context, core: self, state: Watched(nil))
    state.withLock { $0.open[peer.node] = invitation.state }
    invitations.push(invitation)
  }

  private func confirm(_ member: ProvenMember) {
    guard let ask = configuration.confirm else {
      return submit(.fact(.commanded(makeCommand(), .confirm(member.id, false, .identity))))
    }
    let id = makeCommand().rawValue
    state.withLock { state in
      state.confirmations[id] = Task { [self] in
        let isSame = await ask(member)
        submit(.fact(.commanded(makeCommand(), .confirm(member.id, isSame, .codeMismatch))))
        _ = self.state.withLock { $0.confirmations.removeValue(forKey: id) }
      }
    }
  }

  private func offered(_ transfer: TransferID, _ node: NodeID, _ offer: ResourceOffer) {
    guard let sender = member(node)?.proven else {
      return submit(.fact(.commanded(makeCommand(), .declineOffer(transfer, .declined, detail: ""))))
    }
    let incoming = IncomingTransferState(total: offer.size)
    state.withLock { $0.receiving[transfer] = incoming }
    offers.push(IncomingOffer(transfer, offer, sender: sender, state: incoming, core: self))
  }

  private func progressed(_ transfer: TransferID, _ stored: UInt64) {
    let outgoing = state.withLock { $0.sending[transfer] }
    if let outgoing { outgoing.progress?(stored, outgoing.total) }
  }

  func storeProgressed(_ transfer: TransferID, stored: UInt64) {
    state.withLock { $0.receiving[transfer] }?.progressed(stored)
  }

  func replied(_ command: CommandID, _ reply: Reply) {
    let continuation = state.withLock { $0.replies.removeValue(forKey: command) }
    continuation?.resume(returning: reply)
  }

  func messagesTaken(_ node: NodeID, cost: Int) { state.withLock { $0.budgets[node] }?.giveBack(cost) }

  func finished() {
    let waiter = state.withLock { state in
      state.isFinished = true
      defer { state.finished = nil }
      return state.finished
    }
    waiter?.resume()
  }

  // MARK: The end

  /// The node is stopping: what was sent before may still go, but nobody waits to send more.
  func endSending() {
    let budgets = state.withLock { Array($0.budgets.values) }
    for budget in budgets { budget.end(PiconetError(.shuttingDown, blame: .us)) }
  }

  func waitUntilFinished() async {
    await withCheckedContinuation { continuation in
      let isFinished = state.withLock { state in
        if !state.isFinished { state.finished = continuation }
        return state.isFinished
      }
      if isFinished { continuation.resume() }
    }
  }

  /// Nobody waits for ever: what is still open ends with `shuttingDown`.
  func end() {
    let ending = Ending(.shuttingDown, .us)
    let (replies, incoming, budgets, open, confirmations) = state.withLock { state in
      state.isClosed = true
      defer {
        state.replies = [:]
        state.receiving = [:]
        state.budgets = [:]
        state.members = [:]
        state.open = [:]
        state.confirmations = [:]
      }
      return (
        Array(state.replies.values), Array(state.receiving.values), Array(state.budgets.values),
        Array(state.open.values), Array(state.confirmations.values)
      )
    }
    for continuation in replies { continuation.resume(returning: .failed(ending)) }
    for transfer in incoming { transfer.end(ending) }
    for confirmation in confirmations { confirmation.cancel() }
    for budget in budgets { budget.end(PiconetError(ending, peer: nil)) }
    for invitation in open { invitation.finish() }
    messages.finish()
    offers.finish()
    invitations.finish()
    membership.finish()
    peers.finish()
  }
}
