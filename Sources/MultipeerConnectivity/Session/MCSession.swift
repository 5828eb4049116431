import Foundation
import Piconet

/// A session: peers that have accepted one another's invitations, each connected with all.
///
/// A peer that one member invites is connected with all of them. A session may be fed by several browsers and
/// advertisers, a peer may be in several sessions at once, and there may be several sessions for one `MCPeerID`.
///
/// Any thread may use it; the delegate is called on a private serial queue. No method blocks. A session that is dropped
/// leaves its peers, as `disconnect` does, and makes no more calls.
///
/// Source: `MCSession` of Multipeer Connectivity.
///
/// Unchecked, since it may be subclassed: what is here changes under the core's locks, and a subclass is responsible
/// for variables that it adds. It repeats the words, or the compiler warns.
open class MCSession: NSObject, @unchecked Sendable {
  /// The longest reliable message in bytes: 16 MiB. `sendResource` takes more.
  public static let messageLimit = 16 << 20

  let core: SessionCore
  private let identity: [Any]?

  /// Creates a session without its own identity, which insists on encryption.
  public convenience init(peer myPeerID: MCPeerID) {
    self.init(peer: myPeerID, securityIdentity: nil, encryptionPreference: .required)
  }

  /// Creates a session.
  /// - Parameters:
  ///   - myPeerID: this peer in the session.
  ///   - identity: nil, or one `NodeIdentity` of Piconet (a key and its certificates) in place of Apple's `SecIdentity`
  ///     and the certificates behind it. With anything else the session connects to no peer, and `error(forPeer:)` says
  ///     why.
  ///   - encryptionPreference: which encryption settings a peer must have to connect.
  public init(
    peer myPeerID: MCPeerID, securityIdentity identity: [Any]?, encryptionPreference: MCEncryptionPreference
  ) {
    core = SessionCore(
      peer: myPeerID, encryption: encryptionPreference,
      identity: identity.map { $0.count == 1 ? .given($0[0] as? NodeIdentity) : .given(nil) } ?? .ofDevice)
    self.identity = identity
    super.init()
    core.session = self
  }

  deinit { core.close() }

  /// The object that is told of all events; not retained.
  open weak var delegate: (any MCSessionDelegate)? {
    get { core.delegate.value as? any MCSessionDelegate }
    set { core.delegate.value = newValue }
  }

  /// This peer in the session.
  open var myPeerID: MCPeerID { core.peer }
  /// The identity, as it was given.
  open var securityIdentity: [Any]? { identity }
  /// The preference, as it was given.
  open var encryptionPreference: MCEncryptionPreference { core.encryption }
  /// The peers that were reported as connected, in the order in which they came.
  open var connectedPeers: [MCPeerID] { core.connectedPeers }

  /// Sends a message to these peers: to all of them or, if this throws, to none. Never waits.
  ///
  /// Reliable messages wait here while a peer takes none: 32 MiB for each peer, beside the messages on their way.
  /// Beyond that this throws, and succeeds again once the peer goes on. An unreliable message is dropped for a peer
  /// that can't take it now. One of more than 16,000 bytes goes as a reliable one does, or is dropped.
  /// - Throws: `MCError` with the code `invalidParameter` if `peerIDs` is empty, or for a message above `messageLimit`;
  ///   `notConnected` if one of the peers is not connected; `unavailable` if the send queue of one of them is full.
  open func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {
    try core.send(data, to: peerIDs, mode)
  }

  /// Leaves all peers, withdraws invitations, and tells the delegate of each peer that is no longer connected. Earlier
  /// messages still go out, as far as that takes less than five seconds. The session may be used again.
  open func disconnect() { core.disconnect() }

  /// Sends the content of a URL.
  /// - Parameters:
  ///   - resourceURL: the URL of a file, or an http or https URL.
  ///   - resourceName: a name for the receiver; at most 1,024 bytes of UTF-8.
  ///   - peerID: a connected peer.
  ///   - completionHandler: called once, on the session's queue: with nil when the peer has all of it on its disk,
  ///     verified; otherwise with an `MCError`: `notConnected`, `unsupported` for another URL, `invalidParameter` if
  ///     the file can't be read, `cancelled` by either side, `unavailable` if the peer's disk is full.
  /// - Returns: its progress, in bytes that the peer has stored; cancelling it cancels the resource on both sides. Nil
  ///   if it is not sent, which the handler is told too.
  @discardableResult
  open func sendResource(
    at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
    withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
  ) -> Progress? {
    core.sendResource(at: resourceURL, named: resourceName, to: peerID, completionHandler)
  }

  /// Opens a stream of bytes to a peer, which is told of it at once. To use it, set a delegate, schedule it on a run
  /// loop, and open it.
  /// - Throws: `MCError` with the code `notConnected`.
  open func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws -> OutputStream {
    try core.startStream(named: streamName, to: peerID)
  }

  /// Returns why the peer is not connected: the reason for which the last attempt or connection has ended, for the last
  /// 64 peers. Nil if none has ended yet, and while it is connected. Apple's session gives no reasons.
  open func error(forPeer peerID: MCPeerID) -> MCError? { core.reason(of: peerID) }

  // MARK: Custom discovery

  /// Returns the data that a peer found by other means needs to reach this session. Carry it to the peer by any means,
  /// and give it to `connectPeer` there. It is valid for ten minutes.
  /// - Parameters:
  ///   - peerID: the peer's own, from an archive that it has made.
  ///   - completionHandler: called once, on the session's queue.
  open func nearbyConnectionData(
    forPeer peerID: MCPeerID, withCompletionHandler completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
  ) {
    core.connectionData(for: peerID, completionHandler)
  }

  /// Returns the data that a peer found by other means needs to reach this session; see above.
  open func nearbyConnectionData(forPeer peerID: MCPeerID) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      nearbyConnectionData(forPeer: peerID) { data, error in
        if let data {
          continuation.resume(returning: data)
        } else {
          continuation.resume(throwing: error ?? MCError(.unknown))
        }
      }
    }
  }

  /// Connects to a peer that was found by other means. Each of the two has to call it with the other's data, within 30
  /// s. The delegate is told the result.
  open func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
    core.connect(peerID, to: data)
  }

  /// Cancels `connectPeer`, or invalidates data that was made for this peer.
  open func cancelConnectPeer(_ peerID: MCPeerID) { core.cancelConnect(peerID) }
}
