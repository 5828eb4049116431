import Foundation
import Piconet
import Synchronization

/// One run of a browser: a node that searches, and holds the conversations about invitations, one at a time with each
/// advertiser. After it was stopped the node goes on until the last of them is over.
///
/// Unchecked: what changes is behind `state`.
final class BrowsingRun: Stoppable, @unchecked Sendable {
  typealias Delegate = () -> (MCNearbyServiceBrowser, any MCNearbyServiceBrowserDelegate)?

  private struct State {
    var table = BrowsedPeers<NodeID>()
    /// The last conversation with each advertiser.
    var latest: [NodeID: Task<Void, Never>] = [:]
    /// Conversations that wait for an answer of an advertiser that has accepted.
    var answers: [NodeID: AsyncStream<[UInt8]>.Continuation] = [:]
  }

  private let peer: MCPeerID
  private let queue: DispatchQueue
  private let delegate: Delegate
  private let starting: Task<LocalDevice.Presence, any Error>
  private let conversations: Conversations
  private let state = Mutex(State())

  init(_ peer: MCPeerID, _ type: String, _ queue: DispatchQueue, delegate: @escaping Delegate) {
    self.peer = peer
    self.queue = queue
    self.delegate = delegate
    let starting = Task { try await Self.start(peer, type) }
    self.starting = starting
    conversations = Conversations { Task { await (try? starting.value)?.stop() } }
    Task(executorPreference: QueueExecutor(queue)) { [self] in await search() }
    Task { [self] in await listen() }
  }

  private static func start(_ peer: MCPeerID, _ type: String) async throws -> LocalDevice.Presence {
    if let rule = ServiceTypeRules.brokenRule(type) { throw MCError(.invalidParameter, rule) }
    var configuration = NodeConfiguration(
      sessionID: ServiceTypeRules.sessionID(type), name: DisplayName.ofNode(peer.displayName))
    configuration.mode = .client
    // Conversations, not members: they end soon.
    configuration.capacity = 256
    LocalDeviceSettings.current.apply(to: &configuration)
    return try await LocalDevice.shared.startAvailable(configuration, for: peer)
  }

  /// Stops it: its delegate is told nothing more.
  func stop() { _ = conversations.stop() }

  // MARK: Peers in sight

  /// Runs on the queue.
  private func search() async {
    do {
      for await peers in try await starting.value.node.peers {
        let sightings = peers.compactMap { node in
          DiscoveryPairs.taking(node.info).map {
            BrowsedPeers<NodeID>.Sighting(node: node.id, identifier: $0.identifier, name: node.name, info: $0.info)
          }
        }
        let changes = state.withLock { $0.table.update(sightings.filter { $0.identifier != peer.identifier }) }
        for change in changes { tell(change) }
      }
    } catch {
      guard let (browser, delegate) = delegate(), !conversations.isStopped else { return }
      delegate.browser(browser, didNotStartBrowsingForPeers: MCError.wrapping(error))
    }
  }

  private func tell(_ change: BrowsedPeers<NodeID>.Change) {
    guard !conversations.isStopped, let (browser, delegate) = delegate() else { return }
    switch change {
    case .found(let peer, let info): delegate.browser(browser, foundPeer: peer, withDiscoveryInfo: info)
    case .lost(let peer): delegate.browser(browser, lostPeer: peer)
    }
  }

  // MARK: Conversations

  /// - Parameter awaits: whether the peer may still have to come in sight.
  /// - Returns: false if the run is over.
  func invite(
    _ peer: MCPeerID, to core: SessionCore, _ context: Data?, _ patience: Duration, awaits: Bool = false
  ) -> Bool {
    guard let conversation = conversations.begin() else { return false }
    let advertiser = state.withLock { $0.table.newest(peer.identifier) }
    if advertiser == nil, !awaits {
      conversation.end()
      core.currentRun().refuse(peer, Self.notInSight(peer))
      return true
    }
    // Programs invite the peers that they see, again and again.
    if let advertiser, core.isConnected(peer, by: advertiser.peer) {
      conversation.end()
      return true
    }
    core.invite(peer, context: context, within: patience) {
      conversation.end()
    } by: { [self] paper in
      defer { conversation.end() }
      let end = ContinuousClock.now + patience
      let advertiser = if let advertiser { advertiser } else { try await sighting(of: peer, within: patience) }
      return try await afterOthers(with: advertiser) {
        try await self.converse(with: advertiser, paper, awaits ? end - .now : patience)
      }
    }
    return true
  }

  /// Waits until the peer is in sight.
  private func sighting(of peer: MCPeerID, within patience: Duration) async throws -> NodeID {
    let node = try await starting.value.node
    let found = await withTaskGroup(of: NodeID?.self) { group in
      group.addTask {
        for await peers in node.peers {
          // Of two, one may belong to a former run of its program that was killed.
          if let last = peers.last(where: { DiscoveryPairs.taking($0.info)?.identifier == peer.identifier }) {
            return last.id
          }
        }
        return nil
      }
      group.addTask {
        try? await Task.sleep(for: patience)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    guard let found else { throw Self.notInSight(peer) }
    return found
  }

  private static func notInSight(_ peer: MCPeerID) -> MCError {
    MCError(.notConnected, "\(peer.displayName) is not in sight of this browser")
  }

  /// Holds one conversation with an advertiser at a time.
  private func afterOthers<Value: Sendable>(
    with advertiser: NodeID, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = state.withLock { state in
      let previous = state.latest[advertiser]
      let task = Task { () async throws -> Value in
        await previous?.value
        return try await body()
      }
      state.latest[advertiser] = Task { _ = await task.result }
      return task
    }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  private func converse(
    with advertiser: NodeID, _ paper: InvitationPaper, _ patience: Duration
  ) async throws -> Meeting {
    let node = try await starting.value.node
    guard let peer = node.peer(advertiser) else {
      throw MCError(.notConnected, "the peer is not in sight any more")
    }
    let (answers, answer) = AsyncStream.makeStream(of: [UInt8].self)
    state.withLock { $0.answers[advertiser] = answer }
    defer { state.withLock { $0.answers[advertiser] = nil } }
    let member = try await member(of: node, by: peer, paper, patience)
    let deadline = Task {
      try? await Task.sleep(for: Self.answerPatience)
      answer.finish()
    }
    var place: MeetingPlace?
    for await bytes in answers {
      place = try? MeetingPlace(bytes)
      break
    }
    deadline.cancel()
    await member.disconnect()
    guard let place, place.ticket == paper.ticket else {
      throw MCError(.notConnected, "the peer has accepted, and not said where its session is")
    }
    let addresses = place.at(host: member.proven.remoteHost, over: member.proven.transport)
    return Meeting(place: place, addresses: addresses)
  }

  /// Becomes a member with the advertiser, once its program has accepted. A link that breaks before then is replaced
  /// until the timeout: the advertiser recognizes the invitation by its ticket, and asks its program once.
  private func member(
    of node: Node, by peer: Peer, _ paper: InvitationPaper, _ patience: Duration
  ) async throws -> Member {
    let end = ContinuousClock.now + patience
    var pause = Duration.milliseconds(100)
    while true {
      do throws(PiconetError) {
        return try await node.invite(
          peer, context: paper.bytes, timeout: max(end - .now, .milliseconds(1)))
      } catch {
        if error.code == .notWanted { throw ControlMessage.Refusal.encryption.error(isOurs: false) }
        guard error.code == .linkFailed, .now + pause < end else { throw MCError(error) }
      }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(2))
    }
  }

  /// The time in which an advertiser that has accepted must say where the session is.
  private static let answerPatience = Duration.seconds(10)

  /// Receives the messages of advertisers.
  private func listen() async {
    guard let events = try? await starting.value.node.session.events else { return }
    for await event in events {
      switch event {
      case .message(let message):
        state.withLock { $0.answers[message.member.id] }?.yield(Array(message.bytes))
      case .left(let member, _): state.withLock { $0.answers[member.id] }?.finish()
      case .offer(let offer): await offer.decline(.notWanted)
      case .joined, .stream, .suspended, .moved, .resumed: break
      @unknown default: break
      }
    }
  }
}
