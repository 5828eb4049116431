import PiconetWire

/// One turn of the engine: from a fact to its effects, or from a batch of facts to a flush. It carries what all
/// machines need and none of them owns. That is the time, the effects so far, the links with something to transmit,
/// what the application knows about each peer, dials under way and random numbers.
///
/// An engine has one turn and lends it to its machines; nothing else keeps it. It is an object, because moving a value
/// into each fact and back costs 500 instructions a fact. Fields that every turn reads skip the exclusivity check, for
/// the reason given at `Association`.
final class Turn {
  /// The node whose engine it is.
  let node: NodeID
  /// When the fact came.
  @exclusivity(unchecked) private(set) var now = Instant(nanoseconds: 0)
  /// Effects for the driver, in the order in which they must be done.
  @exclusivity(unchecked) private(set) var effects: [Effect] = []
  /// Links with something to transmit, looked at by the next flush.
  @exclusivity(unchecked) private(set) var links = LinksToFlush()
  /// Peers for which more is kept than allowed. Their associations end with the fact that caused it.
  @exclusivity(unchecked) private var crowded: Set<NodeID> = []
  var conditions = PeerConditions()
  var handles = OpenHandles()
  /// Limits on what peers may ask by invitations, and how often.
  @exclusivity(unchecked) var budgets: InvitationBudgets { didSet { watch.changed() } }
  /// Nodes that members have introduced to us.
  let introduced: IntroducedNodes
  private var nextCode: UInt64 = 1
  private var nextOwnCommand = CommandID.firstOwn
  /// Replies to the engine's own commands, and nodes that have become members. The engine still has to look at both.
  @exclusivity(unchecked) private var ownReplies: [(CommandID, Reply)] = []
  @exclusivity(unchecked) private var joined: [NodeID] = []
  /// Steps that halves of relayed tunnels pass to their other halves.
  @exclusivity(unchecked) private var relaySteps = FirstInFirstOut<RelayStep>()
  /// Memberships begun in this run, with all peers.
  private(set) var membershipCount: UInt64 = 0
  private(set) var dials = DialTable()
  var random: SeededRandom
  @exclusivity(unchecked) private var arrived: Arrived?
  /// The size of the read that `arrived` holds slices of, in bytes.
  @exclusivity(unchecked) private var readCount = 0

  @exclusivity(unchecked) private var havePlacesChanged = false

  /// The ports on which we listen.
  private(set) var listeningPorts: [ListeningPort] = []

  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  /// Messages in one channel of one association that came with one fact. They are delivered together.
  private struct Arrived {
    let node: NodeID
    let channel: MessageChannel
    private(set) var messages: [Bytes]

    /// - Returns: false if the message belongs to another association or channel.
    mutating func append(_ message: Bytes, from node: NodeID, in channel: MessageChannel) -> Bool {
      guard self.node == node, self.channel == channel else { return false }
      messages.append(message)
      return true
    }
  }

  init(_ node: NodeID, seed: UInt64, _ budgets: InvitationBudgets, _ watch: DeadlineWatch) {
    self.node = node
    random = SeededRandom(seed: seed)
    self.budgets = budgets
    self.watch = watch
    introduced = IntroducedNodes(watch)
  }

  /// Begins with a fact or a flush. The effects are the caller's array, which is appended to, not copied.
  func begin(at now: Instant, _ effects: inout [Effect]) {
    self.now = now
    swap(&self.effects, &effects)
  }

  /// Returns the effects to the caller.
  func end(_ effects: inout [Effect]) {
    swap(&self.effects, &effects)
  }

  func add(_ effect: Effect) { effects.append(effect) }

  /// - Returns: the number of the membership that begins.
  func countMembership() -> UInt64 {
    membershipCount += 1
    return membershipCount
  }

  // MARK: The engine's own invitations

  /// Returns the number for a command of the engine's own.
  func takeOwnCommand() -> CommandID {
    defer { nextOwnCommand += 1 }
    return CommandID(rawValue: nextOwnCommand)
  }

  var hasToSettle: Bool { !ownReplies.isEmpty || !joined.isEmpty || !relaySteps.isEmpty || havePlacesChanged }
  func takeOwnReply() -> (CommandID, Reply)? { ownReplies.isEmpty ? nil : ownReplies.removeFirst() }
  func takeJoined() -> NodeID? { joined.isEmpty ? nil : joined.removeFirst() }

  /// Notes that a node has got or lost a place in the group, or has said something about places.
  func placesChanged() { havePlacesChanged = true }

  /// - Returns: whether something about places has changed.
  func takePlacesChanged() -> Bool {
    defer { havePlacesChanged = false }
    return havePlacesChanged
  }

  func relay(_ step: RelayStep) { relaySteps.append(step) }
  func takeRelayStep() -> RelayStep? { relaySteps.popFirst() }

  // MARK: Peers that keep too much

  var hasCrowded: Bool { !crowded.isEmpty }

  func addCrowded(_ node: NodeID) { crowded.insert(node) }

  /// Takes out the peers for which too much is kept, in order.
  func takeCrowded() -> [NodeID] {
    defer { crowded = [] }
    return crowded.sorted()
  }

  // MARK: Codes

  /// Returns the number for a short code, or for the proof of a typed one.
  func takeCodeID() -> CodeID {
    defer { nextCode += 1 }
    return CodeID(rawValue: nextCode)
  }

  /// Asks the driver to draw a nonce for a short code.
  func drawNonce() -> CodeID {
    let id = takeCodeID()
    add(.drawNonce(id))
    return id
  }

  // MARK: Questions

  /// Takes out the nodes whose questions the application is told of now.
  func takeQuestions() -> [NodeID] {
    guard budgets.hasQuestions else { return [] }
    return budgets.takeQuestions(at: now)
  }

  // MARK: Reports to the application

  /// Delivers an event after the messages that came before it. Then it delivers the changes of peers' states that the
  /// event implies.
  func deliver(_ event: Event) {
    deliverArrived()
    if case .connected(let peer) = event { joined.append(peer.node) }
    effects.append(.deliver(event))
    tell(conditions.fold(event))
  }

  /// Reports changes of peers' states, after the events that caused them.
  func tell(_ changes: [Event]) {
    for change in changes { effects.append(.deliver(change)) }
  }

  /// Gives the one answer to a command with a result.
  func reply<Kind>(_ caller: Caller<Kind>, _ answer: Answer<Kind>) { reply(caller.command, with: answer.reply) }

  /// Gives the one answer to a command without a result. Any command may fail before it is taken.
  func reply(_ command: CommandID, _ completion: Completion) {
    switch completion {
    case .done: reply(command, with: .done)
    case .failed(let ending): reply(command, with: .failed(ending))
    }
  }

  private func reply(_ command: CommandID, with reply: Reply) {
    if command.isOwn { return ownReplies.append((command, reply)) }
    deliverArrived()
    effects.append(.reply(command, reply))
  }

  /// Notes the size of the read, in bytes. The messages of this fact are slices of it.
  func began(reading count: Int) { readCount = count }

  /// Adds an incoming message, which waits for others of the same fact.
  func arrived(_ message: Bytes, from node: NodeID, in channel: MessageChannel) {
    if arrived?.append(message, from: node, in: channel) == true { return }
    deliverArrived()
    arrived = Arrived(node: node, channel: channel, messages: [message])
  }

  func deliverArrived() {
    guard let arrived else { return }
    self.arrived = nil
    var messages = arrived.messages
    // The messages are slices of the read, and may wait for the application. A few short ones among skipped frames
    // would keep the whole read alive for a few bytes of credit.
    if messages.count * 64 < readCount, messages.reduce(1_024, { $0 + 4 * $1.count }) < readCount {
      messages = messages.map { Array($0)[...] }
    }
    effects.append(.deliver(.messagesReceived(arrived.node, messages, .reliable, in: arrived.channel)))
  }

  // MARK: Dials

  func dial(_ kind: TransportKind, _ addresses: [TransportAddress], for purpose: DialTable.Purpose) {
    add(.dial(dials.begin(kind, addresses, for: purpose), kind, addresses))
  }

  /// Takes out a dial that has ended, with a link or a failure.
  /// - Returns: nil if it was cancelled before.
  func takeDial(_ dial: DialID) -> DialTable.Dial? { dials.end(dial) }

  func cancelDials(for purpose: DialTable.Purpose) {
    for dial in dials.takeAll(for: purpose) { add(.cancelDial(dial)) }
  }

  // MARK: Links

  /// Notes that we listen on these ports from now on.
  /// - Returns: whether the ports have changed.
  func setListening(_ ports: [ListeningPort]) -> Bool {
    defer { listeningPorts = ports }
    return ports != listeningPorts
  }

  /// Makes the next flush look at the link, if there is one.
  func flush(_ link: Link?) {
    if let link { links.insert(link.id) }
  }

  /// Forgets a link that is gone.
  func forget(_ link: Link) { links.remove(link.id) }

  /// Takes out the only link to look at; nil unless there is exactly one.
  func takeOnlyLink() -> LinkID? { links.takeOnly() }

  /// Takes out all links to look at, in the order of their numbers.
  func takeLinks() -> [LinkID] { links.takeAll() }
}
