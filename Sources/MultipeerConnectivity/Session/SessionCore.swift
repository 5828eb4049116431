import Foundation
import Piconet
import PiconetFoundation
import Synchronization

/// The core of an `MCSession` behind its interface. It outlives the session for work that is still under way. One run
/// of it, with its own node, begins when it is first needed, and ends with `disconnect`.
///
/// Unchecked: `session` is set once, before this is shared; the rest never changes, or is behind `state`.
final class SessionCore: @unchecked Sendable {
  /// The key that the session's node shows.
  enum Identity {
    case ofDevice
    /// Nil: the given value is not an identity.
    case given(NodeIdentity?)
  }

  /// The time limits; tests use shorter ones.
  struct Patience: Sendable {
    /// For a program's answer about a certificate.
    var certificate: Duration = .seconds(30)
    /// From an acceptance to the connection.
    var meeting: Duration = .seconds(30)
  }

  let peer: MCPeerID
  let encryption: MCEncryptionPreference
  let identity: Identity
  let delegate = DelegateReference()
  weak var session: MCSession?
  let queue: DispatchQueue
  let executor: QueueExecutor

  private struct State {
    var run: SessionRun?
    var connected: [Connected] = []
    /// The last reasons, the oldest first.
    var reasons: [(peer: UInt64, error: MCError)] = []
    var patience = Patience()
    var observer: (@Sendable (MCPeerID, MCSessionState) -> Void)?
  }

  /// A peer that was reported as connected, and its nodes, the newest last.
  struct Connected: Sendable {
    let peer: MCPeerID
    let session: Session
    var members: [Member]
  }

  private let state = Mutex(State())

  init(peer: MCPeerID, encryption: MCEncryptionPreference, identity: Identity) {
    self.peer = peer
    self.encryption = encryption
    self.identity = identity
    queue = DispatchQueue(label: "MultipeerConnectivity.session")
    executor = QueueExecutor(queue)
  }

  var patience: Patience {
    get { state.withLock { $0.patience } }
    set { state.withLock { $0.patience = newValue } }
  }

  // MARK: Runs

  /// Returns the present run, or starts a new one.
  func currentRun() -> SessionRun {
    state.withLock { state in
      if let run = state.run { return run }
      let run = SessionRun(of: self)
      state.run = run
      return run
    }
  }

  /// The present run, if there is one.
  var presentRun: SessionRun? { state.withLock { $0.run } }

  func disconnect() {
    let run = state.withLock { state in
      defer {
        state.run = nil
        state.connected = []
      }
      return state.run
    }
    run?.end()
  }

  /// Ends the core because the session is dropped.
  func close() { disconnect() }

  // MARK: Connected peers

  var connectedPeers: [MCPeerID] { state.withLock { $0.connected.map(\.peer) } }

  /// - Returns: false if the run has ended meanwhile.
  func add(_ member: Member, of peer: MCPeerID, in session: Session, by run: SessionRun) -> Bool {
    state.withLock { state in
      guard state.run === run else { return false }
      state.reasons.removeAll { $0.peer == peer.identifier }
      if let index = state.connected.firstIndex(where: { $0.peer == peer }) {
        state.connected[index].members.append(member)
      } else {
        state.connected.append(Connected(peer: peer, session: session, members: [member]))
      }
      return true
    }
  }

  func remove(_ member: Member, of peer: MCPeerID) {
    state.withLock { state in
      guard let index = state.connected.firstIndex(where: { $0.peer == peer }) else { return }
      state.connected[index].members.removeAll { $0 == member }
      if state.connected[index].members.isEmpty { state.connected.remove(at: index) }
    }
  }

  /// - Throws: `notConnected`.
  func connected(_ peer: MCPeerID) throws(MCError) -> (session: Session, member: Member) {
    let found = state.withLock { state in state.connected.first { $0.peer == peer } }
    guard let found, let member = found.members.last else { throw Self.notConnected(peer) }
    return (found.session, member)
  }

  private static func notConnected(_ peer: MCPeerID) -> MCError {
    MCError(.notConnected, "\(peer.displayName) is not connected")
  }

  // MARK: Reasons

  static let reasonLimit = 64

  /// Notes an error, unless the peer is connected.
  func note(_ error: MCError, of peer: MCPeerID) {
    state.withLock { state in
      guard !state.connected.contains(where: { $0.peer == peer }) else { return }
      state.reasons.removeAll { $0.peer == peer.identifier }
      if state.reasons.count >= Self.reasonLimit { state.reasons.removeFirst() }
      state.reasons.append((peer.identifier, error))
    }
  }

  func reason(of peer: MCPeerID) -> MCError? {
    state.withLock { state in state.reasons.last { $0.peer == peer.identifier }?.error }
  }

  // MARK: The delegate

  /// Calls the delegate, on the queue. A session that was released has none.
  func tell(_ body: (MCSession, any MCSessionDelegate) -> Void) {
    dispatchPrecondition(condition: .onQueue(queue))
    guard let session, let delegate = session.delegate else { return }
    body(session, delegate)
  }

  func tell(_ told: [PeerLedger<NodeID>.Told]) {
    for change in told {
      tell { $1.session($0, peer: change.peer, didChange: change.state) }
      state.withLock { $0.observer }?(change.peer, change.state)
    }
  }

  /// Sets the function that is called on the queue at each change, beside the delegate; may be nil.
  func observe(_ observer: (@Sendable (MCPeerID, MCSessionState) -> Void)?) {
    state.withLock { $0.observer = observer }
  }

  // MARK: Sending

  /// The longest unreliable message in bytes; a longer one goes as a reliable one, if it can go at once.
  static let unreliableLimit = 16_000

  func send(_ data: Data, to peers: [MCPeerID], _ mode: MCSessionSendDataMode) throws(MCError) {
    guard !peers.isEmpty else { throw MCError(.invalidParameter, "a message has to go to a peer at least") }
    guard data.count <= MCSession.messageLimit else {
      throw MCError(
        .invalidParameter,
        "a message has at most \(MCSession.messageLimit) bytes, and this one has \(data.count); sendResource takes more"
      )
    }
    var members: [Member] = []
    var session: Session?
    for peer in peers {
      let found = try connected(peer)
      session = found.session
      if !members.contains(found.member) { members.append(found.member) }
    }
    let isReliable = mode == .reliable || data.count > Self.unreliableLimit
    do throws(PiconetError) {
      let isSent = try session?.trySend([UInt8](data)[...], to: members, mode: isReliable ? .reliable : .unreliable)
      if isSent == true || mode == .unreliable { return }
    } catch {
      throw MCError(error)
    }
    throw MCError(.unavailable, "the send queue of a peer is full (32 MiB); it takes nothing at the moment")
  }
}
