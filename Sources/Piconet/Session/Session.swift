import PiconetEngine
import PiconetRuntime
import PiconetWire

/// The group of peers that accepted one another.
public struct Session: Sendable {
  let core: NodeCore

  /// The members as they are now, in the order of names.
  public var members: [Member] { core.members }

  /// Returns the member that this peer is now; nil if it is not a member.
  public subscript(_ peer: NodeID) -> Member? { core.member(peer) }

  /// Everything that happens in the session, in one order. The sequences below are views of it, each of one kind.
  public var events: SessionEvents { SessionEvents(core: core) }

  /// Members that join and leave, each reported once, in order. At most 4,096 changes wait for a reader; beyond that
  /// the oldest are dropped.
  public var membership: EventSequence<MembershipChange> {
    view(.changes) { entry, core in
      guard case .change(let change) = entry else { return nil }
      return MembershipChange(Member(membership: change.membership, core: core), change.kind)
    }
  }

  /// Messages from all members.
  public var messages: Messages { Messages(core: core) }

  /// Returns messages from all members in one channel: reading these holds up no other channel, and is held up by none.
  /// Messages of a channel that is not read, here or in `messages` or `events`, wait.
  public func messages(in channel: MessageChannel) -> Messages { Messages(core: core, channel: channel) }

  /// Resources that members offer; the program must answer each. An offer that ends before a reader has come to it is
  /// removed.
  public var offers: EventSequence<IncomingOffer> {
    view(.offers) { entry, _ in if case .offer(let offer) = entry { offer } else { nil } }
  }

  /// Streams that members open to this node. A stream that ends before a reader has come to it is removed. A program
  /// that does not want a stream cancels it, or drops it.
  public var streams: EventSequence<IncomingStream> {
    view(.streams) { entry, _ in if case .stream(let stream) = entry { stream } else { nil } }
  }

  private func view<Element>(
    _ kinds: SessionLog.Kinds, _ element: @escaping @Sendable (SessionLog.Entry, NodeCore) -> Element?
  ) -> EventSequence<Element> {
    EventSequence(source: SessionView(core: core, kinds: kinds, element: element))
  }

  /// Sends one message to all members as they are now. It goes to each as `Member.send` says. The content is shared,
  /// not copied, and a member that takes it late does not hold back the others. If a member leaves meanwhile, that is
  /// no error.
  /// - Throws: `messageTooLarge` with both numbers if it exceeds the limit of any of them, before a byte leaves for
  ///   any; `cancelled`.
  public func send(
    _ bytes: some Sequence<UInt8>, mode: DeliveryMode = .reliable
  ) async throws(PiconetError) {
    try await send(Array(bytes)[...], to: members, areNamed: false, mode)
  }

  /// Unavailable: a message is bytes, such as `send(text.utf8)`.
  @available(*, unavailable, message: "a message is bytes: send(text.utf8)")
  public func send(_ text: String) async throws(PiconetError) { try await send(text.utf8) }

  /// Sends one message in a channel to all members as they are now, to each as `Member.send(_:in:)` says. If a member
  /// leaves meanwhile, that is no error.
  /// - Throws: `messageTooLarge`, or `notSupported` if any of them takes no messages in this channel, before a byte
  ///   leaves for any; `cancelled`.
  public func send(_ bytes: some Sequence<UInt8>, in channel: MessageChannel) async throws(PiconetError) {
    try await send(Array(bytes)[...], to: members, areNamed: false, .reliable, in: channel)
  }

  /// Sends one message to these members, to each as `Member.send` says.
  /// - Throws: `messageTooLarge` with both numbers if it exceeds the limit of any of them, before a byte leaves for
  ///   any; otherwise the error of one of them, and the others still get the message.
  public func send(
    _ bytes: some Sequence<UInt8>, to members: [Member], mode: DeliveryMode = .reliable
  ) async throws(PiconetError) {
    try await send(Array(bytes)[...], to: members, areNamed: true, mode)
  }

  /// Sends one message in a channel to these members, to each as `Member.send(_:in:)` says.
  /// - Throws: `messageTooLarge`, or `notSupported` if any of them takes no messages in this channel, before a byte
  ///   leaves for any; otherwise the error of one of them, and the others still get the message.
  public func send(
    _ bytes: some Sequence<UInt8>, to members: [Member], in channel: MessageChannel
  ) async throws(PiconetError) {
    try await send(Array(bytes)[...], to: members, areNamed: true, .reliable, in: channel)
  }

  /// Sends one message to all members as they are now if each of them can take it at once, and never waits; see
  /// `trySend(_:to:mode:)`. If a member leaves meanwhile, that is no error.
  public func trySend(_ bytes: some Sequence<UInt8>, mode: DeliveryMode = .reliable) throws(PiconetError) -> Bool {
    try trySend(bytes, to: members, areNamed: false, mode)
  }

  /// Sends in a channel; see above.
  public func trySend(_ bytes: some Sequence<UInt8>, in channel: MessageChannel) throws(PiconetError) -> Bool {
    try trySend(bytes, to: members, areNamed: false, .reliable, in: channel)
  }

  /// Sends one message to these members if each of them can take it at once, and never waits: to all or, if one has no
  /// room, to none. An unreliable message goes to those that have room, and is dropped and counted for the others.
  /// - Returns: false if nothing was sent because a reliable message has to wait for one of them.
  /// - Throws: `messageTooLarge` with both numbers if it exceeds the limit of any of them, or why one of them has left;
  ///   nothing was sent.
  public func trySend(
    _ bytes: some Sequence<UInt8>, to members: [Member], mode: DeliveryMode = .reliable
  ) throws(PiconetError) -> Bool {
    try trySend(bytes, to: members, areNamed: true, mode)
  }

  /// Sends in a channel; see above.
  /// - Throws: also `notSupported` if any of them takes no messages in this channel.
  public func trySend(
    _ bytes: some Sequence<UInt8>, to members: [Member], in channel: MessageChannel
  ) throws(PiconetError) -> Bool {
    try trySend(bytes, to: members, areNamed: true, .reliable, in: channel)
  }

  private func trySend(
    _ bytes: some Sequence<UInt8>, to members: [Member], areNamed: Bool, _ mode: DeliveryMode,
    in channel: MessageChannel = 0
  ) throws(PiconetError) -> Bool {
    let slice = bytes as? ArraySlice<UInt8> ?? Array(bytes)[...]
    for member in members {
      if let error = member.refusal(of: slice.count, mode, in: channel) { throw error }
    }
    let cost = slice.count + WireLimits.messageCost
    var taken: [Member] = []
    var failure: PiconetError?
    var mustWait = false
    for member in members {
      switch member.budgets[channel].claim(cost, mode) {
      case .taken: taken.append(member)
      case .dropped: continue
      case .mustWait: mustWait = true
      case .ended(let error): if areNamed { failure = error }
      }
      if mustWait || failure != nil { break }
    }
    guard failure == nil, !mustWait else {
      for member in taken { member.budgets[channel].giveBack(cost) }
      if let failure { throw failure }
      return false
    }
    for member in taken { core.submit(.fact(.messageQueued(member.id, slice, mode, in: channel))) }
    return true
  }

  /// - Parameter areNamed: whether it is an error if one of them has left.
  private func send(
    _ slice: ArraySlice<UInt8>, to receivers: [Member], areNamed: Bool, _ mode: DeliveryMode,
    in channel: MessageChannel = 0
  ) async throws(PiconetError) {
    for member in receivers {
      if let error = member.refusal(of: slice.count, mode, in: channel) { throw error }
    }
    let cost = slice.count + WireLimits.messageCost
    var taken: [NodeInput] = []
    var waiting: [Member] = []
    var failure: PiconetError?
    for member in receivers {
      switch member.budgets[channel].claim(cost, mode) {
      case .taken: taken.append(.fact(.messageQueued(member.id, slice, mode, in: channel)))
      case .dropped: break
      case .mustWait: waiting.append(member)
      case .ended(let error): if areNamed { failure = failure ?? error }
      }
    }
    for input in taken { core.submit(input) }
    if let error = await send(slice, toWaiting: waiting, areNamed: areNamed, in: channel) { failure = failure ?? error }
    if let failure { throw failure }
  }

  /// - Returns: the error of the first member in this list that has one; of members that are not named, none because
  ///   they have left.
  private func send(
    _ slice: ArraySlice<UInt8>, toWaiting members: [Member], areNamed: Bool, in channel: MessageChannel
  ) async -> PiconetError? {
    switch members.count {
    case 0: return nil
    case 1: return await Self.send(slice, to: members[0], isNamed: areNamed, in: channel)
    default:
      return await withTaskGroup(of: (Int, PiconetError?).self) { group in
        for (index, member) in members.enumerated() {
          group.addTask { (index, await Self.send(slice, to: member, isNamed: areNamed, in: channel)) }
        }
        return await group.reduce(into: [Int: PiconetError]()) { $0[$1.0] = $1.1 }.min { $0.key < $1.key }?.value
      }
    }
  }

  private static func send(
    _ slice: ArraySlice<UInt8>, to member: Member, isNamed: Bool, in channel: MessageChannel
  ) async -> PiconetError? {
    do throws(PiconetError) {
      try await member.send(slice, .reliable, in: channel)
      return nil
    } catch {
      return isNamed || error.code == .cancelled || member.budgets.ending == nil ? error : nil
    }
  }

  /// Removes a member for the whole group, with the code `removed` and our id as `removedBy` on all sides. It is
  /// disconnected here, and by every other member of this node that follows our requests (`NodeConfiguration.removals`:
  /// by default the members to which we have introduced it). Returns once it is gone here. It may be invited again.
  /// - Throws: `notConnected` if it is no longer a member, or is leaving; `limitExceeded` after 512 removals at once,
  ///   with one more after each two seconds: it has left here then, and the others were not asked.
  public func remove(_ member: Member) async throws(PiconetError) {
    var error = PiconetError(.removed, peer: member.id, blame: .us)
    error.removedBy = core.id
    // Tasks that wait to send, or send from now on, get this error.
    member.budgets.end(error)
    if case .failure(let ending) = await core.answer(to: .remove(member.id), of: member) {
      throw PiconetError(ending, peer: member.id)
    }
  }

  /// Renamed to `disconnectAll`.
  @available(*, unavailable, renamed: "disconnectAll")
  public func disconnect() async { await disconnectAll() }

  /// Renamed to `disconnectAll`; `Node.stop` ends the node as well.
  @available(*, unavailable, renamed: "disconnectAll")
  public func leave() async { await disconnectAll() }

  /// Leaves all members, as `disconnect(_:)` does. The node stays as available as it is.
  public func disconnectAll() async { await disconnect(members) }

  /// Leaves these members at the same time, each as `Member.disconnect` does. Members that are reached over other
  /// members are left up to half a second earlier, since their goodbyes go over those.
  public func disconnect(_ members: [Member]) async {
    let routes = members.map { (member: $0, relayCount: $0.route?.relayCount ?? 0) }
    for member in members { member.budgets.end(PiconetError(.left, peer: member.id, blame: .us)) }
    let areRelayedGone = Outcome<Void>()
    let headStart = Task {
      if (try? await ContinuousClock().sleep(for: .milliseconds(500))) != nil { areRelayedGone.end(()) }
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for count in Set(routes.map(\.relayCount)).subtracting([0]).sorted(by: >) {
          await Self.leave(routes.filter { $0.relayCount == count }.map(\.member))
        }
        areRelayedGone.end(())
      }
      for (member, relayCount) in routes where relayCount == 0 {
        group.addTask {
          await areRelayedGone.wait()
          await member.disconnect()
        }
      }
    }
    headStart.cancel()
  }

  private static func leave(_ members: [Member]) async {
    await withTaskGroup(of: Void.self) { group in
      for member in members { group.addTask { await member.disconnect() } }
    }
  }
}
