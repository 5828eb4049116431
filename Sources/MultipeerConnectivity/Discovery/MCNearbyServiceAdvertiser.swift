import Foundation
import Piconet

/// Advertises a service, so that browsers for its type find this peer and may invite it. It has no session: a program
/// that accepts an invitation says which session it is for.
///
/// Any thread may use it. The delegate is called on a private serial queue. An advertiser that is dropped stops.
///
/// Source: `MCNearbyServiceAdvertiser` of Multipeer Connectivity. If a type or an info breaks a rule, Apple's stops the
/// program; this one tells the delegate (`advertiser(_:didNotStartAdvertisingPeer:)`) which rule.
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

  /// Creates an advertiser that does not advertise yet.
  /// - Parameters:
  ///   - myPeerID: the peer that is found.
  ///   - info: free pairs that browsers see: at most 250 bytes a key, of printable ASCII without `=`, 255 bytes a pair,
  ///     and 370 in all.
  ///   - serviceType: 1 to 15 ASCII letters, digits and hyphens, with at least one letter. No hyphen is first, last or
  ///     beside another. Upper case is taken for lower case.
  public init(peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String) {
    peer = myPeerID
    self.info = info
    type = serviceType
  }

  deinit { running.take()?.stop() }

  /// The object that is told of invitations; not retained.
  open weak var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
    get { delegates.value as? any MCNearbyServiceAdvertiserDelegate }
    set { delegates.value = newValue }
  }

  /// The peer, as it was given.
  open var myPeerID: MCPeerID { peer }
  /// The info, as it was given.
  open var discoveryInfo: [String: String]? { info }
  /// The type, as it was given.
  open var serviceType: String { type }

  /// Starts advertising; no effect while it advertises.
  open func startAdvertisingPeer() {
    running.begin {
      AdvertisingRun(
        peer, info ?? [:], type, queue,
        delegate: { [weak self] in self.flatMap { advertiser in advertiser.delegate.map { (advertiser, $0) } } })
    }
  }

  /// Stops advertising; the delegate is told of no more invitations. Sessions stay as they are, and invitations that it
  /// was told of go on: they may still be accepted, and an accepted one belongs to its session.
  open func stopAdvertisingPeer() { running.take()?.stop() }
}

/// The calls of an advertiser to its owner.
public protocol MCNearbyServiceAdvertiserDelegate: NSObjectProtocol {
  /// A peer invites this one into a session.
  /// - Parameters:
  ///   - advertiser: the advertiser that was found.
  ///   - peerID: the inviter.
  ///   - context: the inviter's own words, not to be trusted; nil if it sends none.
  ///   - invitationHandler: to be called once, from any thread: whether the invitation is accepted, and for which
  ///     session. Without a call the invitation ends at the inviter's timeout.
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void)

  /// Advertising has not started, for this reason, an `MCError`. Default: nothing.
  func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error)
}

extension MCNearbyServiceAdvertiserDelegate {
  /// Does nothing.
  public func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {}
}
