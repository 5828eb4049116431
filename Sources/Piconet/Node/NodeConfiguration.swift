import PiconetEngine
import PiconetRuntime
import PiconetTLS
import PiconetWire

/// What a node does while it is available: it advertises, searches, or does both.
public enum SessionMode: Sendable, Hashable {
  /// Advertises and takes invitations.
  case server
  /// Searches and invites.
  case client
  /// Advertises, takes invitations, searches and invites.
  case peer
}

/// The devices that can learn that a node is there while it is available.
@nonexhaustive
public enum NodeVisibility: Sendable, Hashable {
  /// Every device on the network.
  case everybody
  /// Devices that know this one by its fingerprint: the advertisement holds neither name nor fingerprint nor info. A
  /// peer that this device does not know is refused when it dials. It learns nothing but the key, which TLS shows. Over
  /// TCP only.
  case knownPeers
}

/// The place where a node's identity and the peers that it remembers are kept.
@nonexhaustive
public enum IdentityStorage: Sendable, Hashable {
  /// A separate folder, such as `$XDG_STATE_HOME/piconet`; made when needed, for this user only.
  case directory(String)
  /// The program keeps the identity. Nothing is remembered.
  case given(NodeIdentity)
  /// Nowhere: a new identity each time, and nothing is remembered. A file whose transfer this process has not finished
  /// starts from the beginning in the next process.
  case ephemeral

  /// Returns the folder that the XDG Base Directory Specification 0.8 gives this user's programs:
  /// `$XDG_STATE_HOME/piconet`.
  /// - Parameters:
  ///   - stateHome: the value of XDG_STATE_HOME; unset, empty or relative means `home`/.local/state.
  ///   - home: the value of HOME.
  /// - Throws: `state` if neither is an absolute path.
  public static func userState(stateHome: String?, home: String?) throws(PiconetError) -> IdentityStorage {
    do throws(StateFailure) {
      return .directory(try StateDirectory(stateHome: stateHome, home: home).path)
    } catch {
      throw PiconetError(.state, blame: .us, detail: "\(error)", underlying: error)
    }
  }
}

/// The settings of a node. A wrong value is refused when the node starts, with an error that names the rule.
public struct NodeConfiguration: Sendable {
  /// The session id: only nodes with the same one see each other. 1 to 127 bytes.
  public var sessionID: String
  /// What people call this device. 1 to 63 bytes of UTF-8, no control characters.
  public var name: String
  /// The program's first message to a peer on a connection, whichever of the two has invited: `ProvenMember.greeting`.
  /// At most 1,024 bytes. Every peer that connects to this node gets it together with the name, before the node decides
  /// whether to let the peer in. Default: nothing.
  public var greeting: [UInt8] = []
  /// What the node does while it is available. Default: advertises and searches. `Node.setMode` changes it later.
  public var mode = SessionMode.peer
  /// Free key=value pairs that others see before they connect: at most 255 bytes a pair, 400 in all, and 32 pairs. A
  /// key is printable ASCII without `=`, at most 250 bytes, and differs from the others in more than case.
  public var discoveryInfo: [String: String] = [:]
  /// Where the key is kept. Default: nowhere, a new one at each start. On an existing host the default is the host's.
  public var identity: IdentityStorage {
    get { device.host.identity }
    set { device.identity = newValue }
  }
  /// The authorities of which one must have issued each peer's certificate. A peer whose certificates lead to none of
  /// them is refused in the handshake, before it learns anything. Peers that have such certificates
  /// (`NodeIdentity.init(key:certificates:)`) show them to any node that asks. This is checked before `trust`, which
  /// applies to peers that pass. Default: nil, no authority is needed. On an existing host the default is the host's.
  public var certificateAuthorities: CertificateAuthorities? {
    get { device.host.certificateAuthorities }
    set { device.certificateAuthorities = .some(newValue) }
  }
  /// The devices that can learn that the node is there. Default: all. `knownPeers` needs a stored identity, and TCP as
  /// the only transport.
  public var visibility = NodeVisibility.everybody
  /// The policy that decides which keys are let in. Default: any key. Every policy refuses a blocked key, and a
  /// stranger with a known device's name; but `pinned` looks at keys alone.
  public var trust = TrustPolicy.firstUse
  /// The program to which the rights of known peers apply, as in `piconet trust allow PEER push:images`: 1 to 127
  /// bytes. Default: the session id.
  public var program: String {
    get { givenProgram ?? sessionID }
    set { givenProgram = newValue }
  }
  private var givenProgram: String?
  /// Called before this node's invitation makes a peer a member that the policy wants a person to confirm. Return true
  /// if both screens show this code. Without it such a peer is refused. If the invitation ends meanwhile, the answer is
  /// ignored.
  public var confirm: (@Sendable (ProvenMember, _ code: String) async -> Bool)?
  /// Whether a false of `confirm` means that the person does not want the peer, and not that the codes differ. Default:
  /// the codes differ.
  package var isPlainNo: (@Sendable (NodeID) -> Bool)?
  /// Called when short codes are compared with a member of the session, because the member or this program
  /// (`Member.compareCodes`) asked for it. Return true if the member's screen shows this code, too. Its task is
  /// cancelled if the comparison ends meanwhile; the answer is then ignored. Where a person has questions of several
  /// members to answer, the questions wait for one another as invitations do (`openInvitations`). Default: nil, this
  /// node compares no codes with members.
  public var compare: (@Sendable (Member, _ code: String) async -> Bool)?
  /// The number of invitations from unknown peers that `Node.invitations` delivers at a time; others wait until one of
  /// these is answered. While others wait, each invitation stands for at most 60 s. 1 to 1,024; default 8.
  public var openInvitations = 8
  /// The number of members, including this node. Default 8. An invitation reserves no place; its acceptance does, on
  /// both sides. A peer that accepts after the inviter's last place has been taken is told `full`, and neither side has
  /// a new member.
  public var capacity = 8
  /// How long a member must be idle before it gives way, with `idle`, to a peer that is accepted while the session is
  /// full. Idle means that nothing is open except what the member still has to send, and that nothing moves. nil, the
  /// default: no member ever gives way.
  ///
  /// If no member is idle, one stranger gives way at once: the least busy one from an address that holds a quarter of
  /// the places, and two more than the newcomer's address does.
  ///
  /// A member of a group (`membership`) never gives way, and no member gives way for a place of the group. Members give
  /// way only where a place of this node's own session is all that is missing.
  public var idleMemberTimeout: Duration?
  /// The members whose requests to remove a member from the whole group (`Session.remove`) this node follows. Default:
  /// each member, for nodes that it has introduced to this one. `RemovalPolicy` lists the others.
  public var removals = RemovalPolicy.introducers
  /// The nodes that are members of the session.
  ///
  /// `pairs`, the default: those that this node has accepted, or that have accepted it.
  ///
  /// `group`: also the members of those that are set to `group` as well, so a node that joins one member joins all.
  /// Members introduce one another for that, and `introductions` decides what becomes of each introduction; `takeWord`
  /// makes one group without a question. If one member loses another, those that still have both bring them together
  /// again. A group has as many places as the smallest `capacity` of its members. A node that comes when all are taken,
  /// or loses a race for the last place, ends with `full`, and may be invited again.
  public var membership = SessionMembership.pairs
  /// The treatment of nodes that members introduce (`Session.introduce`). Default: `ask`. Every policy declines a key
  /// that `trust` refuses, and a name that belongs to a known device with another key.
  public var introductions = IntroductionPolicy.ask
  /// Whether this node relays for two of its members that no transport brings together, and how much. It sees
  /// ciphertext, how much and when. Only members can use the relay, and only to reach members. Default: nil, it does
  /// not relay. A node that is reached this way has `relay` among its `transports`.
  public var relaying: RelayQuotas?
  /// Whether unreliable messages are delivered even if a newer one has arrived before them. Default: no, late ones are
  /// dropped.
  public var deliversLateMessages = false
  /// The longest message in bytes, sent or received. Default 95 KiB; the smaller limit of two peers counts.
  public var messageLimit = 95 * 1024
  /// The number of channels in which one member may send messages, channel 0 among them; 1 to 64. Each unread channel
  /// may hold 128 KiB and one message for each member. Default 64.
  public var channelLimit = MessageChannel.count
  /// The priorities of channels, where several have messages to send. Messages of high priority go before all others
  /// and those of low priority after them, in limited numbers so that others do not wait long. Default: `normal`, each
  /// in its turn.
  public var channelPriorities: ChannelPriorities = [:]
  /// The number of streams that one member may have open to this node at once, 1 to 16,384. Default 64.
  public var streamLimit = 64
  /// How long a member that can't be reached stays a member, counted from when it was last heard. The time covers both
  /// silence and the search for another link. 0: it leaves with its connection. Otherwise 2 s to 24 hours; default 20
  /// s. `Node.setDisconnectTimeout` changes it.
  public var disconnectTimeout: Duration = .seconds(20)
  /// Whether members move automatically to a transport that comes earlier in `transports`, once one of its links
  /// reaches them. Default true.
  public var movesBetweenTransports = true
  /// Whether a member whose connection was closed counts as gone as soon as its host refuses connections to the port on
  /// which the member has said it listens, about a second later. Set it where no device translates addresses between
  /// the peers, as on one network: a translator refuses connections for a node that still runs. Default false: only the
  /// refusal of a host that this node has dialled, or sees advertised, counts at once. Other members stay until
  /// `disconnectTimeout`.
  public var refusalEndsMembers = false
  /// Whether members on this very device, over loopback, are introduced with their addresses there, and connect
  /// directly. Set it for programs that run beside one another on one device. Default false: there they connect over a
  /// relay, or where they see one another, and no member's word makes this node dial a port of its own device.
  public var introducesOverLoopback = false
  /// The transports that may be used, in order of preference; others are neither dialled nor listened on. Default: a
  /// common IP network, then L2CAP, RFCOMM and LE. Those that this machine lacks are left out automatically.
  ///
  /// `relay`, which is last if it is named, reaches members that no other transport reaches: over members that relay
  /// (`relaying`). They reach this node the same way, and `Member.route` gives the relays. No relay can read anything.
  public var transports: [TransportKind] = TransportKind.defaultOrder
  /// The settings of the transports over Bluetooth. On an existing host the default is the host's.
  public var bluetooth: BluetoothSettings {
    get { device.host.bluetooth }
    set { device.bluetooth = newValue }
  }
  /// The address where TCP listens, such as `0.0.0.0:4000` or `[::1]:0`; nil: all addresses, and a port that the system
  /// chooses. A node that only searches listens there while it has members, if it can.
  public var listen: String?
  /// The network interfaces for discovery, by name, such as `lo`; nil: all. On an existing host the default is the
  /// host's.
  public var interfaces: Set<String>? {
    get { device.host.interfaces }
    set { device.interfaces = .some(newValue) }
  }
  /// The settings of the device that were set here.
  var device = DeviceSettings()
  /// Whether there is any discovery at all. Without it only `invite(at:)` reaches others.
  public var discovers = true

  /// Where the node records its facts and effects; nil: nothing is recorded.
  public var trace: TraceSettings?

  /// Transports and discoveries in addition to the real ones; over Bluetooth they replace those of the same kind. With
  /// them, tests run the same sessions over a simulated transport and over another machine's adapters.
  var additional: (@Sendable (EventLoop) -> AdditionalParts)?
  /// How long handshakes and farewells may take; tests use shorter times.
  var patience = Patience()

  /// Made on the node's loop and confined to it.
  struct AdditionalParts {
    var transports: [any Transport]
    var discoveries: [any Discovery]
    /// Calls its argument on the loop when none of the parts is left; nil: there is nothing to wait for.
    var shutDown: ((@escaping () -> Void) -> Void)?
  }

  struct Patience: Sendable {
    /// For TLS, and for Piconet's own handshake after it.
    var handshake: Duration = .seconds(10)
    /// For what was sent before a farewell to go out, and for the remote side to confirm.
    var leave: Duration = .seconds(5)
  }

  /// Creates the default settings, for this session and this name. Nothing is checked before the node starts.
  public init(sessionID: String, name: String) {
    self.sessionID = sessionID
    self.name = name
  }

  func engineConfiguration() throws(PiconetError) -> EngineConfiguration {
    guard (1...PeerRight.programByteLimit).contains(program.utf8.count) || program == sessionID else {
      throw PiconetError(
        .invalidArgument, blame: .us, detail: "a program's name has 1 to \(PeerRight.programByteLimit) bytes")
    }
    if visibility == .knownPeers, transports != [.tcp] || !identity.isKept {
      throw PiconetError(
        .invalidArgument, blame: .us,
        detail: "only over TCP, and with an identity that is kept, can a node be visible to known peers alone")
    }
    var configuration = EngineConfiguration(sessionID: sessionID, name: name)
    configuration.greeting = greeting
    configuration.capacity = capacity
    configuration.idleMemberTimeout = idleMemberTimeout ?? .zero
    configuration.removals = removals
    configuration.membership = membership
    configuration.holdsIntroducedInvitations = introductions != .show
    configuration.relaying = relaying
    configuration.openInvitations = openInvitations
    configuration.comparesCodes = compare != nil
    configuration.deliversLateMessages = deliversLateMessages
    configuration.transports = transports
    configuration.messageLimit = messageLimit
    configuration.messageWindow = max(configuration.messageWindow, 2 * (messageLimit + WireLimits.messageCost))
    configuration.channelLimit = channelLimit
    configuration.channelPriorities = channelPriorities
    configuration.streamLimit = streamLimit
    configuration.disconnectTimeout = disconnectTimeout
    configuration.movesBetweenTransports = movesBetweenTransports
    configuration.refusalEndsMembers = refusalEndsMembers
    configuration.introducesOverLoopback = introducesOverLoopback
    configuration.handshakeTimeout = patience.handshake
    configuration.leaveTimeout = patience.leave
    do throws(InvalidConfiguration) {
      try configuration.validate()
      try DiscoveryInfo.validate(discoveryInfo)
    } catch {
      throw PiconetError(.invalidArgument, blame: .us, detail: error.rule, underlying: error)
    }
    return configuration
  }
}
