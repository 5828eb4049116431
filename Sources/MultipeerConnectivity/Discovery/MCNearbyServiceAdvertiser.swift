import Foundation
import Piconet

/// Advertises a service, so that browsers for its type find this peer and may invite it. It has no session: a program
/// that accepts an invitation says which one it is for.
///
/// Any thread may use it. The delegate is called on a private serial queue. One that is dropped stops.
///
/// Source: `MCNearbyServiceAdvertiser` of Multipeer Connectivity. Where a type or an info breaks a rule, and Apple's
/// stops the program, this tells the delegate (`advertiser(_:didNotStartAdvertisingPeer:)`) which one.
///
/// Unchecked, since it may be subclassed: what changes here has locks, and a subclass is responsible for variables that
/// it adds. It repeats the words, or the compiler warns.
open class MCNearbyServiceAdvertiser: NSObject, @unchecked Sendable {
  private let peer: MCPeerID
  private let info: [String: String]?
  private let type: String
  private let delegates = DelegateReference()
  private let queue = DispatchQueue(label: "MultipeerConnectivity.advertiser")
  private let running = Running<AdvertisingRun>()

  /// An advertiser that does not advertise yet.
  /// - Parameters:
  ///   - myPeerID: who is found.
  ///   - info: free pairs that browsers see: at most 250 bytes a key, of printable ASCII without `=`, 255 bytes a pair,
  ///     and 370 in all.
  ///   - serviceType: 1 to 15 letters of ASCII, digits and hyphens, of which no two are side by side, and none is first
  ///     or last; at least one letter. Upper case is taken for lower case.
  public init(peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String) {
    peer = myPeerID
    self.info = info
    type = serviceType
  }

  deinit { running.take()?.stop() }

  /// Told of invitations. Not kept.
  open weak var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
    get { delegates.value as? any MCNearbyServiceAdvertiserDelegate }
    set { delegates.value = newValue }
  }

  /// As it was given.
  open var myPeerID: MCPeerID { peer }
  /// As it was given.
  open var discoveryInfo: [String: String]? { info }
  /// As it was given.
  open var serviceType: String { type }

  /// Advertises. Without effect while it does.
  open func startAdvertisingPeer() {
    running.begin {
      AdvertisingRun(
        peer, info ?? [:], type, queue,
        delegate: { [weak self] in self.flatMap { advertiser in advertiser.delegate.map { (advertiser, $0) } } })
    }
  }

  /// Advertises no more, and the delegate is told of no more invitations. Sessions stay as they are, and invitations
  /// that it was told of go on: they may still be accepted, and one that was is its session's.
  open func stopAdvertisingPeer() { running.take()?.stop() }
}

/// Told what happens to an advertiser.
public protocol MCNearbyServiceAdvertiserDelegate: NSObjectProtocol {
  /// A peer invites this one into a session.
  /// - Parameters:
  ///   - advertiser: who was found.
  ///   - peerID: who invites.
  ///   - context: its own words, not to be trusted; nil if it says nothing.
  ///   - invitationHandler: to be called once, from any thread: whether it is accepted, and for which session. Without
  ///     a call the invitation ends when the inviter's patience does.
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void)

  /// It does not advertise, for this reason, an `MCError`. Default: nothing.
  func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error)
}

extension MCNearbyServiceAdvertiserDelegate {
  /// Nothing.
  public func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {}
}
