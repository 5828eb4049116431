import Foundation
import Piconet
import Synchronization

/// One run of an advertiser: a node that advertises, in a session that is for conversations about invitations alone. An
/// inviter's browser becomes a member when its invitation is accepted, is told where the accepting session is, and both
/// leave.
///
/// Unchecked: what changes is confined to `queue`, but for `isStopped`, which has a lock.
final class AdvertisingRun: Stoppable, @unchecked Sendable {
  typealias Delegate = () -> (MCNearbyServiceAdvertiser, any MCNearbyServiceAdvertiserDelegate)?

  private let peer: MCPeerID
  private let queue: DispatchQueue
  private let delegate: Delegate
  private let starting: Task<LocalDevice.Presence, any Error>
  private let isStopped = Mutex(false)

  init(
    _ peer: MCPeerID, _ info: [String: String], _ type: String, _ queue: DispatchQueue, delegate: @escaping Delegate
  ) {
    self.peer = peer
    self.queue = queue
    self.delegate = delegate
    starting = Task { try await Self.start(peer, info, type) }
    Task { [self] in await run() }
  }

  private static func start(
    _ peer: MCPeerID, _ info: [String: String], _ type: String
  ) async throws -> LocalDevice.Presence {
    if let rule = ServiceTypeRules.brokenRule(type) ?? DiscoveryPairs.brokenRule(info) {
      throw MCError(.invalidParameter, rule)
    }
    var configuration = NodeConfiguration(
      sessionID: ServiceTypeRules.sessionID(type), name: DisplayName.ofNode(peer.displayName))
    configuration.mode = .server
    configuration.discoveryInfo = DiscoveryPairs.adding(peer, to: info)
    // Conversations, not members: they are over soon.
    configuration.capacity = 256
    LocalDeviceSettings.current.apply(to: &configuration)
    return try await LocalDevice.shared.startAvailable(configuration, for: peer)
  }

  func stop() {
    isStopped.withLock { $0 = true }
    Task { [starting] in await (try? starting.value)?.stop() }
  }

  private func tell(
    _ body: @escaping @Sendable (MCNearbyServiceAdvertiser, any MCNearbyServiceAdvertiserDelegate) -> Void
  ) {
    queue.async { [self] in
      guard !isStopped.withLock({ $0 }), let (advertiser, delegate) = delegate() else { return }
      body(advertiser, delegate)
    }
  }

  private func run() async {
    do {
      let invitations = try await starting.value.node.invitations
      var known = KnownInvitations()
      for await invitation in invitations { received(invitation, &known) }
    } catch {
      let error = MCError.wrapping(error)
      tell { $1.advertiser($0, didNotStartAdvertisingPeer: error) }
    }
  }

  private func received(_ invitation: Invitation, _ known: inout KnownInvitations) {
    guard let paper = try? InvitationPaper(invitation.context), paper.card.identifier != peer.identifier else {
      Task { await invitation.decline(.notWanted) }
      return
    }
    if let answer = known[invitation.peer.fingerprint, paper.ticket] { return answer.invited(again: invitation) }
    let answer = InvitationAnswer(invitation, paper)
    known[invitation.peer.fingerprint, paper.ticket] = answer
    queue.async { [self] in
      guard !isStopped.withLock({ $0 }), let (advertiser, delegate) = delegate() else { return answer.give(false, nil) }
      delegate.advertiser(
        advertiser, didReceiveInvitationFromPeer: paper.card.peer, withContext: paper.context.map { Data($0) }
      ) { answer.give($0, $1) }
    }
  }
}
