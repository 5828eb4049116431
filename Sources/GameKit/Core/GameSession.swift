import Foundation
import Piconet
import Synchronization

/// The core of a session: what its owner wants, the states of its peers, and its node. It outlives its `GKSession` for
/// as long as leaving in good order takes. Any thread may call it; nothing waits.
final class GameSession: Sendable {
  struct State {
    var book: PeerBook
    /// Whether the node exists, or is being made.
    var isStarted = false
    var isClosed = false
    var node: Node?
    /// A host lives as long as it is held.
    var host: NodeHost?
    var isAvailable = false
    var disconnectTimeout: TimeInterval = 20
    /// The transports to which a picker restricts the session; nil: all.
    var transports: Set<TransportKind>?
    /// The values of the two above that the node has.
    var applied: (isAvailable: Bool, timeout: TimeInterval)?
    var isApplying = false
    /// The sightings of peers in the book.
    var sighted: [NodeID: Peer] = [:]
    var members: [NodeID: Member] = [:]
    var invitations: [NodeID: Invitation] = [:]
    /// Attempts that we have begun: connecting, or accepting.
    var attempts: [NodeID: Attempt] = [:]
    var attemptCount = 0
    var outgoing: [NodeID: OutgoingQueue] = [:]
    var hasReportedDeaf = false
  }

  /// An attempt that we have begun with a peer.
  struct Attempt {
    let number: Int
    let task: Task<Void, Never>
  }

  let settings: SessionSettings
  private let host: SessionHost
  let state: Mutex<State>
  let receivers = Mutex(Receivers())
  let calls = CallQueue()

  init(sessionID: String?, displayName: String?, mode: GKSessionMode, host: SessionHost) {
    self.host = host
    settings = SessionSettings(sessionID: sessionID, displayName: displayName, mode: mode)
    state = Mutex(State(book: PeerBook(own: settings.peerID)))
  }

  // MARK: What the owner sees

  var isAvailable: Bool { state.withLock { $0.isAvailable } }
  var disconnectTimeout: TimeInterval { state.withLock { $0.disconnectTimeout } }

  func peers(in condition: GKPeerConnectionState) -> [String] { state.withLock { $0.book.peers(in: condition) } }

  func displayName(of peerID: String?) -> String? {
    guard let peerID else { return nil }
    return peerID == settings.peerID ? settings.name : state.withLock { $0.book.name(peerID) }
  }

  // MARK: What the owner wants

  func setAvailable(_ isAvailable: Bool) {
    let starts = state.withLock { state in
      state.isAvailable = isAvailable
      defer { state.isStarted = state.isStarted || isAvailable }
      return isAvailable && !state.isStarted && !state.isClosed
    }
    if starts { Task { await run() } } else { apply() }
  }

  func setDisconnectTimeout(_ timeout: TimeInterval) {
    guard !timeout.isNaN else { return }
    state.withLock { $0.disconnectTimeout = timeout <= 0 ? 0 : min(max(timeout, 2), 86_400) }
    apply()
  }

  /// Restricts the session to these transports: a peer in sight is available only if one of them reaches it. A session
  /// that was available before still listens on the others.
  func restrict(to transports: Set<TransportKind>) { state.withLock { $0.transports = transports } }

  /// Leaves all peers in good order, in the background, and makes no more calls.
  func close() {
    let (node, attempts) = state.withLock { state in
      state.isClosed = true
      defer { state.attempts = [:] }
      return (state.node, state.attempts.values.map(\.task))
    }
    calls.close()
    for attempt in attempts { attempt.cancel() }
    guard let node else { return }
    Task {
      await delivered(to: state.withLock { Array($0.members.keys) })
      await node.stop()
      state.withLock { $0.host = nil }
    }
  }

  // MARK: The node

  private func run() async {
    let configuration = state.withLock { state in
      settings.configuration(timeout: state.disconnectTimeout, transports: state.transports)
    }
    let node: Node
    do {
      let host = try await self.host.host()
      node = try await host.node(configuration)
      let isClosed = state.withLock { state in
        state.node = state.isClosed ? nil : node
        state.host = state.isClosed ? nil : host
        return state.isClosed
      }
      if isClosed { return await node.stop() }
    } catch {
      // Making the session available again is another try.
      state.withLock { $0.isStarted = false }
      return report((error as? PiconetError).map { GKSessionError($0) } ?? GKSessionError(.internalError, "\(error)"))
    }
    apply()
    await withDiscardingTaskGroup { group in
      group.addTask { for await peers in node.peers { self.sighted(peers) } }
      group.addTask { for await invitation in node.invitations { self.invited(invitation) } }
      group.addTask { await self.follow(node.session) }
    }
  }

  /// Tells the node what the owner wants, one thing after the other.
  private func apply() {
    let node = state.withLock { state -> Node? in
      guard let node = state.node, !state.isApplying, !state.isClosed else { return nil }
      state.isApplying = true
      return node
    }
    guard let node else { return }
    Task {
      while let wanted = nextToApply() {
        if let timeout = wanted.timeout { try? await node.setDisconnectTimeout(.seconds(timeout)) }
        do throws(PiconetError) {
          if let isAvailable = wanted.isAvailable { try await node.setAvailable(isAvailable) }
        } catch  where error.code == .shuttingDown {
          // The node has stopped; there is nothing to report.
        } catch {
          report(GKSessionError(.cannotEnableError, error.description, underlying: error))
        }
      }
    }
  }

  /// Returns the values that the node does not have yet; nil: it has all.
  private func nextToApply() -> (isAvailable: Bool?, timeout: TimeInterval?)? {
    state.withLock { state in
      let isNew = state.applied?.isAvailable ?? false != state.isAvailable
      // The node may have been started with another one.
      let isTimeoutNew = state.applied?.timeout != state.disconnectTimeout
      guard !state.isClosed, isNew || isTimeoutNew else {
        state.isApplying = false
        return nil
      }
      state.applied = (state.isAvailable, state.disconnectTimeout)
      return (isNew ? state.isAvailable : nil, isTimeoutNew ? state.disconnectTimeout : nil)
    }
  }

  private func sighted(_ all: [Peer]) {
    state.withLock { state in
      // A peer can't be reached if only its name is known yet, or if it is reached over other transports only.
      let peers = all.filter { peer in
        peer.addresses.contains { state.transports?.contains($0.kind) ?? true }
      }
      state.sighted = Dictionary(peers.map { ($0.id, $0) }) { first, _ in first }
      tell(
        state.book.sighted(
          peers.map { ($0.id, $0.name, SessionSettings.peerID($0.info[SessionSettings.peerIDKey])) }))
    }
  }

  private func follow(_ session: Session) async {
    for await event in session.events {
      switch event {
      case .joined(let member): joined(member)
      case .message(let message):
        state.withLock { state in
          guard let peer = state.book[message.sender]?.peerID else { return }
          tell([.data(Data(message.bytes), peer: peer)])
        }
        await calls.waitForRoom()
      case .left(let member, let error): left(member, error)
      // Peers that use Piconet itself may send things for which a session of GameKit has no place.
      case .offer(let offer): Task { await offer.decline(.notWanted) }
      case .stream(let stream): stream.cancel()
      // The peer stays connected, and what is sent to it waits.
      case .suspended: break
      case .moved(let member, _), .resumed(let member, _):
        state.withLock { $0.book.isReached(member.id, overAnother: member.route?.isDirect == false) }
      @unknown default: break
      }
    }
  }

  private func joined(_ member: Member) {
    state.withLock { state in
      state.members[member.id] = member
      state.invitations[member.id] = nil
      state.outgoing[member.id] = nil
      let claim = SessionSettings.peerID(String(decoding: member.proven.greeting, as: UTF8.self))
      tell(state.book.joined(member.id, name: member.name, claim: claim))
      state.book.isReached(member.id, overAnother: member.route?.isDirect == false)
    }
  }

  private func left(_ member: Member, _ error: PiconetError) {
    state.withLock { state in
      state.members[member.id] = nil
      state.outgoing.removeValue(forKey: member.id)?.task?.cancel()
      tell(state.book.left(member.id, GKSessionError(error)))
      // The peer has come back before we heard that it was gone.
      if let invitation = state.invitations[member.id] { ask(about: invitation, in: &state) }
      resume(member.id, in: &state)
    }
  }

  // MARK: Calls

  /// Called under the state's lock, so that calls come in the order of the changes.
  func tell(_ calls: [SessionCall]) {
    self.calls.push(calls) { [weak self] in self?.makeCalls() }
  }

  func report(_ error: GKSessionError) { state.withLock { _ in tell([.sessionFailed(error)]) } }

  /// Reports a handler that has no method that takes data.
  func reportDeaf(_ handler: Any.Type) {
    state.withLock { state in
      guard !state.hasReportedDeaf else { return }
      state.hasReportedDeaf = true
      tell([
        .sessionFailed(
          GKSessionError(
            .invalidParameterError,
            "\(handler) drops what it gets: it has no method as GKSessionDataReceiveHandler has them."))
      ])
    }
  }

  func setDelegate(_ delegate: WeakDelegate) {
    receivers.withLock { $0.delegate = delegate }
    if delegate.delegate != nil { calls.release(data: false) { [weak self] in self?.makeCalls() } }
  }

  func setHandler(_ handler: Receivers.Handler) {
    receivers.withLock { $0.handler = handler }
    calls.release(data: true) { [weak self] in self?.makeCalls() }
  }

  /// Makes the calls of one turn of the main queue.
  private func makeCalls() {
    for _ in 0..<CallQueue.callsInTurn {
      guard let call = calls.next() else { return }
      // The program may release the session in any of its calls.
      let receivers = receivers.withLock { $0 }
      guard let session = receivers.session.session else { return calls.close() }
      make(call, session, receivers)
    }
    DispatchQueue.main.async { [weak self] in self?.makeCalls() }
  }

  private func make(_ call: SessionCall, _ session: GKSession, _ receivers: Receivers) {
    switch call {
    case .data(let data, let peer): return hand(data, of: peer, session, receivers.handler)
    case .request(_, let node, let id):
      guard state.withLock({ $0.book.tells(request: id, of: node) }) else { return }
    case .state(let peer, .stateDisconnected): calls.dropData(of: peer)
    case .state, .failed, .sessionFailed: break
    }
    if let picker = receivers.picker {
      picker(call, session)
      if case .sessionFailed = call {} else { return }
    }
    guard let delegate = receivers.delegate.delegate else { return calls.hold(call) }
    switch call {
    case .state(let peer, let state): delegate.session(session, peer: peer, didChange: state)
    case .request(let peer, _, _):
      delegate.session(session, peer: peer, didChange: .stateConnecting)
      delegate.session(session, didReceiveConnectionRequestFromPeer: peer)
    case .failed(let peer, let error): delegate.session(session, connectionWithPeerFailed: peer, withError: error)
    case .sessionFailed(let error): delegate.session(session, didFailWithError: error)
    case .data: break
    }
  }

  private func hand(_ data: Data, of peer: String, _ session: GKSession, _ handler: Receivers.Handler) {
    switch handler {
    case .nobody: break
    case .notYet:
      if !calls.holdData(.data(data, peer: peer)) {
        NSLog("GKSession: \(data.count) bytes are dropped: no receive handler was set, and more wait for one already")
      }
    case .object(let handler, let context):
      handler.handler?.receive(data, fromPeer: peer, in: session, context: UnsafeMutableRawPointer(bitPattern: context))
    case .closure(let handler, let context):
      // The caller is on the main queue.
      MainActor.assumeIsolated { handler(data, peer, session, UnsafeMutableRawPointer(bitPattern: context)) }
    }
  }
}
