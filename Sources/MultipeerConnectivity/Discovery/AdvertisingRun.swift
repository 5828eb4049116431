import Foundation
import Piconet
import Synchronization

/// One run of an advertiser: a node that advertises, in a session for conversations about invitations alone. An
/// inviter's browser becomes a member when its invitation is accepted and is told where the accepting session is; both
/// then leave. Invitations that the program was asked about before it stopped go on: the node hides, and ends with the
/// last of them.
///
/// Unchecked: what changes has locks.
final class AdvertisingRun: Stoppable, @unchecked Sendable {
  typealias Delegate = () -> (MCNearbyServiceAdvertiser, any MCNearbyServiceAdvertiserDelegate)?

  private let peer: MCPeerID
  private let queue: DispatchQueue
  private let delegate: Delegate
  private let starting: Task<LocalDevice.Presence, any Error>
  private let conversations: Conversations
  /// The keys of inviters that may come back when their links break.
  private let inviters = Mutex<[PeerID]>([])

  init(
    _ peer: MCPeerID, _ info: [String: String], _ type: String, _ queue: DispatchQueue, delegate: @escaping Delegate
  ) {
    self.peer = peer
    self.queue = queue
    self.delegate = delegate
    let starting = Task { try await Self.start(peer, info, type) }
    self.starting = starting
    conversations = Conversations { Task { await (try? starting.value)?.stop() } }
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
    // Conversations, not members: they end soon.
    configuration.capacity = 256
    LocalDeviceSettings.current.apply(to: &configuration)
    return try await LocalDevice.shared.startAvailable(configuration, for: peer)
  }

  func stop() {
    guard conversations.stop() else { return }
    let keys = inviters.withLock { $0 }
    Task { [starting] in
      guard let node = try? await starting.value.node else { return }
      for key in Set(keys) { try? await node.expect(key, for: InvitationAnswer.longestTime) }
      try? await node.setAvailable(false)
    }
  }

  private func tell(
    _ body: @escaping @Sendable (MCNearbyServiceAdvertiser, any MCNearbyServiceAdvertiserDelegate) -> Void
  ) {
    queue.async { [self] in
      guard !conversations.isStopped, let (advertiser, delegate) = delegate() else { return }
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
    // A program that has stopped advertising is asked no more.
    guard let conversation = conversations.isStopped ? nil : conversations.begin() else {
      Task { await invitation.decline() }
      return
    }
    let key = invitation.peer.fingerprint
    inviters.withLock { $0.append(key) }
    let inviting = Conversation { [self] in
      inviters.withLock { keys in if let index = keys.firstIndex(of: key) { keys.remove(at: index) } }
      conversation.end()
    }
    let answer = InvitationAnswer(invitation, paper, in: inviting)
    known[invitation.peer.fingerprint, paper.ticket] = answer
    queue.async { [self] in
      guard !conversations.isStopped, let (advertiser, delegate) = delegate() else { return answer.give(false, nil) }
      delegate.advertiser(
        advertiser, didReceiveInvitationFromPeer: paper.card.peer, withContext: paper.context.map { Data($0) }
      ) { answer.give($0, $1) }
    }
  }
}
