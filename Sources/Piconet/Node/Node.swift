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
/// Any task may use a node. `run` is the way to have one: when it returns, nothing of the node is left, no thread,
/// descriptor, advertisement or temporary file, except partial files that another transfer may go on with
/// (`IncomingOffer.startStoring`).
///
/// A node that is released without `stop` stops in the background, as `stop` would: hold it for as long as you need it.
/// Its session, members, invitations, transfers, streams and sequences do not keep it alive; whatever waits on them
/// ends with `shuttingDown`.
///
/// ```swift
/// try await Node.run(NodeConfiguration(sessionID: "chess", name: "Anna's laptop")) { node in
///   for await peers in node.peers { print(peers) }
/// }
/// ```
public final class Node: Sendable {
  let core: NodeCore
  let shell: NodeShell
  /// Who we are: our key's fingerprint and this start's incarnation.
  public var id: NodeID { core.id }
  /// What people call this device; `setName` changes it.
  public var name: String { shell.presence.name }

  /// Starts a node, hands it to `body`, and stops it when `body` returns or throws: members are left in good order.
  ///
  /// Cancelling the calling task ends what `body` waits for, loops over the node's sequences included. The node is then
  /// stopped in good order all the same.
  public static func run<Value>(
    _ configuration: NodeConfiguration, isolation: isolated (any Actor)? = #isolation,
    _ body: (Node) async throws -> Value
  ) async throws -> Value {
    try await Node(configuration).serve(isolation: isolation, body)
  }

  /// As above, where `body` throws nothing but `PiconetError`: written as `{ node throws(PiconetError) in ... }`.
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

  /// Starts a node that is not available yet, on a host of its own. A program that makes a node this way calls `stop`:
  /// only that waits for its end.
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

  /// Whether the node does what its mode says: advertise, search, or both. Turning it off hides it from others and
  /// leaves connections alone: it is not advertised, peers that dial it all the same are refused with `notAvailable`
  /// unless it expects them (`expect`) or is just inviting them, by address too, and members whose links break can
  /// still come back (over Bluetooth by LE alone, unless something else keeps the adapter connectable). It stops
  /// listening when it has no members and expects no one. May be called at any time, and repeatedly.
  /// - Throws: why it can't listen; whatever works without listening goes on. `shuttingDown` once the node has stopped.
  public func setAvailable(_ isAvailable: Bool) async throws(PiconetError) {
    try await shell.setPresence { $0.isAvailable = isAvailable }
  }

  /// Changes what the node does while it is available, at once if it is. Connections stay as they are.
  /// - Throws: as `setAvailable`.
  public func setMode(_ mode: SessionMode) async throws(PiconetError) { try await shell.setPresence { $0.mode = mode } }

  /// Whether the node does what its mode says. False at the start.
  public var isAvailable: Bool { shell.presence.isAvailable }

  /// What the node does while it is available.
  public var mode: SessionMode { shell.presence.mode }

  /// The addresses under which the node can be dialled while it is available, or expects a peer.
  public var listeningAddresses: [TransportAddress] { get async { await shell.listeningAddresses } }

  /// The peers in sight, again after each change. One that was killed, or has left the network, could not say so: it
  /// stays in sight, over a network for up to two minutes, even beside the same device, restarted.
  public var peers: PeerList { PeerList(watched: core.peers) }

  /// What is in the way of discovery over a network, such as another program that keeps its port to itself; again after
  /// each change. The node goes on with what works: Bluetooth, addresses that are named, the rest of the network.
  public var discoveryObstacles: DiscoveryObstacleList { DiscoveryObstacleList(watched: core.discoveryObstacles) }

  /// The peers in sight now, in the order of names.
  public var currentPeers: [Peer] { Peer.list(core.peers.value) }

  /// The peer with this id that is in sight now, such as that of a `PeerStateChange`; nil if it is not.
  public func peer(_ id: NodeID) -> Peer? { core.peers.value[id].map(Peer.init) }

  /// The first peer of this name that is in sight, or comes in sight. Any device can take any name: whose it is becomes
  /// known once the peer is connected. It may be one that was killed a moment ago, see `peers`.
  /// - Parameters:
  ///   - name: all of it, as the peer says it.
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

  /// How peers stand with us, each change reported once, in order; `PeerState` says which may follow which. Changes
  /// that have not been read wait for the next reader, at most 4,096; then the oldest go. Ends with the node.
  public var states: EventSequence<PeerStateChange> { EventSequence(source: core.stateChanges) }

  /// The peers that are available, connecting, connected or suspended now.
  public var currentStates: [NodeID: PeerState] { core.peerStates }

  /// Invitations from others, each to be accepted or declined. One that ends before it has been read is removed.
  public var invitations: EventSequence<Invitation> { EventSequence(source: core.invitations) }

  /// Peers that came to us and were turned away by the trust policy, before they could invite: their key has changed,
  /// or is not one of those that are let in. Not every one is reported, so that no peer can fill a screen or a log: of
  /// many in a row the first 8, then one every 10 s. Those that have not been read wait for the next reader, at most
  /// 64; then the oldest go.
  public var refusals: EventSequence<RefusedPeer> { EventSequence(source: core.refusals) }

  /// The group of peers that accepted one another.
  public var session: Session { Session(core: core) }

  /// Tasks that prefer this executor run on the node's own thread: a message is then answered without a change of
  /// threads. They must not block.
  public var executor: any TaskExecutor { core.executor }

  /// It is `invite`: a connection is an invitation that was accepted.
  @available(*, unavailable, renamed: "invite(_:)")
  @discardableResult
  public func connect(to peer: Peer) async throws(PiconetError) -> Member { try await invite(peer) }

  /// It is `invite(at:)`.
  @available(*, unavailable, renamed: "invite(at:)")
  @discardableResult
  public func connect(to address: String) async throws(PiconetError) -> Member { try await invite(at: address) }

  /// Invites a peer in sight and waits until it has accepted. If it invites us at the same time, both have accepted,
  /// and `ProvenMember.invitationContext` is what its invitation says.
  /// Cancelling the calling task withdraws the invitation.
  /// - Parameters:
  ///   - peer: of `peers`. Unless its key is known, or pinned, it is refused as `identity` if it gives another name
  ///     than `peer.name` once it is connected.
  ///   - context: free data for the invited, at most 8,192 bytes.
  ///   - timeout: the whole attempt, the peer's answer included. Default 30 s. The invited side may wait for less, and
  ///     for at most 300 s.
  ///   - transports: those by which the peer may be dialled for this invitation; nil: all of the configuration, in
  ///     whose order they are tried in any case. How a member is reached later is not restricted by it.
  ///   - proven: called on the node's loop once the peer's key is proven and it has been asked. Must return quickly.
  ///   - code: called on the node's loop with the short code, such as `042 917`, when the question is on the peer's
  ///     screen: show it here, too, since a person there compares the two. Never called where no one is asked there.
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
  ///   - address: as a person writes it.
  ///   - expected: the key that must answer; anybody else is refused with `identity`.
  ///   - context: see `invite(_:context:timeout:transports:proven:code:)`; the remaining parameters mean the same.
  ///   - timeout: the whole attempt. Default 30 s.
  ///   - transports: those by which it may be dialled.
  ///   - proven: called once the peer's key is proven.
  ///   - code: called with the short code to be shown.
  /// - Throws: as `invite`; `invalidArgument` where no transport of the configuration, or of these, leads there.
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

  /// Invites the node that answers at these addresses of one device, over one transport or several: they are tried in
  /// the order of `NodeConfiguration.transports`. An address is what `listeningAddresses` gives on the other side, such
  /// as `00:11:22:33:44:55/0x1005` for L2CAP; without the number the device is asked for it.
  /// - Parameters:
  ///   - addresses: all of one device.
  ///   - expected: the key that must answer; anybody else is refused with `identity`.
  ///   - context: see `invite(_:context:timeout:transports:proven:code:)`; the remaining parameters mean the same.
  ///   - timeout: the whole attempt. Default 30 s.
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

  /// Records that the peer's key is its device's: only a person may decide this. It is on the disk when this returns,
  /// and holds for every program of this user from the next handshake on.
  /// - Parameters:
  ///   - peer: whose key a connection has proven, such as `Member.proven`.
  ///   - name: the petname; nil: what the peer calls itself now. One that looks like another known device's, or has
  ///     digits of another key in brackets, gets its own digits appended. A known peer keeps its own.
  ///   - confirmation: how the person knows.
  ///   - rights: what it may do from now on in this node's program, in addition to what it could before.
  ///   - address: where it was reached by hand: from now on another key there counts as another device.
  /// - Returns: what is known of it now.
  /// - Throws: `state` if it can't be written, the key is blocked, or there is no room: at most 1,024 devices are kept,
  ///   and none is forgotten to make room.
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
  /// - Throws: `invalidArgument` if it is neither 0 nor 2 s to 24 hours.
  public func setDisconnectTimeout(_ timeout: Duration) async throws(PiconetError) {
    guard case .failure(let ending) = await core.answer(to: .setDisconnectTimeout(timeout)) else { return }
    let code: PiconetError.Code = ending.reason == .limitExceeded ? .invalidArgument : .shuttingDown
    throw PiconetError(code, blame: .us, detail: ending.detail)
  }

  /// Lines of the known peers that can't be read, as the file is now: what they were meant to say is unknown, and they
  /// stay as they are. None once the node has stopped.
  public var damagedKnownPeers: [DamagedLine] { get async { await shell.damagedKnownPeers } }

  /// Opens a directory for received files and removes partial files that dead programs have left in it.
  /// - Parameters:
  ///   - path: of a directory that exists.
  ///   - maximumFileSize: a larger file is refused as `tooLarge`; nil: whatever fits.
  /// - Throws: `directoryVanished` if there is no such directory, `noPermission` if it is none or can't be written to;
  ///   the error names the path.
  public func receivingDirectory(
    at path: String, maximumFileSize: UInt64? = nil
  ) async throws(PiconetError) -> ReceivingDirectory {
    do throws(PiconetError) {
      return try await core.onDisk { () throws(FileFailure) in
        try ReceivingDirectory(path: path, maximumFileSize: maximumFileSize)
      }
    } catch {
      guard let failure = error.underlying as? FileFailure else { throw error }
      // Which directory, since a program may open several.
      throw PiconetError(error.code, blame: error.blame, detail: failure.sentence, underlying: failure)
    }
  }

  /// Leaves everybody in good order, which takes at most five seconds, and ends everything of the node. Idempotent.
  public func stop() async { await shell.stop() }

  /// As `stop`, for a program that ends afterwards: it waits for calls to disks no longer than this.
  /// - Returns: false if one has not answered, and its thread is still there.
  package func stop(waitingForDisks time: Duration) async -> Bool { await shell.stop(diskTime: time) }
}
