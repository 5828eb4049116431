import PiconetEngine
import PiconetWire

/// An entry of a node's mailbox.
enum Mail {
  case fact(Fact)
  /// A message whose content is made when the engine takes it: only then is its association known.
  case message(NodeID, size: Int, DeliveryMode, in: MessageChannel)
  /// A message about calls, for only this membership.
  case callMessage(NodeID, AssociationID, [UInt8], in: MessageChannel)
}

/// One node with everything around its engine: the driver's tables, the disk, the application.
final class SimulatedNode {
  let index: Int
  let peer: PeerID
  var life = 0
  var node: NodeID
  var engine: SessionEngine
  /// False while crashed.
  var isAlive = true
  /// Whether the engine has reported that it has finished.
  var isFinished = false

  var mailbox: [Mail] = []
  var isTurnEntered = false
  var pausedUntil: UInt64 = 0
  var isHidden = false
  var listens = true
  /// The listening state that its engine was told.
  var saysListening = false
  /// The time of the earliest timer entered.
  var timerAt: UInt64?

  /// Links that facts for the engine may be about.
  var links: [LinkID: (connection: Int, side: Int)] = [:]
  var dials: [DialID: Int] = [:]
  var tunnels: [TunnelID: SimulatedTunnel] = [:]
  var tunnelLinks: [LinkID: TunnelID] = [:]
  /// Until when the handshakes in tunnels may last.
  var tunnelHandshakes: [TunnelID: UInt64] = [:]
  /// Its memory if it tampers with the tunnels of others.
  var tampered: [LinkID: TamperedLink] = [:]
  /// Dials over relays: the requested tunnel, and the addresses that come after it.
  var relayDials: [DialID: (tunnel: TunnelID, others: [TransportAddress])] = [:]
  var nextTunnel: UInt64 = 1
  var nextLink: UInt64 = 1
  var nextCommand: UInt64 = 1
  var nextTransfer: UInt64 = 1
  var nextStream: UInt64 = 1

  var sources: [TransferID: SimulatedSource] = [:]
  var stores: [TransferID: SimulatedStore] = [:]
  var storedBytes = 0
  /// Nil in runs without a choice of partial files.
  var partials: SimulatedPartials?
  var rememberedPeers: Set<PeerID> = []

  var codes = TypedCodeState()

  var application = ApplicationState()
  var record: NodeLedger

  init(index: Int, node: NodeID, engine: consuming SessionEngine) {
    self.index = index
    self.node = node
    peer = node.peer
    self.engine = engine
    record = NodeLedger()
  }

  func has(_ link: LinkID) -> Bool { links[link] != nil || tunnelLinks[link] != nil }

  /// Begins a new life. A crash destroys everything but the disk and the remembered peers.
  func begin(node: NodeID, engine: consuming SessionEngine) {
    life += 1
    self.node = node
    self.engine = engine
    isAlive = true
    isFinished = false
    mailbox = []
    isTurnEntered = false
    pausedUntil = 0
    isHidden = false
    listens = true
    saysListening = false
    timerAt = nil
    links = [:]
    dials = [:]
    tunnels = [:]
    tunnelLinks = [:]
    tunnelHandshakes = [:]
    tampered = [:]
    relayDials = [:]
    sources = [:]
    stores = [:]
    partials?.closeAll()
    codes = TypedCodeState()
    application = ApplicationState()
    record = NodeLedger()
  }
}

/// The knowledge of a node's application.
struct ApplicationState {
  var inSight: [NodeID] = []
  var members: [NodeID] = []
  /// The longest message that each member accepts.
  var messageLimits: [NodeID: Int] = [:]
  /// The number of channels that each member accepts.
  var channelLimits: [NodeID: Int] = [:]
  /// The cost of queued messages that were not taken yet.
  var queuedCost: [ChannelKey: Int] = [:]
  /// The cost of messages that were delivered and not consumed.
  var unconsumed: [ChannelKey: Int] = [:]
  /// Questions on the screen that wait for their codes.
  var showing: [CommandID: NodeID] = [:]
  /// Incoming offers, with their senders.
  var incoming: [TransferID: SeenOffer] = [:]
  /// Offers that the application leaves unanswered.
  var ignoredOffers: Set<TransferID> = []
  /// Streams that the application writes and reads.
  var written: [StreamID: WrittenStream] = [:]
  var read: [StreamID: ReadStream] = [:]
  /// Calls with each member, and the number of the present actor system.
  var calls: [NodeID: SimulatedCalls] = [:]
  var callInstance: UInt64 = 0
  var isShuttingDown = false
  /// Whether it has left all members, and refuses all nodes for a while.
  var isAway = false

  mutating func forgetMessages(of peer: NodeID) {
    queuedCost = queuedCost.filter { $0.key.peer != peer }
    unconsumed = unconsumed.filter { $0.key.peer != peer }
  }
}

/// An offer as the receiving application sees it.
struct SeenOffer {
  let from: NodeID
  let offer: ResourceOffer
  /// The number of the true content in the world's table; nil for an offer of a hostile node.
  let content: Int?
}
