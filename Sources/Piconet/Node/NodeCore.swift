import PiconetEngine
import PiconetIP
import PiconetRuntime
import PiconetTLS
import PiconetWire
import Synchronization

/// The state that node, session, members, invitations and offers share: the way to the loop, and what the loop has
/// reported.
final class NodeCore: NodeObserver, @unchecked Sendable {
  // Sendable is right: constants, values behind mutexes, and `inputs`, which any thread may push to; `judge` and
  // `security` are used only on the loop, where the observer's methods are also called.
  let id: NodeID
  let configuration: NodeConfiguration
  let loop: EventLoop
  let executor: LoopTaskExecutor
  let disk: DiskThreads
  var worker: WorkerThread { disk.worker }
  /// Holds the codes that are typed.
  let prover: TypedCodeProver
  /// Confined to the loop.
  let judge: KnownPeersJudge
  /// Confined to the loop.
  private let security: OpenSSLLinkSecurity
  private let inputs: BatchMailbox<NodeInput>
  let messageWindow: Int

  let peers = Watched<[NodeID: PeerSummary]>([:])
  let discoveryObstacles = Watched<[DiscoveryObstacle]>([])
  let log: SessionLog
  // The engine's limits bound it: invitations that have ended are removed.
  let invitations = EventQueue<Invitation>(limit: .max)
  // Bounded by the engine as well.
  let introductions = EventQueue<Introduction>(limit: .max)
  let separations = EventQueue<Separation>(limit: 256)
  let comparisons = EventQueue<CodeComparison>(limit: 256)
  let stateChanges = EventQueue<PeerStateChange>(limit: 4096)
  let refusals = EventQueue<RefusedPeer>(limit: 64)
  let failedCodes = EventQueue<FailedCode>(limit: 64)

  struct State {
    var isClosed = false
    var requests = PendingRequests()
    var members = MemberTable()
    var invitations = OpenInvitations()
    /// Keyed by the introduced node; the value is how its introduction ended.
    var introductions: [NodeID: Watched<InvitationOutcome?>] = [:]
    var introductionHistory = IntroductionHistory()
    /// Questions to a person who compares codes with a member.
    var comparisons: [NodeID: Task<Void, Never>] = [:]
    var transfers = TransferTable()
    var streams = OpenStreams()
  }

  /// Guards everything that both the loop and other threads change, except what each queue, stream and transfer guards
  /// for itself. No callback runs under it.
  private let state = Mutex(State())
  /// Set once `shutDown` is complete.
  private let isFinished = Outcome<Void>()
  private let lastNumber = Atomic<UInt64>(1)

  /// - Parameter inputs: the queue from which the loop takes what is submitted.
  init(
    id: NodeID, configuration: NodeConfiguration, messageWindow: Int, loop: EventLoop, disk: DiskThreads,
    prover: TypedCodeProver, judge: KnownPeersJudge, inputs: BatchMailbox<NodeInput>, security: OpenSSLLinkSecurity
  ) {
    self.id = id
    self.configuration = configuration
    self.messageWindow = messageWindow
    log = SessionLog(window: messageWindow, messageLimit: 2 * messageWindow * configuration.capacity)
    self.loop = loop
    executor = LoopTaskExecutor(loop: loop)
    self.disk = disk
    self.prover = prover
    self.judge = judge
    self.inputs = inputs
    self.security = security
  }

  /// Reads or changes the state, from any thread. `body` must be short, and makes no callbacks.
  func withState<Value>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

  // MARK: Towards the loop

  /// Bounded by the budgets of members, and by the number of requests that the application makes at once.
  func submit(_ input: consuming NodeInput) { _ = inputs.push(input) }

  /// Makes a number that is unique within this node.
  func makeNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

  func makeCommand() -> CommandID { CommandID(rawValue: makeNumber()) }

  // MARK: What is known

  /// Whether the node has ended.
  var isClosed: Bool { withState { $0.isClosed } }

  func standing(of peer: PeerID) async -> KnownPeersJudge.Standing {
    isClosed ? KnownPeersJudge.Standing() : await loop.perform { [self] in judge.standing(of: peer) }
  }

  /// Notes that an invitation of this peer begins: a stranger with its key must give its name.
  func seeks(_ peer: Peer) {
    if !isClosed { loop.execute { [self] in judge.seeks(peer.id.peer, as: peer.sought) } }
  }

  /// The name under which we looked for this peer, if the peer now uses a different one.
  func otherName(of peer: ProvenMember, than sought: String) async -> String? {
    if isClosed { return AdvertisedNames.isName(peer.name, advertisedAs: sought) ? nil : sought }
    return await loop.perform { [self] in judge.contradicted(peer.fingerprint, peer.name) }
  }

  /// Notes that this invitation has ended.
  func seeksNoMore(_ peer: Peer) {
    if !isClosed { loop.execute { [self] in judge.seeksNoMore(peer.id.peer, as: peer.sought) } }
  }

  func proven(_ peer: ProvenPeer) -> ProvenMember {
    let fingerprint = peer.node.peer
    return ProvenMember(
      peer, judge.standing(of: fingerprint), certificates: security.certificates(of: fingerprint))
  }

  // MARK: The end

  func finished() { isFinished.end(()) }

  /// Ends sending because the node is stopping. What was sent before may still go, but no task waits to send more.
  func endSending() {
    let (members, streams) = withState { ($0.members.all, Array($0.streams.outgoing.values)) }
    let error = PiconetError(.shuttingDown, blame: .us)
    for member in members { member.budgets.end(error) }
    for stream in streams { stream.stop(error) }
  }

  func waitUntilFinished() async { await isFinished.wait() }

  /// Waits until the node has ended; returns early when the calling task is cancelled.
  func waitUntilFinishedOrCancelled() async { _ = await isFinished.waitUnlessCancelled() }

  /// Ends what is still open with `shuttingDown`, so that no task waits forever.
  func end() {
    let ending = Ending(.shuttingDown, .us)
    let error = PiconetError(ending, peer: nil)
    let (requests, members, open, introduced, transfers, streams) = withState { state in
      state.isClosed = true
      defer { state.introductions = [:] }
      return (
        state.requests.takeAll(), state.members.takeAll(), state.invitations.takeAll(),
        Array(state.introductions.values), state.transfers.takeAll(), state.streams
      )
    }
    for request in requests { request.failed(ending) }
    for fetch in transfers.fetches { fetch.close() }
    for transfer in transfers.receiving { transfer.end(ending) }
    let questions = withState { state in
      defer { state.comparisons = [:] }
      return Array(state.comparisons.values)
    }
    for question in open.confirmations + questions { question.cancel() }
    for member in members { member.end(error) }
    for invitation in open.invitations { invitation.finish() }
    for introduction in introduced { introduction.finish() }
    for stream in streams.outgoing.values { stream.stop(error) }
    for buffer in streams.incoming.values { buffer.end(.lost(error)) }
    // Unread invitations are over, too, and would keep the node alive.
    invitations.remove { _ in true }
    introductions.remove { _ in true }
    comparisons.remove { _ in true }
    log.removeOffers { _ in true }
    log.removeStreams { _ in true }
    finishQueues()
  }

  private func finishQueues() {
    log.finish()
    invitations.finish()
    introductions.finish()
    separations.finish()
    comparisons.finish()
    refusals.finish()
    failedCodes.finish()
    stateChanges.finish()
    peers.finish()
    discoveryObstacles.finish()
  }
}
