import PiconetEngine
import PiconetFiles
import PiconetHTTP
import PiconetRuntime
import PiconetTLS
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
  /// Has the codes that are typed.
  let prover: TypedCodeProver
  private let mailbox: BatchMailbox<NodeInput>
  /// Looks at the connection to a peer; set and called on the loop only.
  var look: ((NodeID) -> AssociationStatistics?)?
  /// How a key stands with this device; set and called on the loop only.
  var standing: ((PeerID) -> KnownPeersJudge.Standing)?
  /// On the loop only.
  private(set) var advertised = AdvertisedNames()

  let peers = Watched<[NodeID: PeerSummary]>([:])
  let messages: MessageQueue
  // The engine's limits bound these and `incomingStreams`: what has ended is taken back.
  let offers = HappeningQueue<IncomingOffer>(limit: .max)
  let invitations = HappeningQueue<Invitation>(limit: .max)
  let membership = HappeningQueue<MembershipChange>(limit: 4096)
  let refusals = HappeningQueue<RefusedPeer>(limit: 64)
  let failedCodes = HappeningQueue<FailedCode>(limit: 64)
  let incomingStreams = HappeningQueue<IncomingStream>(limit: .max)
  let streams = OpenStreams()
  let states = PeerStateBoard()
  private let messageWindow: Int

  private struct State {
    var members: [NodeID: Member] = [:]
    /// Of those: what a message is told apart by, at hand without a look at the member.
    var memberships: InlineFirstDictionary<NodeID, UInt64> = [:]
    /// What each member is reached over; nothing for one that is suspended.
    var transports: [NodeID: TransportKind] = [:]
    var budgets: InlineFirstDictionary<NodeID, SendBudget> = [:]
    var proven: [NodeID: ProvenMember] = [:]
    var open: [NodeID: Watched<PiconetError?>] = [:]
    var replies: [CommandID: CheckedContinuation<Reply, Never>] = [:]
    /// Whom to tell of invitations of ours.
    var inviting: [CommandID: Inviting] = [:]
    var nextCommand: UInt64 = 1
    var sending: [TransferID: OutgoingTransfer] = [:]
    /// The offers that they were made by.
    var offering: [CommandID: OutgoingTransfer] = [:]
    var receiving: [TransferID: IncomingTransferState] = [:]
    /// URLs that are being fetched.
    var fetches: [ObjectIdentifier: HTTPFetch] = [:]
    var confirmations: [UInt64: Task<Void, Never>] = [:]
    var nextMembership: UInt64 = 0
    var isClosed = false
    var finished: CheckedContinuation<Void, Never>?
    var isFinished = false
  }

  /// Who wants to hear of an invitation of ours; called on the loop.
  struct Inviting: Sendable {
    /// The peer is proven and has been asked.
    var proven: (@Sendable (ProvenMember) -> Void)?
    /// The code is on its screen.
    var code: (@Sendable (ProvenMember, String) -> Void)?
  }

  private let state = Mutex(State())

  /// - Parameter take: called on the loop with what was submitted.
  init(
    id: NodeID, configuration: NodeConfiguration, messageWindow: Int, loop: EventLoop, worker: WorkerThread,
    prover: TypedCodeProver, take: @escaping (inout [NodeInput]) -> Void
  ) {
    self.id = id
    self.configuration = configuration
    self.messageWindow = messageWindow
    messages = MessageQueue(window: messageWindow, limit: 2 * messageWindow * configuration.capacity)
    self.loop = loop
    executor = LoopTaskExecutor(loop: loop)
    self.worker = worker
    self.prover = prover
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

  /// As `command`, about a member: refused if this membership is over when the loop comes to it.
  func command(_ command: Command, of member: Member) async -> Reply {
    await reply { id in self.input(command, id, of: member) }
  }

  /// As that, but a cancelled task does not even wait for the reply.
  func commandUnlessCancelled(
    _ command: Command, of member: Member, onCancel: @escaping @Sendable (CommandID) -> Command
  ) async -> Reply {
    await reply(leavesWhenCancelled: true, onCancel: onCancel) { id in self.input(command, id, of: member) }
  }

  private func input(_ command: Command, _ id: CommandID, of member: Member) -> NodeInput {
    input(.fact(.commanded(id, command)), of: member) { [self] in replied(id, .failed(Self.hasLeft)) }
  }

  /// An input that is meant for this membership. It is looked at on the loop, where memberships begin and end: who has left may have come
  /// back while it was on its way, and is another member then.
  func input(_ input: NodeInput, of member: Member, refused: @escaping @Sendable () -> Void) -> NodeInput {
    .conditional(input, { [self] in isCurrent(member) }, refused: refused)
  }

  static let hasLeft = Ending(.noSuchAssociation, .us, "it has left")

  static let taskCancelled = Ending(.cancelled, .us, "the calling task was cancelled")

  func invite(
    _ target: InvitationTarget, context: [UInt8], timeout: Duration, code: TypedCodeID?, _ inviting: Inviting
  ) async -> Reply {
    let id = makeCommand()
    state.withLock { $0.inviting[id] = inviting }
    defer { state.withLock { $0.inviting[id] = nil } }
    return await reply(id, onCancel: { .cancelInvitation($0) }) { id in
      .fact(.commanded(id, .invite(target, context: context, timeout: timeout, code: code)))
    }
  }

  /// - Parameter leavesWhenCancelled: a cancelled task gets `taskCancelled`, and what comes of the command is nobody's.
  func reply(
    _ command: CommandID? = nil, leavesWhenCancelled: Bool = false, onCancel: (@Sendable (CommandID) -> Command)? = nil,
    to input: @Sendable (CommandID) -> NodeInput
  ) async -> Reply {
    let id = command ?? makeCommand()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let refusal = state.withLock { state -> Ending? in
          if state.isClosed { return Ending(.shuttingDown, .us) }
          if leavesWhenCancelled, Task.isCancelled { return Self.taskCancelled }
          state.replies[id] = continuation
          return nil
        }
        if let refusal { return continuation.resume(returning: .failed(refusal)) }
        submit(input(id))
        // A task that was cancelled before had nothing to cancel then.
        if Task.isCancelled, let onCancel { submit(.fact(.commanded(makeCommand(), onCancel(id)))) }
      }
    } onCancel: {
      if leavesWhenCancelled {
        let continuation = state.withLock { $0.replies.removeValue(forKey: id) }
        continuation?.resume(returning: .failed(Self.taskCancelled))
      }
      if let onCancel { submit(.fact(.commanded(makeCommand(), onCancel(id)))) }
    }
  }

  // MARK: What is known

  var members: [Member] {
    state.withLock { Array($0.members.values) }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }

  func statistics(of member: Member) async -> AssociationStatistics? {
    isClosed ? nil : await loop.perform { [self] in isCurrent(member) ? look?(member.id) : nil }
  }

  func standing(of peer: PeerID) async -> KnownPeersJudge.Standing {
    isClosed
      ? KnownPeersJudge.Standing() : await loop.perform { [self] in standing?(peer) ?? KnownPeersJudge.Standing() }
  }

  /// Whether the peer was advertised lately under the name that it has now.
  func wasAdvertised(_ peer: ProvenMember) async -> Bool {
    isClosed
      ? false
      : await loop.perform { [self] in advertised.names(of: peer.fingerprint, at: .now).contains(peer.name) }
  }

  func member(_ id: NodeID) -> Member? { state.withLock { $0.members[id] } }

  /// Whether the peer is a member by this very membership: who has left may have come back since, and is another member then.
  func isCurrent(_ member: Member) -> Bool {
    state.withLock { $0.memberships[member.id] == member.membership }
  }

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

  /// Who is told of the transfer from now on.
  /// - Returns: false if the node does nothing any more.
  func expect(_ transfer: OutgoingTransfer, _ command: CommandID) -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      state.sending[transfer.transfer] = transfer
      state.offering[command] = transfer
      return true
    }
  }

  /// A fetch ends with the node at the latest.
  /// - Returns: false if the node does nothing any more.
  func watch(_ fetch: HTTPFetch) -> Bool {
    state.withLock { state in
      if !state.isClosed { state.fetches[ObjectIdentifier(fetch)] = fetch }
      return !state.isClosed
    }
  }

  /// Ends a fetch on a thread that may wait for it.
  func close(_ fetch: HTTPFetch) {
    forget(fetch)
    if !worker.submit({ fetch.close() }) { fetch.close() }
  }

  /// It has ended.
  func forget(_ fetch: HTTPFetch) { state.withLock { _ = $0.fetches.removeValue(forKey: ObjectIdentifier(fetch)) } }

  // MARK: What the loop tells

  func happened(_ event: Event) {
    switch event {
    case .messagesReceived(let node, let batch, let mode):
      let cost = batch.reduce(0) { $0 + $1.count + WireLimits.messageCost }
      guard let membership = state.withLock({ $0.memberships[node] }) else { return }
      messages.push(MessageBatch(node: node, membership: membership, messages: batch, mode: mode, cost: cost))
    case .peerFound(let summary), .peerChanged(let summary):
      advertised.seen(summary.node, as: summary.name, at: .now)
      peers.update { $0[summary.node] = summary }
    case .peerLost(let node):
      advertised.lost(node, at: .now)
      peers.update { $0[node] = nil }
    case .connected(let peer): connected(peer)
    case .disconnected(let node, let ending): disconnected(node, ending)
    case .suspended(let node, let ending): suspended(node, ending)
    case .resumed(let node, let traits): resumed(node, over: traits.kind)
    case .invitationReceived(let peer, let context, _, let comparesCodes): invited(peer, context, comparesCodes)
    case .invitationEnded(let node, let ending):
      guard let invitation = state.withLock({ $0.open.removeValue(forKey: node) }) else { return }
      invitation.update { $0 = PiconetError(ending, peer: node) }
      invitations.remove { $0.state === invitation }
    case .stateChanged(let node, let name, let condition): states.changed(node, name: name, condition)
    case .confirmationNeeded(let peer, let code): confirm(proven(peer), code)
    case .peerRefused(let node, let name, let traits, let ending, let untold):
      refusals.push(RefusedPeer(node, name: name, traits, ending, untold: untold))
    case .codeFailed(let peer, _, let left, let ending): failedCodes.push(FailedCode(peer, left: left, ending))
    case .invitationSent(let command, let peer):
      let waiting = state.withLock { $0.inviting[command] }
      waiting?.proven?(proven(peer))
    case .codeShown(let command, let peer, let code):
      let waiting = state.withLock { $0.inviting[command] }
      waiting?.code?(proven(peer), code)
    case .offerReceived(let transfer, let node, let offer): offered(transfer, node, offer)
    case .transferAccepted(let transfer, let offset): sending(transfer)?.accepted(offset: offset)
    case .transferProgressed(let transfer, let stored): sending(transfer)?.stored(stored)
    case .transferCompared(let transfer, let count): sending(transfer)?.compared(count)
    case .transferPaused(let transfer, let isPaused):
      sending(transfer)?.paused(isPaused)
      state.withLock { $0.receiving[transfer] }?.paused(isPaused)
    case .streamReceived(let stream, let bytes): streams.incoming(stream)?.push(bytes)
    case .streamOpened(let stream, let node, let name): streamOpened(stream, from: node, name: name)
    case .streamEnded(let stream, let end): streamEnded(stream, end)
    case .streamStopped(let stream, let ending): streamStopped(stream, ending)
    case .transferEnded(let transfer, let ending):
      guard let incoming = state.withLock({ $0.receiving.removeValue(forKey: transfer) }) else { return }
      incoming.end(ending)
      offers.remove { $0.state === incoming }
    }
  }

  private func proven(_ peer: ProvenPeer) -> ProvenMember {
    ProvenMember(peer, standing?(peer.node.peer) ?? KnownPeersJudge.Standing())
  }

  private func connected(_ peer: ProvenPeer) {
    let proven = proven(peer)
    let (member, invitation) = state.withLock { state in
      state.nextMembership += 1
      let member = Member(
        proven: proven, core: self, budget: SendBudget(limit: messageWindow), membership: state.nextMembership)
      state.members[proven.id] = member
      state.memberships[proven.id] = member.membership
      state.transports[proven.id] = proven.transport
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
      state.transports[node] = nil
      state.memberships[node] = nil
      return state.members.removeValue(forKey: node)
    }
    if let member {
      messages.left(member.membership)
      member.budget.end(error)
    }
    // Those that nobody has taken go with the member.
    incomingStreams.remove { $0.sender.id == node }
    membership.push(.left(node, error))
  }

  private func suspended(_ node: NodeID, _ ending: Ending) {
    let member = state.withLock { state in
      state.transports[node] = nil
      return state.members[node]
    }
    if let member { membership.push(.suspended(member, PiconetError(ending, peer: node))) }
  }

  private func resumed(_ node: NodeID, over transport: TransportKind) {
    let member = state.withLock { state in
      if state.members[node] != nil { state.transports[node] = transport }
      return state.members[node]
    }
    if let member { membership.push(.resumed(member, transport)) }
  }

  /// What a member is reached over; nil for a former membership.
  func transport(of member: Member) -> TransportKind? {
    state.withLock { state in
      state.members[member.id]?.membership == member.membership ? state.transports[member.id] : nil
    }
  }

  /// A reader has read all of these messages.
  func consumed(_ batch: MessageBatch) {
    guard batch.mode == .reliable, messages.isCurrent(batch.membership) else { return }
    submit(.fact(.messagesConsumed(batch.node, byteCount: batch.cost)))
  }

  private func invited(_ peer: ProvenPeer, _ context: [UInt8], _ comparesCodes: Bool) {
    let member = proven(peer)
    if case .remembered = configuration.trust, !member.rights.contains(.push) {
      // It may be sent to, and no more.
      return submit(.fact(.commanded(makeCommand(), .answerInvitation(member.id, accept: false, .declined))))
    }
    let invitation = Invitation(
      peer: member, context: context, comparesCodes: comparesCodes, core: self, state: Watched(nil))
    state.withLock { $0.open[peer.node] = invitation.state }
    invitations.push(invitation)
  }

  private func confirm(_ member: ProvenMember, _ code: String) {
    guard let ask = configuration.confirm else {
      return submit(.fact(.commanded(makeCommand(), .confirm(member.id, false, .identity))))
    }
    let id = makeCommand().rawValue
    state.withLock { state in
      state.confirmations[id] = Task { [self] in
        let isSame = await ask(member, code)
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

  private func sending(_ transfer: TransferID) -> OutgoingTransfer? { state.withLock { $0.sending[transfer] } }

  func storeProgressed(_ transfer: TransferID, stored: UInt64) {
    state.withLock { $0.receiving[transfer] }?.progressed(stored)
  }

  func replied(_ command: CommandID, _ reply: Reply) {
    let (continuation, transfer) = state.withLock { state in
      let transfer = state.offering.removeValue(forKey: command)
      if let transfer { state.sending[transfer.transfer] = nil }
      return (state.replies.removeValue(forKey: command), transfer)
    }
    continuation?.resume(returning: reply)
    transfer?.ended(reply)
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
    streams.endSending(PiconetError(.shuttingDown, blame: .us))
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
    let (replies, incoming, outgoing, fetches, budgets, open, confirmations) = state.withLock { state in
      state.isClosed = true
      defer {
        state.replies = [:]
        state.receiving = [:]
        state.sending = [:]
        state.offering = [:]
        state.fetches = [:]
        state.budgets = [:]
        state.members = [:]
        state.memberships = [:]
        state.transports = [:]
        state.open = [:]
        state.confirmations = [:]
      }
      return (
        Array(state.replies.values), Array(state.receiving.values), Array(state.offering.values),
        Array(state.fetches.values),
        Array(state.budgets.values),
        Array(state.open.values), Array(state.confirmations.values)
      )
    }
    for continuation in replies { continuation.resume(returning: .failed(ending)) }
    for fetch in fetches { fetch.close() }
    for transfer in incoming { transfer.end(ending) }
    for transfer in outgoing { transfer.ended(.failed(ending)) }
    for confirmation in confirmations { confirmation.cancel() }
    for budget in budgets { budget.end(PiconetError(ending, peer: nil)) }
    for invitation in open { invitation.finish() }
    streams.end(PiconetError(ending, peer: nil))
    incomingStreams.remove { _ in true }
    incomingStreams.finish()
    messages.finish()
    offers.finish()
    invitations.finish()
    refusals.finish()
    failedCodes.finish()
    membership.finish()
    states.finish()
    peers.finish()
  }
}
