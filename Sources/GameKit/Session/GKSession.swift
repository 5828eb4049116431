import Foundation
import Synchronization

// Unchecked: all variable parts are in the core, under its lock. Sendable although Apple's is not declared so: any
// thread is meant to use it.
/// Peers nearby that find one another, connect, and send data: Apple's `GKSession`, over Bluetooth and IP networks.
///
/// Its methods may be called from any thread, and none of them waits. The delegate and the receive handler are called
/// on the main queue, which therefore has to run: in an app's main loop, `RunLoop.main.run()` or `dispatchMain()`.
///
/// A peer that connects to one peer of a session is connected with all of them. A session that is released leaves its
/// peers in good order, as `disconnectFromAllPeers()` does. `Documentation/gamekit.md` says what differs from Apple's.
open class GKSession: NSObject, @unchecked Sendable {
  let core: GameSession

  /// Creates a session that is neither visible nor looking for peers yet.
  /// - Parameters:
  ///   - sessionID: only sessions with the same id see each other. At most 127 bytes; for a longer one
  ///     `didFailWithError` gets `invalidParameterError`. Nil or empty: the bundle's identifier, or else the program's
  ///     name.
  ///   - name: what people call this peer; nil or empty: the device's name. Only its first 63 bytes count, and control
  ///     characters are left out.
  ///   - mode: what the session does while it is available.
  public init!(sessionID: String!, displayName name: String!, sessionMode mode: GKSessionMode) {
    core = GameSession(sessionID: sessionID, displayName: name, mode: mode, host: .shared)
    super.init()
    core.receivers.withLock { $0.session = WeakSession(self) }
  }

  /// Creates a session with the defaults: of this program, under the device's name, in the mode `peer`.
  public override init() {
    core = GameSession(sessionID: nil, displayName: nil, mode: .peer, host: .shared)
    super.init()
    core.receivers.withLock { $0.session = WeakSession(self) }
  }

  init(_ core: GameSession) {
    self.core = core
    super.init()
    core.receivers.withLock { $0.session = WeakSession(self) }
  }

  deinit { core.close() }

  /// The object that is told of events; not retained. A delegate that is set late is told the earlier events as well.
  open weak var delegate: (any GKSessionDelegate)! {
    get { core.receivers.withLock { $0.delegate }.delegate }
    set { core.setDelegate(WeakDelegate(newValue)) }
  }

  /// The session's id, as it is used.
  open var sessionID: String! { core.settings.sessionID }
  /// The name under which others see this peer.
  open var displayName: String! { core.settings.name }
  /// What the session does while it is available.
  open var sessionMode: GKSessionMode { core.settings.mode }
  /// This peer's id, the same on all devices: 18 digits, drawn for each session. The order of two ids is the same as
  /// strings and as numbers.
  open var peerID: String! { core.settings.peerID }

  /// Whether the session does what its mode says: advertise, search, or both. False at the start. Turning it off hides
  /// the session from peers that are not connected, and leaves connected ones alone.
  open var isAvailable: Bool {
    get { core.isAvailable }
    set { core.setAvailable(newValue) }
  }

  /// How many seconds a peer that can't be reached stays connected, while both sides look for another link to each
  /// other. Default 20. Between 2 s and a day, or 0: it leaves with its connection. Other values become the nearest of
  /// these.
  open var disconnectTimeout: TimeInterval {
    get { core.disconnectTimeout }
    set { core.setDisconnectTimeout(newValue) }
  }

  /// Returns what people call a peer: one in sight or connected, a former one, or this one; nil for any other. The name
  /// is the peer's own words: remove control characters before a terminal shows them.
  open func displayName(forPeer peerID: String!) -> String! { core.displayName(of: peerID) }

  /// Queues data for some peers and returns at once.
  /// - Parameters:
  ///   - data: 95 KiB (97,280 bytes) at most; may be empty.
  ///   - peers: their ids, as `String`. A peer that is named twice gets it twice.
  /// - Throws: a `GKSessionError`, and then nothing was queued for any peer: `invalidParameterError` without data, or
  ///   without peers; `dataTooBigError`; `peerNotFoundError`; `notConnectedError`; `transportError` if 64 MiB wait
  ///   already for one of them: try again once it has received some of them.
  open func send(_ data: Data!, toPeers peers: [Any]!, with mode: GKSendDataMode) throws {
    guard let peers, !peers.isEmpty else {
      throw GKSessionError(.invalidParameterError, "Data is to be sent to at least one peer.")
    }
    let ids = peers.compactMap { $0 as? String }
    guard ids.count == peers.count else {
      throw GKSessionError(.invalidParameterError, "A peer is named by its peer id, a string.")
    }
    try core.send(data, to: ids, mode)
  }

  /// Queues data for all connected peers and returns at once. It is no error if no peer is connected.
  /// - Throws: see `send(_:toPeers:with:)`.
  open func sendData(toAllPeers data: Data!, with mode: GKSendDataMode) throws {
    try core.send(data, to: nil, mode)
  }

  /// Sets the object that gets the data that peers send, in place of the previous one; nil: no object, and the data is
  /// dropped. Data that arrives before the first handler is set waits for it, up to 1 MiB.
  /// - Parameters:
  ///   - handler: an object of a class that conforms to `GKSessionDataReceiveHandler`, not retained; or a closure. For
  ///     any other object the delegate is told `didFailWithError` with `invalidParameterError`.
  ///   - context: handed to the handler with each message.
  @_disfavoredOverload  // The compiler takes a closure for an `Any` otherwise.
  open func setDataReceiveHandler(_ handler: Any!, withContext context: UnsafeMutableRawPointer!) {
    guard let handler else { return core.setHandler(.nobody) }
    let context = context.map { UInt(bitPattern: $0) } ?? 0
    if let closure = ReceiveClosure(handler) { return core.setHandler(.closure(closure.call, context: context)) }
    guard let receiver = handler as? any GKSessionDataReceiveHandler else {
      return core.report(
        GKSessionError(
          .invalidParameterError,
          "\(type(of: handler)) can't receive data: its class does not conform to GKSessionDataReceiveHandler."))
    }
    core.setHandler(.object(WeakHandler(receiver), context: context))
  }

  /// Sets a closure that gets the data that peers send, with the id of the peer; it is called on the main queue. Data
  /// that arrives before the first handler is set waits for it, up to 1 MiB. Apple's `GKSession` does not have this.
  public final func setDataReceiveHandler(
    _ handler: @escaping @MainActor (_ data: Data, _ peerID: String, _ session: GKSession) -> Void
  ) {
    core.setHandler(.closure({ data, peer, session, _ in handler(data, peer, session) }, context: 0))
  }

  /// Sets a closure that gets the data that peers send, as `setDataReceiveHandler(_:withContext:)` sets an object; it
  /// is called on the main queue, with the context. Apple's `GKSession` does not have this.
  public final func setDataReceiveHandler(
    _ handler:
      @escaping @MainActor (
        _ data: Data, _ peerID: String, _ session: GKSession, _ context: UnsafeMutableRawPointer?
      ) -> Void,
    withContext context: UnsafeMutableRawPointer!
  ) {
    core.setHandler(.closure(handler, context: context.map { UInt(bitPattern: $0) } ?? 0))
  }

  /// Sets a closure that does not need the context; see above.
  public final func setDataReceiveHandler(
    _ handler: @escaping @MainActor (_ data: Data, _ peerID: String, _ session: GKSession) -> Void,
    withContext context: UnsafeMutableRawPointer!
  ) { setDataReceiveHandler(handler) }

  /// Asks an available peer to connect. The delegate is told `stateConnected`, or `connectionWithPeerFailed`; if both
  /// peers ask at once, there is one connection. Does nothing if the peer is connected already. If the peer has asked
  /// us, this accepts it.
  /// - Parameter timeout: how many seconds the request stands: more than 0 and at most 300; 0 or less: 20.
  open func connect(toPeer peerID: String!, withTimeout timeout: TimeInterval) {
    core.connect(to: peerID ?? "", timeout: timeout)
  }

  /// Withdraws our request: both delegates are told `connectionWithPeerFailed` with `cancelledError`. Does nothing to a
  /// connected peer.
  open func cancelConnect(toPeer peerID: String!) { core.cancelConnect(to: peerID ?? "") }

  /// Accepts a peer's request, and returns at once: the delegate is told `stateConnected`, or
  /// `connectionWithPeerFailed`. A peer that is connected or connecting already stays so.
  /// - Throws: `peerNotFoundError`; why the request has ended, such as `cancelledError` or `timedOutError`;
  ///   `invalidParameterError` if the peer made no request.
  open func acceptConnection(fromPeer peerID: String!) throws { try core.accept(from: peerID ?? "") }

  /// Declines a peer's request: its delegate is told `connectionWithPeerFailed` with `declinedError`.
  open func denyConnection(fromPeer peerID: String!) { core.deny(from: peerID ?? "") }

  /// Disconnects a peer from all peers of the session, which are told within a second. What was sent to it before may
  /// be lost. It may connect again.
  open func disconnectPeer(fromAllPeers peerID: String!) { core.remove(peerID ?? "") }

  /// Leaves all peers. What was sent before is delivered first, as far as that takes less than five seconds. The
  /// delegate is then told that each is disconnected. Nothing more can be sent meanwhile.
  open func disconnectFromAllPeers() { core.leaveAll() }

  /// Returns the ids of the peers that are in this state, in their order; nil if there are no such peers. A peer that
  /// is connecting may be available at the same time. The last 128 peers that have gone are remembered, as unavailable
  /// or disconnected.
  open func peers(with state: GKPeerConnectionState) -> [Any]! {
    let peers = core.peers(in: state)
    return peers.isEmpty ? nil : peers
  }
}
