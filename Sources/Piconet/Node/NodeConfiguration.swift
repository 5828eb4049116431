import PiconetEngine
import PiconetRuntime
import PiconetTLS
import PiconetWire

/// What a node does while it is available. There is no fourth: a node advertises, searches, or does both.
public enum SessionMode: Sendable, Hashable {
  /// Advertises and takes invitations.
  case server
  /// Searches and invites.
  case client
  /// Both.
  case peer
}

/// Which devices can learn that a node is there, while it is available.
@nonexhaustive
public enum NodeVisibility: Sendable, Hashable {
  /// Every device on the network.
  case everybody
  /// Devices that know this one, by its fingerprint: the advertisement holds neither name nor fingerprint nor info. A
  /// peer that dials without being known to this device is refused before it learns anything but the key, which TLS
  /// shows. Over TCP only.
  case knownPeers
}

/// Where a node's identity and the peers that it remembers are kept.
@nonexhaustive
public enum IdentityStorage: Sendable, Hashable {
  /// A folder of its own, such as `$XDG_STATE_HOME/piconet`; made when needed, for this user only.
  case directory(String)
  /// The program keeps it. Nothing is remembered.
  case given(NodeIdentity)
  /// Nowhere: a new identity each time, nothing is remembered. A file whose transfer this process has not finished
  /// starts from the beginning in the next one.
  case ephemeral

  /// The folder that the XDG Base Directory Specification 0.8 gives this user's programs: `$XDG_STATE_HOME/piconet`.
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
  /// What this program says first to a peer on a connection, whichever of the two has invited: `ProvenMember.greeting`.
  /// At most 1,024 bytes. Every peer that connects to this node gets it together with the name, before anyone decides
  /// whether the peer is let in. Default: nothing.
  public var greeting: [UInt8] = []
  /// What the node does while it is available. Default: advertises and searches. `Node.setMode` changes it later.
  public var mode = SessionMode.peer
  /// Free key=value pairs that others see before they connect: at most 255 bytes a pair, 400 in all, and 32 pairs. A
  /// key is printable ASCII without `=`, at most 250 bytes, and differs from the others in more than case.
  public var discoveryInfo: [String: String] = [:]
  /// Where the key is kept. Default: nowhere, a new one at each start; on a host that was made before: the host's.
  public var identity: IdentityStorage {
    get { device.host.identity }
    set { device.identity = newValue }
  }
  /// One of these authorities must have issued each peer's certificate: a peer whose certificates lead to none of them
  /// is refused in the handshake, before it learns anything. Peers that have such certificates
  /// (`NodeIdentity.init(key:certificates:)`) show them to any node that asks. This is checked before `trust`, which
  /// applies to peers that pass. Default: nil, any key is as good as another; on a host that was made before: the
  /// host's.
  public var certificateAuthorities: CertificateAuthorities? {
    get { device.host.certificateAuthorities }
    set { device.certificateAuthorities = .some(newValue) }
  }
  /// Which devices can learn that the node is there. Default: all. `knownPeers` needs an identity that is kept, and TCP
  /// as the only transport.
  public var visibility = NodeVisibility.everybody
  /// Which keys are let in. Default: any. A blocked key, and a stranger with a known device's name, are refused under
  /// every policy; but `pinned` looks at keys alone.
  public var trust = TrustPolicy.firstUse
  /// The program in which the rights of known peers count, as in `piconet trust allow PEER push:images`: 1 to 127
  /// bytes. Default: the session id.
  public var program: String {
    get { givenProgram ?? sessionID }
    set { givenProgram = newValue }
  }
  private var givenProgram: String?
  /// Asked before an invitation of ours makes a peer a member that the policy wants a person to confirm: true if both
  /// screens show this code. Without it such a peer is refused. If the invitation ends meanwhile, the answer is
  /// ignored.
  public var confirm: (@Sendable (ProvenMember, _ code: String) async -> Bool)?
  /// Whether a false of `confirm` means that the person does not want the peer, and not that the codes differ. Default:
  /// it means the latter.
  package var isPlainNo: (@Sendable (NodeID) -> Bool)?
  /// Asked when short codes are compared with a member of the session, at its wish or this program's
  /// (`Member.compareCodes`): true if the member's screen shows this code, too. Its task is cancelled if the comparison
  /// ends meanwhile; then the answer is ignored. Where a person is at several members' questions, those wait for one
  /// another as invitations do (`openInvitations`). Default: nil, this node compares no codes with members.
  public var compare: (@Sendable (Member, _ code: String) async -> Bool)?
  /// How many invitations from unknown peers `Node.invitations` delivers at a time; others wait until one of these is
  /// answered. While others wait, each stands for at most 60 s. 1 to 1,024; default 8.
  public var openInvitations = 8
  /// Members, including this node. Default 8. An invitation reserves no place; its acceptance does, on both sides: a
  /// peer that accepts after the inviter's last place has been taken is told `full`, and neither side has a new member.
  public var capacity = 8
  /// How long a member must be idle (nothing open except what it still has to send, and nothing moving) before it gives
  /// way, with `idle`, to a peer that is accepted while the session is full. Where no member is idle, the least busy
  /// stranger from an address that holds a quarter of the places, and two more than the newcomer's address does, gives
  /// way at once. A member of a group (`membership`) never gives way, and nobody does for a place of the group: only
  /// where a place of this node's own session is all that is missing. nil, the default: no member ever does.
  public var idleMemberTimeout: Duration?
  /// Whose requests to remove a member from the whole group (`Session.remove`) this node follows. Default: a member's,
  /// for nodes that it has introduced to this one. With `members` any member's, as with GKSession; with `nobody` none.
  public var removals = RemovalPolicy.introducers
  /// Which nodes are members of the session. `pairs`, the default: those that this node has accepted, or that have
  /// accepted it. `group`: also the members of those that are set to `group` as well, so a node that joins one member
  /// joins all. Members introduce one another for that, and `introductions` decides what becomes of each introduction;
  /// `takeWord` makes one group without a question. If one member loses another, those that still have both bring them
  /// together again. A group has as many places as the smallest `capacity` of its members: who comes when all are
  /// taken, or loses a race for the last one, ends as `full`, and may be invited again.
  public var membership = SessionMembership.pairs
  /// What becomes of nodes that members introduce (`Session.introduce`). Default: `ask`. A key that `trust` refuses,
  /// and a name that a known device of another key has, are declined under every policy.
  public var introductions = IntroductionPolicy.ask
  /// Whether this node passes on what two of its members have to say to each other that no transport brings together,
  /// and how much of it. It sees ciphertext, how much and when. Only members have that, and only towards members.
  /// Default: nil, it does not. A node that is reached this way has `relay` among its `transports`.
  public var relaying: RelayQuotas?
  /// Whether unreliable messages are delivered even when a newer one has come before them. Default: no, late ones are
  /// dropped.
  public var deliversLateMessages = false
  /// The longest message in bytes, sent or received. Default 95 KiB; the smaller limit of two peers counts.
  public var messageLimit = 95 * 1024
  /// In how many channels one member may send messages, channel 0 among them; 1 to 64. Each that is not read may hold
  /// 128 KiB and one message for each member. Default 64.
  public var channelLimit = MessageChannel.count
  /// Which channel's messages go first where several have some: those of high priority before all others, those of low
  /// priority behind them, and never so many at once that others wait long. Default: `normal`, each in its turn.
  public var channelPriorities: ChannelPriorities = [:]
  /// Streams that one member may have open to us at once, 1 to 16,384. Default 64.
  public var streamLimit = 64
  /// How long a member that can't be reached stays one, counted from when it was last heard: silence and the search for
  /// another way to it together. 0: it leaves with its connection. 2 s to 24 hours otherwise; default 20 s.
  /// `Node.setDisconnectTimeout` changes it.
  public var disconnectTimeout: Duration = .seconds(20)
  /// Whether members move automatically to a transport that comes earlier in `transports`, when one leads to them.
  /// Default true.
  public var movesBetweenTransports = true
  /// Whether a member whose connection was closed is gone as soon as its host refuses where the member has said that it
  /// listens, about a second later. Set it where nothing translates addresses between the peers, as on one network:
  /// a translator refuses for a node that lives. Default false: only a host that this node has dialled, or sees
  /// advertised, is believed; the others count until `disconnectTimeout`.
  public var refusalEndsMembers = false
  /// Whether members on this very device, over loopback, are introduced with their addresses there, and meet directly.
  /// Set it for programs that run beside one another on one device. Default false: there they meet over a relay, or
  /// where they see one another, and no member's word makes this node dial a port of its own device.
  public var introducesOverLoopback = false
  /// The transports that may be used, in order of preference; what is not named is neither dialled nor listened on.
  /// Default: a common IP network, then L2CAP, RFCOMM and LE. Those that this machine lacks are left out automatically.
  /// With `relay`, which is the last if it is named, members that no other one leads to are reached over members that
  /// relay (`relaying`), and this node by them; `Member.route` tells over whom. No relay can read anything.
  public var transports: [TransportKind] = TransportKind.defaultOrder
  /// The settings of the transports over Bluetooth. On a host that was made before: the host's.
  public var bluetooth: BluetoothSettings {
    get { device.host.bluetooth }
    set { device.bluetooth = newValue }
  }
  /// Where TCP listens, such as `0.0.0.0:4000` or `[::1]:0`; nil: all addresses, a port that the system chooses. A node
  /// that only searches listens there while it has members, if it can.
  public var listen: String?
  /// The network interfaces for discovery, by name, such as `lo`; nil: all. On a host that was made before: the host's.
  public var interfaces: Set<String>? {
    get { device.host.interfaces }
    set { device.interfaces = .some(newValue) }
  }
  /// What was set for the device.
  var device = DeviceSettings()
  /// Whether there is any discovery at all. Without it only `invite(at:)` reaches others.
  public var discovers = true

  /// Records what the node takes and does; nil: nothing is recorded.
  public var trace: TraceSettings?

  /// Transports and discoveries in addition to the real ones; over Bluetooth they replace those of the same kind. With
  /// them tests run the same sessions over a simulated transport, and over another machine's adapters.
  var additional: (@Sendable (EventLoop) -> AdditionalParts)?
  /// How long handshakes and farewells may take; tests are less patient.
  var patience = Patience()

  /// Made on the node's loop and confined to it.
  struct AdditionalParts {
    var transports: [any Transport]
    var discoveries: [any Discovery]
    /// Calls its argument on the loop when nothing of them is left; nil: there is nothing to wait for.
    var shutDown: ((@escaping () -> Void) -> Void)?
  }

  struct Patience: Sendable {
    /// For TLS, and for our own handshake after it.
    var handshake: Duration = .seconds(10)
    /// For what was sent before a farewell to go out, and for the remote side to confirm.
    var leave: Duration = .seconds(5)
  }

  /// The defaults, for this session and this name. Nothing is checked before the node starts.
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
