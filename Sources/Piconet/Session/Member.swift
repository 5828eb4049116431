import PiconetEngine
import PiconetFiles
import PiconetRuntime
import PiconetWire

/// A member of the session, to which messages and files can be sent. Any task may use it. Once the member has left,
/// every call throws the reason why it left.
public struct Member: Sendable, Identifiable {
  let membership: Membership
  let core: NodeCore

  /// The member's proven identity, and how it is connected.
  public var proven: ProvenMember { membership.proven }
  var budgets: MessageBudgets { membership.budgets }

  /// The key's fingerprint and the incarnation.
  public var id: NodeID { membership.proven.id }
  /// The transport over which the member is reached now; nil while it is suspended, and after it has left.
  /// `Session.membership` reports each change.
  public var transport: TransportKind? { membership.transport }
  /// The transport over which the member is reached now, and its relays; nil while it is suspended, and after it has
  /// left.
  public var route: MemberRoute? { membership.route }
  /// The proof of whose key it is: the one from when it joined (`proven.confirmation`), or a code that was compared
  /// since (`compareCodes`).
  public var confirmation: MemberConfirmation { membership.confirmation }
  /// The name that the member's user has given it; not to be trusted.
  public var name: String { membership.proven.name }

  /// Sends a message and returns once the association has taken it. The message will arrive in the order of the calls,
  /// exactly once, or the member leaves the session with a reason. Waits while too much is queued.
  ///
  /// An unreliable message never waits: it is dropped, and counted, if the connection can't take it now. The receiver
  /// drops one that arrives behind a newer one (see `NodeConfiguration.deliversLateMessages`). It has at most
  /// `proven.unreliableLimit` bytes; 1,000 are recommended, which most transports carry in one packet.
  /// - Throws: `messageTooLarge` with both numbers, before a byte leaves; `cancelled`; `limitExceeded` if 65,536 calls
  ///   wait already; why the member has left.
  public func send(_ bytes: [UInt8], mode: DeliveryMode = .reliable) async throws(PiconetError) {
    try await send(bytes[...], mode: mode)
  }

  /// Sends bytes that are not in an array, such as `text.utf8`; see above.
  public func send(_ bytes: some Sequence<UInt8>, mode: DeliveryMode = .reliable) async throws(PiconetError) {
    try await send(Array(bytes)[...], mode: mode)
  }

  /// Unavailable: a message is bytes, such as `send(text.utf8)`.
  @available(*, unavailable, message: "a message is bytes: send(text.utf8)")
  public func send(_ text: String) async throws(PiconetError) { try await send(text.utf8) }

  /// Sends a slice, sharing its storage instead of copying it; see above.
  public func send(_ bytes: ArraySlice<UInt8>, mode: DeliveryMode = .reliable) async throws(PiconetError) {
    try await send(bytes, mode, in: 0)
  }

  /// Sends a message in a channel: in order with the messages of that channel only, and held up by no other. A long
  /// message goes in parts, and messages of other channels go between them. A channel that is unread on the other side
  /// blocks no other channel. `NodeConfiguration.channelPriorities` says which channels go first. `send` without a
  /// channel uses channel 0, whose long messages go in larger parts.
  /// - Throws: as `send` does; also `notSupported` if the member takes no messages in this channel
  ///   (`proven.channelLimit`).
  public func send(_ bytes: some Sequence<UInt8>, in channel: MessageChannel) async throws(PiconetError) {
    try await send(Array(bytes)[...], .reliable, in: channel)
  }

  /// Sends a slice in a channel, sharing its storage instead of copying it; see above.
  public func send(_ bytes: ArraySlice<UInt8>, in channel: MessageChannel) async throws(PiconetError) {
    try await send(bytes, .reliable, in: channel)
  }

  func send(
    _ bytes: ArraySlice<UInt8>, _ mode: DeliveryMode, in channel: MessageChannel
  ) async throws(PiconetError) {
    if let error = refusal(of: bytes.count, mode, in: channel) { throw error }
    let cost = bytes.count + WireLimits.messageCost
    let budget = budgets[channel]
    switch budget.claim(cost, mode) {
    case .taken: break
    case .dropped: return
    case .ended(let error): throw error
    case .mustWait: try await budget.wait(for: cost)
    }
    core.submit(.fact(.messageQueued(id, bytes, mode, in: channel)))
  }

  /// Sends a message if it can be taken at once, and never waits: for code that can't wait, and for messages that are
  /// better skipped than late.
  /// - Returns: false if there is no room now, or others wait for it: nothing was sent, and there may be room later.
  /// - Throws: the errors of `send` that need no waiting: `messageTooLarge`, why the member has left.
  public func trySend(_ bytes: some Sequence<UInt8>, mode: DeliveryMode = .reliable) throws(PiconetError) -> Bool {
    try trySend(Array(bytes)[...], mode, in: 0)
  }

  /// Sends a message in a channel, as `send(_:in:)`, if it can be taken at once, and never waits.
  public func trySend(_ bytes: some Sequence<UInt8>, in channel: MessageChannel) throws(PiconetError) -> Bool {
    try trySend(Array(bytes)[...], .reliable, in: channel)
  }

  private func trySend(
    _ bytes: ArraySlice<UInt8>, _ mode: DeliveryMode, in channel: MessageChannel
  ) throws(PiconetError) -> Bool {
    if let error = refusal(of: bytes.count, mode, in: channel) { throw error }
    switch budgets[channel].claim(bytes.count + WireLimits.messageCost, mode) {
    case .taken: break
    case .mustWait, .dropped: return false
    case .ended(let error): throw error
    }
    core.submit(.fact(.messageQueued(id, bytes, mode, in: channel)))
    return true
  }

  /// Returns why no message of this size may be sent; nil if it may.
  func refusal(of count: Int, _ mode: DeliveryMode, in channel: MessageChannel) -> PiconetError? {
    if channel.number >= proven.channelLimit {
      let detail = "channel \(channel); the peer takes messages in \(proven.channelLimit) channels, numbered from 0"
      return PiconetError(.notSupported, peer: id, blame: .peer, detail: detail)
    }
    let limit = mode == .reliable ? membership.proven.messageLimit : membership.proven.unreliableLimit
    if count <= limit { return nil }
    let detail =
      mode == .reliable
      ? "\(count) bytes; the limit that both sides take is \(limit) bytes; send(.bytes(_, named:)) takes more"
      : "\(count) bytes; the limit of unreliable messages that both sides take is \(limit) bytes"
    return PiconetError(.messageTooLarge, peer: id, blame: .us, detail: detail)
  }

  /// Opens a stream of bytes to this member and returns at once. The member finds it in its `Session.streams`, and the
  /// written bytes wait there to be read. The member limits the number of open streams (64 by default); no stream waits
  /// for another.
  /// - Parameter name: a name for the reader; at most 1,024 bytes of UTF-8, may be empty, need not be unique.
  /// - Throws: `limitExceeded`, naming the limit, for a longer name or if as many streams are open as the member
  ///   allows; `notSupported` if its program is older than streams; why the member has left.
  public func openStream(named name: String) async throws(PiconetError) -> OutgoingStream {
    if let ending = budgets.ending { throw ending }
    return try await core.openStream(named: name, to: self)
  }

  /// Leaves this member. What was sent before is delivered first, as far as that takes less than five seconds.
  /// Transfers are cancelled, and so are streams that are not finished. A suspended member is left at once; it learns
  /// of it when it finds us, or by its own timeout.
  ///
  /// Tasks that wait to send, or send from now on, get `left`. If the member has left already, this has no effect, even
  /// if the peer has come back as another member.
  public func disconnect() async {
    budgets.end(PiconetError(.left, peer: id, blame: .us))
    _ = await core.answer(to: .leave(id), of: self)
  }
}

/// For logs; `name` in it is the peer's own words.
extension Member: CustomStringConvertible {
  public var description: String { "\(proven)" }
}

/// A peer that has left and come back is another member.
extension Member: Hashable {
  public static func == (left: Member, right: Member) -> Bool { left.membership === right.membership }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(membership)) }
}
