import PiconetEngine
import PiconetFiles
import PiconetRuntime
import PiconetWire

/// A member of the session: where messages and files go. Any task may use it; when the member has left, everything
/// throws why.
public struct Member: Sendable, Identifiable {
  let membership: Membership
  let core: NodeCore

  /// Who it is and how it is connected.
  public var proven: ProvenMember { membership.proven }
  var budget: SendBudget { membership.budget }

  /// The key's fingerprint and the incarnation.
  public var id: NodeID { membership.proven.id }
  /// What the member is reached over now; nil while it is suspended, and when it has left. `Session.membership` tells
  /// of each change.
  public var transport: TransportKind? { membership.transport }
  /// What its user called it; not to be trusted.
  public var name: String { membership.proven.name }

  /// Sends a message and returns when the association has taken it: it will arrive, in the order of the calls, exactly
  /// once, or the member leaves the session with a reason. Waits while too much is queued.
  ///
  /// An unreliable message never waits: it is dropped, and counted, when the connection can't take it now; one that
  /// comes behind a newer one is dropped there (see `NodeConfiguration.deliversLateMessages`). At most
  /// `proven.unreliableLimit` bytes; 1,000 are recommended, which most transports carry in one packet.
  /// - Throws: `messageTooLarge` with both numbers, before a byte leaves; `cancelled`; `limitExceeded` where 65,536
  ///   calls wait already; why the member has left.
  public func send(_ bytes: [UInt8], mode: DeliveryMode = .reliable) async throws(PiconetError) {
    try await send(bytes[...], mode: mode)
  }

  /// As above, for bytes that are in no array, such as `text.utf8`.
  public func send(_ bytes: some Sequence<UInt8>, mode: DeliveryMode = .reliable) async throws(PiconetError) {
    try await send(Array(bytes)[...], mode: mode)
  }

  /// As above, sharing the slice's storage instead of copying it.
  public func send(_ bytes: ArraySlice<UInt8>, mode: DeliveryMode = .reliable) async throws(PiconetError) {
    if let error = refusal(of: bytes.count, mode) { throw error }
    let cost = bytes.count + WireLimits.messageCost
    switch budget.claim(cost, mode) {
    case .taken: break
    case .dropped: return
    case .ended(let error): throw error
    case .mustWait: try await budget.wait(for: cost)
    }
    core.submit(.fact(.messageQueued(id, bytes, mode)))
  }

  /// Sends a message if it can be taken at once, and never waits: for code that is no task, and for whatever is better
  /// skipped than late.
  /// - Returns: false if there is no room now, or others wait for it: nothing was sent, and later there may be.
  /// - Throws: as `send`, at once: `messageTooLarge`, why the member has left.
  public func trySend(_ bytes: some Sequence<UInt8>, mode: DeliveryMode = .reliable) throws(PiconetError) -> Bool {
    let bytes = Array(bytes)[...]
    if let error = refusal(of: bytes.count, mode) { throw error }
    switch budget.claim(bytes.count + WireLimits.messageCost, mode) {
    case .taken: break
    case .mustWait, .dropped: return false
    case .ended(let error): throw error
    }
    core.submit(.fact(.messageQueued(id, bytes, mode)))
    return true
  }

  /// Why no message of this size may be sent; nil if it may.
  func refusal(of count: Int, _ mode: DeliveryMode) -> PiconetError? {
    let limit = mode == .reliable ? membership.proven.messageLimit : membership.proven.unreliableLimit
    if count <= limit { return nil }
    let detail =
      mode == .reliable
      ? "\(count) bytes; the limit that both sides take is \(limit) bytes; send(.bytes(_, named:)) takes more"
      : "\(count) bytes; the limit of unreliable messages that both sides take is \(limit) bytes"
    return PiconetError(.messageTooLarge, peer: id, blame: .us, detail: detail)
  }

  /// Opens a stream of bytes to this member and returns at once: the member finds it in its `Session.streams`, and what
  /// is written waits there to be read. Any number may be open up to the member's limit (64 by default); none waits for
  /// another.
  /// - Parameter name: for the reader; at most 1,024 bytes of UTF-8, may be empty, need not be unique.
  /// - Throws: `limitExceeded`, naming the limit, for a longer name or where as many streams are open as the member
  ///   takes; `notSupported` if its program is older than streams; why the member has left.
  public func openStream(named name: String) async throws(PiconetError) -> OutgoingStream {
    if let ending = budget.ending { throw ending }
    return try await core.openStream(named: name, to: self)
  }

  /// Leaves this member: what was sent before is delivered first, as far as that takes less than five seconds.
  /// Transfers are cancelled, and streams that are not finished. A suspended member is left at once; it learns of it
  /// when it finds us, or by its own timeout.
  ///
  /// Whoever waits to send, or sends from now on, gets `left`. Of a member that has left already, and may have come
  /// back since as another one, nothing is ended.
  public func disconnect() async {
    budget.end(PiconetError(.left, peer: id, blame: .us))
    _ = await core.answer(to: .leave(id), of: self)
  }
}

/// A peer that has left and come back is another member.
extension Member: Hashable {
  public static func == (left: Member, right: Member) -> Bool { left.membership === right.membership }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(membership)) }
}
