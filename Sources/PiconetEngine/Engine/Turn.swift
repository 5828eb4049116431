import PiconetWire

/// One turn of the engine: from a fact to its effects, or from a batch of facts to a flush. It carries what every
/// machine needs and none owns: the time, the effects so far, the links that have something to transmit, and what the
/// application knows of each peer.
///
/// There is one, which the engine lends to its machines; nothing keeps it.
struct Turn: ~Copyable {
  /// When the fact came.
  private(set) var now = Instant(nanoseconds: 0)
  /// For the driver, in the order in which they are done.
  private(set) var effects: [Effect] = []
  /// Links with something to transmit, looked at by the next flush.
  private(set) var links = LinksToFlush()
  /// Something may be due earlier than the engine has said.
  var deadlinesMoved = false
  /// Peers for which more is kept than may be: their associations end with the fact that made it so.
  var crowded: Set<NodeID> = []
  var conditions = PeerConditions()
  var places = OpenPlaces()
  /// Messages of one association that came with one fact, and are delivered at once.
  private var arrived: (node: NodeID, messages: [Bytes])?
  /// Bytes of the read that they are slices of.
  var readCount = 0

  /// Begins at a fact or a flush. The effects are the caller's: they are appended to, not copied.
  mutating func begin(at now: Instant, _ effects: inout [Effect]) {
    self.now = now
    swap(&self.effects, &effects)
  }

  /// Gives the caller its effects back.
  mutating func end(_ effects: inout [Effect]) {
    swap(&self.effects, &effects)
  }

  mutating func add(_ effect: Effect) { effects.append(effect) }

  // MARK: What the application is told

  /// Delivers an event behind the messages that came before it, and the changes of peers' states that it means.
  mutating func deliver(_ event: Event) {
    deliverArrived()
    effects.append(.deliver(event))
    tell(conditions.fold(event))
  }

  /// Changes of peers' states, behind what brought them about.
  mutating func tell(_ changes: [Event]) {
    for change in changes { effects.append(.deliver(change)) }
  }

  /// The one answer to a command.
  mutating func reply(_ command: CommandID, _ reply: Reply) {
    deliverArrived()
    effects.append(.reply(command, reply))
  }

  /// A message has come. It waits for others of the same fact.
  mutating func arrived(_ message: Bytes, from node: NodeID) {
    if arrived?.node == node {
      arrived?.messages.append(message)
    } else {
      deliverArrived()
      arrived = (node, [message])
    }
  }

  mutating func deliverArrived() {
    guard case (let node, var messages)? = arrived else { return }
    arrived = nil
    // They are slices of what was read, and may wait for the application: a few short ones among frames that are
    // skipped would keep all of it alive for the credit of a few bytes.
    if messages.count * 64 < readCount, messages.reduce(1_024, { $0 + 4 * $1.count }) < readCount {
      messages = messages.map { Array($0)[...] }
    }
    effects.append(.deliver(.messagesReceived(node, messages, .reliable)))
  }

  // MARK: Links

  /// The link, if there is one, is looked at by the next flush.
  mutating func flush(_ link: Link?) {
    if let link { links.insert(link.id) }
  }

  /// The link is gone.
  mutating func forget(_ link: Link) { links.remove(link.id) }

  /// The only link that is to be looked at, taken out; nil where there is none, or several.
  mutating func takeOnlyLink() -> LinkID? { links.takeOnly() }

  /// All of them, in the order of their numbers.
  mutating func takeLinks() -> [LinkID] { links.takeAll() }
}
