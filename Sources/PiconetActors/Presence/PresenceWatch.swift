import Piconet
import PiconetCalls
import Synchronization

/// The known presence of a target.
@nonexhaustive
public enum Presence: Sendable {
  /// The target has answered.
  case present
  /// The target has not answered, for this reason: `timedOut`, `left`, `restarted`, `noSuchObject`, `noOwner`, or
  /// another reason of a call.
  case absent(RemoteCallError)
}

/// A target has become present or absent.
public struct PresenceChange: Sendable {
  /// The target.
  public let target: PingTarget
  /// The presence from now on. It differs from the last change of this target in more than the reason.
  public let presence: Presence
}

/// Watches the presence of a group of nodes, objects and owners of names. It pings each again and again, and at once
/// when a member comes or a name has another owner. A member that leaves is absent at once.
///
/// It may be used from any task, and ends with `end`, with the actor system, or when the program releases it.
public final class PresenceWatch: Sendable {
  typealias Pings = PresencePings<PingTarget, RemoteCallError>

  private struct State {
    var pings: Pings
    var isOver = false
    var following: Task<Void, Never>?
  }

  /// The time from the beginning of one ping to that of the next.
  public let interval: Duration
  /// How long an answer may take.
  public let limit: Duration
  /// The changes from now on, beginning with the first result for each target. For one reader; at most 1,024 changes
  /// wait for it, beyond that the oldest are dropped.
  public let changes: AsyncStream<PresenceChange>

  private let system: PiconetActorSystem
  private let timer = DeadlineTimer()
  private let state: Mutex<State>
  private let tell: @Sendable (PresenceChange) -> Void
  private let finish: @Sendable () -> Void

  /// Creates a watch without targets.
  /// - Parameters:
  ///   - system: the actor system that pings.
  ///   - interval: from the beginning of one ping to that of the next: 10 ms to a day. Default 10 s. If an answer takes
  ///     longer, the next ping waits for its end.
  ///   - limit: how long an answer may take: 1 ms to a day. Default 5 s.
  /// - Throws: `invalidArgument` naming the broken rule.
  public convenience init(
    _ system: PiconetActorSystem, every interval: Duration = .seconds(10), within limit: Duration = .seconds(5)
  ) throws(RemoteCallError) {
    let (changes, continuation) = AsyncStream.makeStream(
      of: PresenceChange.self, bufferingPolicy: .bufferingNewest(Self.waitingLimit))
    try self.init(system, every: interval, within: limit, changes) {
      continuation.yield($0)
    } ending: {
      continuation.finish()
    }
  }

  static let waitingLimit = 1_024

  init(
    _ system: PiconetActorSystem, every interval: Duration, within limit: Duration,
    _ changes: AsyncStream<PresenceChange>, telling tell: @escaping @Sendable (PresenceChange) -> Void,
    ending finish: @escaping @Sendable () -> Void
  ) throws(RemoteCallError) {
    let day = Duration.milliseconds(Int64(CallLimits.milliseconds))
    guard .milliseconds(10) <= interval, interval <= day, .milliseconds(1) <= limit, limit <= day else {
      throw RemoteCallError(
        .invalidArgument, detail: "an interval is 10 ms to a day, and a limit 1 ms to a day")
    }
    self.system = system
    self.interval = interval
    self.limit = limit
    self.changes = changes
    self.tell = tell
    self.finish = finish
    state = Mutex(State(pings: Pings(every: interval, within: limit)))
    timer.start { [weak self] now in self?.expire(at: now) }
    let events = system.events
    let following = Task { [weak self] in
      for await event in events { self?.follow(event) }
      self?.end()
    }
    state.withLock { $0.following = following }
  }

  deinit { end() }

  /// Begins to watch a target; its first result is reported as a change. A target that is watched already stays as it
  /// is.
  /// - Throws: `invalidArgument` for the 257th; `shuttingDown` after the end.
  public func add(_ target: PingTarget) throws(RemoteCallError) {
    var isOver = false
    var isTaken = false
    change { state, now in
      isOver = state.isOver
      guard !isOver, let effects = state.pings.add(target, at: now) else { return [] }
      isTaken = true
      return effects
    }
    if isOver { throw RemoteCallError(.shuttingDown, detail: "the watch has ended") }
    if !isTaken {
      throw RemoteCallError(.invalidArgument, detail: "a watch has \(Pings.countLimit) targets at most")
    }
  }

  /// Stops watching a target; no change of it is reported from now on.
  public func remove(_ target: PingTarget) { state.withLock { $0.pings.remove(target) } }

  /// The watched targets, in the order in which they were added.
  public var targets: [PingTarget] { state.withLock { $0.pings.targets } }

  /// Returns the presence known now, with the latest reason; nil: not known yet, or the target is not watched.
  public func presence(of target: PingTarget) -> Presence? {
    state.withLock { $0.pings.presence(of: target) }.flatMap(presence)
  }

  /// Ends the watch and its changes.
  public func end() {
    let following = state.withLock { state in
      state.isOver = true
      defer { state.following = nil }
      for target in state.pings.targets { state.pings.remove(target) }
      return state.following
    }
    following?.cancel()
    timer.stop()
    finish()
  }

  // MARK: Events

  private func follow(_ event: ActorSystemEvent) {
    // The effect of our own system's end on calls says nothing about others.
    if case .stopping = event { return end() }
    change { state, now in
      var effects: [Pings.Effect] = []
      for target in state.pings.targets { effects += Self.effects(of: event, on: target, &state.pings, at: now) }
      return effects
    }
  }

  private static func effects(
    of event: ActorSystemEvent, on target: PingTarget, _ pings: inout Pings, at now: Duration
  ) -> [Pings.Effect] {
    switch (event, target) {
    case (.lost(let member, let error), .node(let id)) where id == member.id: pings.isGone(target, error)
    case (.lost(let member, let error), .object(let object)) where object.node == member.id:
      pings.isGone(target, error)
    case (.found(let member, _), .node(let id)) where id.peer == member.id.peer: pings.ask(target, at: now)
    case (.found(let member, _), .object(let object)) where object.node.peer == member.id.peer:
      pings.ask(target, at: now)
    case (.ownerChanged(let changed, _, let owner), .owner(let name, _)) where name == changed:
      owner == nil ? pings.isGone(target, .noOwner(of: name)) : pings.ask(target, at: now)
    default: []
    }
  }

  private func expire(at now: Duration) -> Duration? {
    change { state, _ in state.pings.expired(at: now) }
    return state.withLock { $0.pings.nextDeadline }
  }

  /// Changes the state, and carries out the effects. Changes are reported under the lock, in their order.
  private func change(_ body: (inout State, Duration) -> [Pings.Effect]) {
    let now = timer.now
    let (pings, next) = state.withLock { state in
      var pings: [(PingTarget, UInt64)] = []
      for effect in body(&state, now) {
        switch effect {
        case .ping(let target, let number): pings.append((target, number))
        case .changed(let target, let presence):
          if let presence = self.presence(presence) { tell(PresenceChange(target: target, presence: presence)) }
        }
      }
      return (pings, state.pings.nextDeadline)
    }
    for (target, number) in pings {
      Task { [weak self, system, limit] in
        let answer = await Self.answer(of: target, system, within: limit)
        self?.change { state, now in state.pings.ended(number, answer, at: now) }
      }
    }
    if let next { timer.needs(next) }
  }

  private static func answer(
    of target: PingTarget, _ system: PiconetActorSystem, within limit: Duration
  ) async -> Pings.Answer {
    do throws(RemoteCallError) {
      try await system.ping(target, within: limit)
      return .answered
    } catch {
      // A ping that was not sent for lack of room shows nothing, nor does one that our own end has ended.
      return error.code == .tooManyCalls || error.code == .cancelled || system.isOver ? .untried : .failed(error)
    }
  }

  private func presence(_ presence: Pings.Presence) -> Presence? {
    switch presence {
    case .unknown: nil
    case .present: .present
    case .absent(let reason): .absent(reason ?? RemoteCallError(.timedOut, detail: "no answer within \(limit)"))
    }
  }
}

extension PiconetActorSystem {
  /// Returns the presence of nodes, objects or owners of names: the first result, and then each change. Ends with the
  /// system, or when its reader is released. A `PresenceWatch` watches a group that changes.
  /// - Parameters:
  ///   - targets: at most 256 targets.
  ///   - interval: from the beginning of one ping to that of the next: 10 ms to a day. Default 10 s.
  ///   - limit: how long an answer may take: 1 ms to a day. Default 5 s.
  /// - Throws: `invalidArgument` naming the broken rule; `shuttingDown`.
  public func presence(
    of targets: PingTarget..., every interval: Duration = .seconds(10), within limit: Duration = .seconds(5)
  ) throws(RemoteCallError) -> AsyncStream<PresenceChange> {
    let (changes, continuation) = AsyncStream.makeStream(
      of: PresenceChange.self, bufferingPolicy: .bufferingNewest(PresenceWatch.waitingLimit))
    // It does not hold the reader's end of the stream, which would keep the stream from ending with its reader.
    let watch = try PresenceWatch(self, every: interval, within: limit, AsyncStream { $0.finish() }) {
      continuation.yield($0)
    } ending: {
      continuation.finish()
    }
    for target in targets { try watch.add(target) }
    continuation.onTermination = { _ in watch.end() }
    return changes
  }
}
