import Foundation
import Piconet
import Synchronization

/// One run of a session: its own node, which hides, and admits only peers brought by an accepted invitation or by a
/// member's introduction. It reports its event sequence to the delegate.
///
/// Unchecked: what changes is confined to the session's queue, but for `doors`, which has a lock.
final class SessionRun: @unchecked Sendable {
  /// The session id of all sessions: only accepted invitations decide which peers are in which.
  static let sessionID = "multipeer session"

  let core: SessionCore
  let starting: Task<LocalDevice.Presence, any Error>
  let doors = Mutex(Doors())
  var isOver = false
  var ledger = PeerLedger<NodeID>()
  var guests: [NodeID: Guest] = [:]
  /// Keyed by attempt: the task that works on it, the function that ends it, and its peer.
  var attempts: [Int: Attempt] = [:]
  /// The last nodes that were guests.
  var departed: [NodeID] = []
  let inbox = ResourceFolder()

  struct Attempt {
    let peer: MCPeerID
    /// Whether it is an attempt of custom discovery.
    var isCustom = false
    /// The node that it has led to, which the event sequence has not reported yet.
    var awaited: NodeID?
    var work: Task<Void, Never>?
    var deadline: Task<Void, Never>?
  }

  init(of core: SessionCore) {
    self.core = core
    starting = Task { try await Self.start(core) }
    Task { [self] in
      // An attempt reports why the node did not start.
      guard let node = try? await starting.value.node else { return }
      follow(node)
    }
  }

  private static func start(_ core: SessionCore) async throws -> LocalDevice.Presence {
    var configuration = NodeConfiguration(sessionID: sessionID, name: DisplayName.ofNode(core.peer.displayName))
    configuration.greeting = core.card.greeting
    configuration.discovers = false
    configuration.membership = .group
    configuration.introductions = .ask
    configuration.capacity = kMCSessionMaximumNumberOfPeers
    configuration.messageLimit = MCSession.messageLimit
    configuration.deliversLateMessages = true
    configuration.channelLimit = 2
    configuration.channelPriorities = [ControlMessage.channel: .high]
    let settings = LocalDeviceSettings.current
    // A peer that one member invites is connected with all, over another peer if no other link exists.
    configuration.relaying = RelayQuotas()
    // Peers find one another on one network, or over Bluetooth.
    configuration.refusalEndsMembers = true
    configuration.introducesOverLoopback = true
    let presence: LocalDevice.Presence
    switch core.identity {
    case .ofDevice:
      settings.apply(to: &configuration)
      configuration.transports.append(.relay)
      presence = try await LocalDevice.shared.start(configuration, for: core.peer)
    case .given(nil):
      throw MCError(.invalidParameter, "a security identity has one element here, a NodeIdentity of Piconet")
    case .given(let identity?):
      configuration.identity = .given(identity)
      settings.apply(to: &configuration, isAlone: true)
      configuration.transports.append(.relay)
      presence = LocalDevice.Presence(node: try await Node(configuration), host: nil)
    }
    return presence
  }

  private func follow(_ node: Node) {
    let events = node.session.events
    let invitations = node.invitations
    let introductions = node.session.introductions
    let session = node.session
    Task(executorPreference: core.executor) { [self] in
      for await event in events { await happened(event, in: session) }
    }
    Task { [self] in for await invitation in invitations { answer(invitation) } }
    Task { [self] in
      for await introduction in introductions {
        let isDenied = doors.withLock { $0.denied.contains(introduction.peer) }
        Task { if isDenied { await introduction.decline() } else { _ = try? await introduction.accept() } }
      }
    }
  }

  /// Does something on the session's queue, unless the run has ended by then.
  func onQueue(_ body: @escaping @Sendable () -> Void) {
    core.queue.async { [self] in if !isOver { body() } }
  }

  /// Ends the run: reports that no peer is connected any more, and nothing after that.
  func end() {
    onQueue { [self] in
      for guest in guests.values { close(guest, MCError(.cancelled, "this session was left")) }
      isOver = true
      for attempt in attempts.values {
        attempt.work?.cancel()
        attempt.deadline?.cancel()
      }
      attempts = [:]
      let told = ledger.end()
      for change in told { core.note(MCError(.cancelled, "this session was left"), of: change.peer) }
      core.tell(told)
      guests = [:]
      Task { [starting, inbox] in
        await (try? starting.value)?.stop()
        inbox.remove()
      }
    }
  }

  /// Ends everything that was open with a guest.
  func close(_ guest: Guest, _ error: MCError) {
    guest.deadline?.cancel()
    for resource in Array(guest.resources.values) { finish(resource, of: guest, .failure(error)) }
    for resource in Array(guest.sending.values) { resource.task?.cancel() }
    for output in guest.outputs { output.state?.end(.failed(error)) }
    guest.outputs = []
  }
}
