import Glibc
import PiconetEngine
import PiconetFiles
import PiconetIP
import PiconetRuntime
import PiconetTLS
import PiconetWire

/// This process's presence among nearby devices: one identity, a name, what it advertises and searches for, and one
/// session.
///
/// Any task may use a node. `run` is the usual way to have one: when it returns, the node has left no thread,
/// descriptor, advertisement or temporary file. Only partial files remain, which another transfer may resume
/// (`IncomingOffer.startStoring`).
///
/// A node that is released without `stop` stops in the background, as `stop` would: hold it for as long as you need it.
/// Its session, members, invitations, transfers, streams and sequences do not keep it alive; tasks that wait on them
/// get `shuttingDown`.
///
/// ```swift
/// try await Node.run(NodeConfiguration(sessionID: "chess", name: "Anna's laptop")) { node in
///   for await peers in node.peers { print(peers) }
/// }
/// ```
public final class Node: Sendable {
  let core: NodeCore
  let shell: NodeShell
  /// This node's id: its key's fingerprint and the incarnation of this start.
  public var id: NodeID { core.id }
  /// What people call this device; `setName` changes it.
  public var name: String { shell.presence.name }

  /// Starts a node, hands it to `body`, and stops it when `body` returns or throws. The node leaves its members in good
  /// order.
  ///
  /// Cancelling the calling task ends everything that `body` waits for, including loops over the node's sequences. The
  /// node still stops in good order.
  public static func run<Value>(
    _ configuration: NodeConfiguration, isolation: isolated (any Actor)? = #isolation,
    _ body: (Node) async throws -> Value
  ) async throws -> Value {
    try await Node(configuration).serve(isolation: isolation, body)
  }

  /// See above; for a `body` that throws nothing but `PiconetError`: written as `{ node throws(PiconetError) in ... }`.
  public static func run<Value>(
    _ configuration: NodeConfiguration, isolation: isolated (any Actor)? = #isolation,
    _ body: (Node) async throws(PiconetError) -> Value
  ) async throws(PiconetError) -> Value {
    try await Node(configuration).serve(isolation: isolation, body)
  }

  func serve<Value, Failure: Error>(
    isolation: isolated (any Actor)?, _ body: (Node) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    do throws(Failure) {
      let value = try await body(self)
      await stop()
      return value
    } catch {
      await stop()
      throw error
    }
  }

  /// Starts a node that is not available yet, on its own host. A program that makes a node this way must call `stop`,
  /// the only call that waits for the node's end.
  /// - Throws: `invalidArgument` naming the broken rule, `state` if the identity can't be read or made,
  ///   `internalError`.
  public init(_ configuration: NodeConfiguration) async throws(PiconetError) {
    shell = try await NodeShell.startAlone(configuration)
    core = shell.core
  }

  init(_ configuration: NodeConfiguration, on host: HostShell) async throws(PiconetError) {
    shell = try await NodeShell.start(configuration, on: host)
    core = shell.core
  }

  deinit { shell.beginStopping() }

  /// Makes the node do what its mode says (advertise, search, or both), or hides it. May be called at any time, and
  /// repeatedly.
  ///
  /// A hidden node keeps its connections and is not advertised. It refuses peers that dial it with `notAvailable`,
  /// unless it expects them (`expect`) or is just inviting them, by address too. Members whose links break can still
  /// come back; over Bluetooth by LE alone, unless something else keeps the adapter connectable. It stops listening
  /// when it has no members and expects no peer.
  /// - Throws: why it can't listen; whatever works without listening goes on. `shuttingDown` once the node has stopped.
  public func setAvailable(_ isAvailable: Bool) async throws(PiconetError) {
    try await shell.setPresence { $0.isAvailable = isAvailable }
  }

  /// Changes what the node does while it is available; an available node changes at once. Connections stay as they are.
  /// - Throws: see `setAvailable`.
  public func setMode(_ mode: SessionMode) async throws(PiconetError) { try await shell.setPresence { $0.mode = mode } }

  /// Whether the node is available: it does what its mode says. False at the start.
  public var isAvailable: Bool { shell.presence.isAvailable }

  /// What the node does while it is available.
  public var mode: SessionMode { shell.presence.mode }

  /// The addresses under which the node can be dialled while it is available, or expects a peer.
  public var listeningAddresses: [TransportAddress] { get async { await shell.listeningAddresses } }

  /// The peers in sight, again after each change. A peer that was killed, or has left the network, could not say so. It
  /// stays in sight, over a network for up to two minutes, even beside the same device, restarted.
  public var peers: PeerList { PeerList(watched: core.peers) }

  /// The obstacles to discovery over a network, such as another program that keeps its port to itself; again after each
  /// change. The node goes on with what works: Bluetooth, addresses that are named, the rest of the network.
  public var discoveryObstacles: DiscoveryObstacleList { DiscoveryObstacleList(watched: core.discoveryObstacles) }

  /// The peers in sight now, in the order of names.
  public var currentPeers: [Peer] { Peer.list(core.peers.value) }

  /// Returns the peer with this id, such as that of a `PeerStateChange`; nil if it is not in sight now.
  public func peer(_ id: NodeID) -> Peer? { core.peers.value[id].map(Peer.init) }

  /// Returns the first peer of this name that is in sight, or comes in sight. Any device can take any name: the
  /// connection proves which device it is. The peer may have been killed a moment ago, see `peers`.
  /// - Parameters:
  ///   - name: the peer's whole name, as the peer gives it.
  ///   - timeout: how long to look. Default 30 s.
  /// - Throws: `timedOut`; `cancelled` for the calling task; `shuttingDown` when the node stops.
  public func firstPeer(named name: String, timeout: Duration = .seconds(30)) async throws(PiconetError) -> Peer {
    let (found, isInTime) = await withTaskGroup(of: (peer: Peer?, isInTime: Bool).self) { group in
      group.addTask { [peers] in
        for await list in peers {
          let named = list.first { $0.name == name } ?? list.first { $0.otherNames.contains(name) }
          if let named { return (named.called(name), true) }
        }
        return (nil, true)
      }
      group.addTask {
        // Ends early when the task is cancelled.
        let hasSlept = (try? await ContinuousClock().sleep(for: timeout)) != nil
        return (nil, !hasSlept)
      }
      defer { group.cancelAll() }
      return await group.next() ?? (nil, true)
    }
    if let found { return found }
    if Task.isCancelled { throw PiconetError(.cancelled, blame: .us, detail: "the calling task was cancelled") }
    if isInTime { throw PiconetError(.shuttingDown, blame: .us) }
    throw PiconetError(.timedOut, blame: .nobody, detail: "no '\(name)' came in sight within \(timeout)")
  }

  /// The changes of peers' states, each reported once, in order; `PeerState` says which state may follow which. Unread
  /// changes wait for the next reader, at most 4,096; beyond that the oldest are dropped. Ends with the node.
  public var states: EventSequence<PeerStateChange> { EventSequence(source: core.stateChanges) }

  /// The states of the peers that are available, connecting, connected or suspended now.
  public var currentStates: [NodeID: PeerState] { core.peerStates }

  /// Invitations from others, each to be accepted or declined. One that ends before it has been read is removed.
  public var invitations: EventSequence<Invitation> { EventSequence(source: core.invitations) }

  /// Peers that connected and were refused by the trust policy, before they could invite: their key has changed, or is
  /// not one of those that are let in. Not every refusal is reported, so that no peer can fill a screen or a log: of
  /// many in a row the first 8, then one every 10 s. Unread refusals wait for the next reader, at most 64; beyond that
  /// the oldest are dropped.
  public var refusals: EventSequence<RefusedPeer> { EventSequence(source: core.refusals) }

  /// The group of peers that accepted one another.
  public var session: Session { Session(core: core) }

  /// An executor on the node's own thread. A task that prefers it answers a message without a change of threads. Such
  /// tasks must not block.
  public var executor: any TaskExecutor { core.executor }

  /// Renamed to `invite`: a connection is an accepted invitation.
  @available(*, unavailable, renamed: "invite(_:)")
  @discardableResult
  public func connect(to peer: Peer) async throws(PiconetError) -> Member { try await invite(peer) }

  /// Renamed to `invite(at:)`.
  @available(*, unavailable, renamed: "invite(at:)")
  @discardableResult
  public func connect(to address: String) async throws(PiconetError) -> Member { try await invite(at: address) }

  /// Invites a peer in sight and waits until it has accepted. If the peer invites us at the same time, both have
  /// accepted, and `ProvenMember.invitationContext` is the context of the peer's invitation. Cancelling the calling
  /// task withdraws the invitation.
  /// - Parameters:
  ///   - peer: one of `peers`. Unless its key is known or pinned, it is refused with `identity` if it gives another
  ///     name than `peer.name` once it is connected.
  ///   - context: free data for the invited peer, at most 8,192 bytes.
  ///   - timeout: the time for the whole attempt, including the peer's answer. Default 30 s. The invited side may wait
  ///     for less, and for at most 300 s.
  ///   - transports: those by which the peer may be dialled for this invitation; nil: all of the configuration. The
  ///     configuration's order applies in any case. It does not restrict how a member is reached later.
  ///   - proven: called on the node's loop once the peer's key is proven and the peer has been asked. Must return
  ///     quickly.
  ///   - code: called on the node's loop with the short code, such as `042 917`, when the question is on the peer's
  ///     screen. Show it here, too, since a person there compares the two. Never called if the peer asks no person.
  ///     Must return quickly. Write its label: a closure behind the call is taken for `proven`.
  /// - Throws: why there is no connection; exactly one reason, with every transport's failure in `failures`.
  @discardableResult
  public func invite(
    _ peer: Peer, context: [UInt8] = [], timeout: Duration = .seconds(30), transports: Set<TransportKind>? = nil,
    proven: (@Sendable (ProvenMember) -> Void)? = nil, code: (@Sendable (ProvenMember, String) -> Void)? = nil
  ) async throws(PiconetError) -> Member {
    let kinds = try transports.map { (kinds) throws(PiconetError) in try core.configuration.usable(kinds) }
    return try await invite(
      found: peer, over: kinds, context: context, timeout: timeout, Inviting(proven: proven, code: code))
  }

  /// Invites the node that answers at an address such as `192.168.1.7:4000`, `[::1]:4000`, `host.local:4000`, or, over
  /// Bluetooth, `00:11:22:33:44:55`; see `TransportAddress.candidates`.
  /// - Parameters:
  ///   - address: the address as a person writes it.
  ///   - expected: the key that must answer; any other key is refused with `identity`.
  ///   - context: see `invite(_:context:timeout:transports:proven:code:)`; the remaining parameters mean the same.
  ///   - timeout: the time for the whole attempt. Default 30 s.
  ///   - transports: those by which the node may be dialled.
  ///   - proven: called once the peer's key is proven.
  ///   - code: called with the short code to be shown.
  /// - Throws: see `invite(_:context:timeout:transports:proven:code:)`; `invalidArgument` if no transport of the
  ///   configuration, or of `transports`, leads there.
  @discardableResult
  public func invite(
    at address: String, expecting expected: PeerID? = nil, context: [UInt8] = [], timeout: Duration = .seconds(30),
    transports: Set<TransportKind>? = nil, proven: (@Sendable (ProvenMember) -> Void)? = nil,
    code: (@Sendable (ProvenMember, String) -> Void)? = nil
  ) async throws(PiconetError) -> Member {
    try await invite(
      at: try core.configuration.addresses(of: address, over: transports), expecting: expected, context: context,
      timeout: timeout, proven: proven, code: code)
  }

  /// Invites the node that answers at these addresses of one device. They are tried in the order of
  /// `NodeConfiguration.transports`. An address has the form that `listeningAddresses` gives on the other side, such as
  /// `00:11:22:33:44:55/0x1005` for L2CAP. Without the number, the node asks the device for it.
  /// - Parameters:
  ///   - addresses: addresses of one device, over one transport or several.
  ///   - expected: the key that must answer; any other key is refused with `identity`.
  ///   - context: see `invite(_:context:timeout:transports:proven:code:)`; the remaining parameters mean the same.
  ///   - timeout: the time for the whole attempt. Default 30 s.
  ///   - proven: called once the peer's key is proven.
  ///   - code: called with the short code to be shown.
  @discardableResult
  public func invite(
    at addresses: [TransportAddress], expecting expected: PeerID? = nil, context: [UInt8] = [],
    timeout: Duration = .seconds(30), proven: (@Sendable (ProvenMember) -> Void)? = nil,
    code: (@Sendable (ProvenMember, String) -> Void)? = nil
  ) async throws(PiconetError) -> Member {
    try await invite(
      .addresses(addresses, expected: expected), context: context, timeout: timeout,
      Inviting(proven: proven, code: code))
  }

  func invite(
    _ target: InvitationTarget, context: [UInt8], timeout: Duration, code: TypedCodeID? = nil,
    _ inviting: Inviting
  ) async throws(PiconetError) -> Member {
    try await checkRight(to: target)
    let request = Request.invite(target, context: context, timeout: timeout, code: code, inviting, from: core)
    switch await core.answer(to: request) {
    case .success(let member): return member
    case .failure(let ending):
      if case .node(let node, _) = target { throw PiconetError(ending, peer: node) }
      throw PiconetError(ending, peer: nil)
    }
  }

  private func checkRight(to target: InvitationTarget) async throws(PiconetError) {
    guard case .remembered = core.configuration.trust, case .node(let node, _) = target else { return }
    let standing = await core.standing(of: node.peer)
    guard !standing.rights.contains(.send) else { return }
    let refusal: TrustRefusal = standing.known == nil ? .notRemembered : .noRight
    throw PiconetError(.identity, peer: node, blame: .peer, detail: refusal.description)
  }

  /// Records that the peer's key is its device's: only a person may decide this. The record is on the disk when this
  /// returns, and holds for every program of this user from the next handshake on.
  /// - Parameters:
  ///   - peer: a peer whose key a connection has proven, such as `Member.proven`.
  ///   - name: the petname; nil: what the peer calls itself now. A petname gets the key's own digits appended if it
  ///     looks like another known device's, or has digits of another key in brackets. A known peer keeps its petname.
  ///   - confirmation: how the person knows.
  ///   - rights: what the peer may do from now on in this node's program, in addition to its present rights.
  ///   - address: where a person reached it: from now on another key there counts as another device.
  /// - Returns: what is known of the peer now.
  /// - Throws: `state` if the record can't be written, the key is blocked, or the table is full: it holds at most 1,024
  ///   devices, and none is forgotten to make room.
  @discardableResult
  public func remember(
    _ peer: ProvenMember, as name: String? = nil, confirmed confirmation: PeerConfirmation,
    rights: Set<PeerRight.Action>, address: String? = nil
  ) async throws(PiconetError) -> KnownPeer {
    let program = core.configuration.program
    let now = Int64(time(nil))
    let fingerprint = peer.fingerprint
    let petname = name ?? peer.name
    let known = try await shell.changeTrust { (known) throws(StateFailure) in
      try known.take(
        fingerprint, name: petname, at: now, confirmed: confirmation,
        rights: Set(rights.map { PeerRight($0, program) }), address: address)
    }
    guard let entry = known[fingerprint] else {
      throw PiconetError(.internalError, blame: .us, detail: "what was written is not there")
    }
    return entry
  }

  /// Changes how long members that can't be reached stay members, present ones included; see
  /// `NodeConfiguration.disconnectTimeout`.
  /// - Throws: `invalidArgument` if the timeout is neither 0 nor 2 s to 24 hours.
  public func setDisconnectTimeout(_ timeout: Duration) async throws(PiconetError) {
    guard case .failure(let ending) = await core.answer(to: .setDisconnectTimeout(timeout)) else { return }
    let code: PiconetError.Code = ending.reason == .limitExceeded ? .invalidArgument : .shuttingDown
    throw PiconetError(code, blame: .us, detail: ending.detail)
  }

  /// The lines of the known peers that can't be read, as the file is now. They have no effect and stay in the file as
  /// they are. Empty once the node has stopped.
  public var damagedKnownPeers: [DamagedLine] { get async { await shell.damagedKnownPeers } }

  /// Opens a directory for received files and removes partial files that dead programs have left in it.
  /// - Parameters:
  ///   - path: the path of a directory that exists.
  ///   - maximumFileSize: a larger file is refused as `tooLarge`; nil: no limit but the disk's.
  /// - Throws: `directoryVanished` if nothing exists at the path; `noPermission` if it is not a directory or can't be
  ///   written to. The error names the path.
  public func receivingDirectory(
    at path: String, maximumFileSize: UInt64? = nil
  ) async throws(PiconetError) -> ReceivingDirectory {
    do throws(PiconetError) {
      return try await core.onDisk { () throws(FileFailure) in
        try ReceivingDirectory(path: path, maximumFileSize: maximumFileSize)
      }
    } catch {
      guard let failure = error.underlying as? FileFailure else { throw error }
      // The path, since a program may open several directories.
      throw PiconetError(error.code, blame: error.blame, detail: failure.sentence, underlying: failure)
    }
  }

  /// Leaves all members in good order, which takes at most five seconds, and ends the node. Idempotent.
  public func stop() async { await shell.stop() }

  /// As `stop`, for a program that ends afterwards: it waits for calls to disks no longer than this.
  /// - Returns: false if one has not answered, and its thread is still there.
  package func stop(waitingForDisks time: Duration) async -> Bool { await shell.stop(diskTime: time) }
}
