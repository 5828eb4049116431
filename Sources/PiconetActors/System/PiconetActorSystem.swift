import Distributed
import Piconet
import PiconetCalls
import Synchronization

/// Objects that members of a session call: Swift's distributed actors over the node's session.
///
/// A call goes to a member, over any link that leads to it, and survives a change of links; it fails at once when the
/// member leaves. It is served at most once. Cancelling the calling task cancels the task that serves it.
///
/// Calls use the channels 62 and 63 of the session. A program that reads messages of all channels gets those as well,
/// and must skip them; if it reads them and stops, it holds up calls.
///
/// Any task may use a system. It ends with `stop`, or with its node; published objects keep it alive until then.
public final class PiconetActorSystem: DistributedActorSystem {
  public typealias ActorID = RemoteObjectID
  public typealias InvocationEncoder = RemoteCallEncoder
  public typealias InvocationDecoder = RemoteCallDecoder
  public typealias ResultHandler = RemoteResultHandler
  public typealias SerializationRequirement = any Codable

  /// The channel of calls and answers.
  public static let channel: MessageChannel = 62
  /// The channel of long calls and answers.
  public static let longChannel: MessageChannel = 63

  /// The node whose session it uses.
  public let node: Node
  let configuration: ActorSystemConfiguration
  let limits: CallLimits
  /// Distinguishes this system from others of the same node.
  let instance = UInt64.random(in: .min ... .max)
  let timer = DeadlineTimer()
  let objects = ObjectTable()
  let targets = TargetTable()
  let names: SessionNames
  let signals = SessionSignals()
  private let conversations = Mutex(Conversations())
  private let tasks = Mutex<[Task<Void, Never>]>([])
  private let listeners = Mutex(Listeners())
  private let allowed = Mutex<Set<PeerID>>([])

  private struct Conversations {
    var ofMembers: [Member: Conversation] = [:]
    var isOver = false
  }

  private struct Listeners {
    var last = 0
    var all: [Int: FairMailbox<Member?, ActorSystemEvent>] = [:]
    var isOver = false
  }

  /// Begins to take calls, and tells members so.
  /// - Throws: `invalidArgument` naming the broken rule.
  public init(
    _ node: Node, _ configuration: ActorSystemConfiguration = ActorSystemConfiguration()
  ) throws(RemoteCallError) {
    try configuration.validate()
    self.node = node
    self.configuration = configuration
    limits = CallLimits(frame: configuration.sizeLimit, calls: configuration.callLimit)
    names = SessionNames(of: node.id)
    names.start(self)
    timer.start { [weak self] now in self?.expire(at: now) }
    try publishNodeObject()
    begin()
  }

  /// Makes a system, hands it to `body`, and stops it when `body` returns or throws.
  public static func run<Value>(
    on node: Node, _ configuration: ActorSystemConfiguration = ActorSystemConfiguration(),
    isolation: isolated (any Actor)? = #isolation, _ body: (PiconetActorSystem) async throws -> Value
  ) async throws -> Value {
    let system = try PiconetActorSystem(node, configuration)
    defer { system.stop() }
    return try await body(system)
  }

  deinit { stop() }

  private func begin() {
    let session = node.session
    for member in session.members {
      names.joined(member)
      _ = conversation(with: member)
    }
    let urgent = session.messages(in: Self.channel)
    let long = session.messages(in: Self.longChannel)
    let membership = session.membership
    tasks.withLock { tasks in
      for (messages, isLong) in [(urgent, false), (long, true)] {
        tasks.append(
          // On the node's own thread, where messages arrive: it decides and passes on, and never waits.
          Task(executorPreference: node.executor) { [weak self] in
            var last: Conversation?
            var messages = messages.makeAsyncIterator()
            while let first = await messages.next() {
              var next: Message? = first
              var woken = WokenCalls()
              var frames = 0
              while let message = next {
                if last?.member != message.member { last = self?.conversation(with: message.member) }
                last?.received(message.bytes, isLong: isLong, waking: &woken)
                frames += 1
                // Frames that wake no task must not hold back the tasks that are woken.
                next = max(frames, woken.count) < WokenCalls.limit ? messages.nextAtOnce() : nil
              }
              woken.start()
            }
            self?.stop(isDisconnected: true)
          })
      }
      tasks.append(
        Task { [weak self] in
          for await change in membership { self?.follow(change) }
          self?.stop(isDisconnected: true)
        })
    }
  }

  private func follow(_ change: MembershipChange) {
    switch change {
    case .joined(let member):
      names.joined(member)
      _ = conversation(with: member)
    case .left(let member, let error):
      let ended = conversations.withLock { $0.ofMembers.removeValue(forKey: member) }
      guard let ended else { return }
      ended.end(CallFailure(.left, "the member has left"), departure: error)
      // Its system may have ended before.
      names.ended(ended, isGone: true)
    // Calls outlive the change of links.
    case .suspended(let member, _): names.setSuspended(member, true)
    case .resumed(let member, _): names.setSuspended(member, false)
    case .moved: break
    @unknown default: break
    }
  }

  /// Stops the system: calls in both directions end with `shuttingDown`, objects are unpublished, and members are told.
  public func stop() { stop(isDisconnected: false) }

  /// - Parameter isDisconnected: whether the node has stopped.
  private func stop(isDisconnected: Bool) {
    let (isFirst, ended) = conversations.withLock { state in
      defer {
        state.isOver = true
        state.ofMembers = [:]
      }
      return (!state.isOver, Array(state.ofMembers.values))
    }
    if isFirst {
      if isDisconnected { tell(.disconnected) }
      tell(.stopping)
    }
    for task in tasks.withLock({ tasks in
      defer { tasks = [] }
      return tasks
    }) { task.cancel() }
    timer.stop()
    let failure = CallFailure(.shuttingDown, "the program takes no calls any more")
    for conversation in ended { conversation.end(failure, saysGoodbye: true) }
    objects.removeAll()
    names.stop()
    signals.stop()
    for listener in listeners.withLock({ listeners in
      listeners.isOver = true
      defer { listeners.all = [:] }
      return Array(listeners.all.values)
    }) { listener.finish() }
  }

  /// Whether it has stopped, or is about to.
  var isOver: Bool { conversations.withLock { $0.isOver } }

  // MARK: Members

  /// Returns the conversation with a member, which begins with this if needed; nil if it is no longer a member.
  func conversation(with member: Member) -> Conversation? {
    conversations.withLock { state in
      if let known = state.ofMembers[member] { return known }
      // Messages of a former member may be read after its end was.
      guard !state.isOver, node.session[member.id] == member else { return nil }
      let conversation = Conversation(with: member, of: self)
      state.ofMembers[member] = conversation
      return conversation
    }
  }

  /// Returns the conversation with the member that is this node.
  /// - Throws: why there is no conversation.
  func conversation(with id: NodeID) throws(RemoteCallError) -> Conversation {
    guard let member = node.session[id] else {
      if node.session.members.contains(where: { $0.id.peer == id.peer }) {
        throw RemoteCallError(.restarted, node: id, detail: "the device was started anew; what it served then is gone")
      }
      throw RemoteCallError(.notConnected, node: id, detail: "the device is no member of the session")
    }
    guard let conversation = conversation(with: member) else {
      throw RemoteCallError(.shuttingDown, node: id, detail: "the actor system has stopped, or the member has left")
    }
    return conversation
  }

  var allConversations: [Conversation] { conversations.withLock { Array($0.ofMembers.values) } }

  func greeted(_ conversation: Conversation, _ hello: CallFrame.Hello) {
    names.greeted(conversation, instance: hello.instance)
    conversation.hasToTell(signals.keys)
    tell(.found(conversation.member, about: conversation.about ?? [:]), of: conversation.member)
  }

  private func expire(at now: Duration) -> Duration? {
    allConversations.compactMap { $0.expire(at: now) }.min()
  }

  /// The members that run an actor system, too, with their descriptions of themselves.
  public var members: [Member: [String: String]] {
    conversations.withLock { $0.ofMembers.compactMapValues(\.about) }
  }

  /// The events from now on. At most 1,024 events caused by one member wait for the reader, and as many caused by this
  /// node; beyond that the oldest of these are dropped. Ends with the system.
  public var events: AsyncStream<ActorSystemEvent> {
    let mailbox = FairMailbox<Member?, ActorSystemEvent>(countLimit: 1_024)
    let number = listeners.withLock { listeners -> Int? in
      if listeners.isOver { return nil }
      listeners.last += 1
      listeners.all[listeners.last] = mailbox
      return listeners.last
    }
    guard let number else {
      mailbox.finish()
      return mailbox.stream({ $0 }, end: {})
    }
    return mailbox.stream({ $0 }) { [weak self] in
      // The events that wait in it are released once the lock is free.
      _ = self?.listeners.withLock { $0.all.removeValue(forKey: number) }
    }
  }

  /// - Parameter source: the member that caused the event; nil: this node.
  func tell(_ event: ActorSystemEvent, of source: Member? = nil) {
    for listener in listeners.withLock({ Array($0.all.values) }) { listener.add(event, of: source) }
  }

  // MARK: The policy

  /// Lets an introduced peer do what the policy allows to those that were let in here. It holds for all memberships of
  /// this key, until the system ends. The peer is told the values of kept signals now, and the names that it has
  /// claimed belong to it now, if no other node comes before it.
  public func allow(_ peer: PeerID) {
    _ = allowed.withLock { $0.insert(peer) }
    for conversation in conversations(with: peer) {
      conversation.hasToTell(signals.keys)
      names.reconsider(conversation)
    }
  }

  /// Revokes `allow`. Calls that are being served go on, and signals that it has told stay known; its names become
  /// free.
  public func disallow(_ peer: PeerID) {
    _ = allowed.withLock { $0.remove(peer) }
    for conversation in conversations(with: peer) { names.reconsider(conversation) }
  }

  private func conversations(with peer: PeerID) -> [Conversation] {
    allConversations.filter { $0.member.id.peer == peer }
  }

  func isAllowed(_ peer: PeerID) -> Bool { allowed.withLock { $0.contains(peer) } }
}
