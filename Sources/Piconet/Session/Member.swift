import PiconetEngine
import PiconetFiles
import PiconetRuntime
import PiconetWire

/// A member of the session: where messages and files go. Any task may use it; when the member has left, everything throws
/// why.
public struct Member: Sendable, Identifiable {
  /// Who it is and how it is connected.
  public let proven: ProvenMember
  let core: NodeCore
  let budget: SendBudget
  /// Tells this membership from the peer's former ones.
  let membership: UInt64

  /// The key's fingerprint and the incarnation.
  public var id: NodeID { proven.id }
  /// What its user called it; not to be trusted.
  public var name: String { proven.name }

  /// Sends a message and returns when the association has taken it: it will arrive, in the order of the calls, exactly once,
  /// or the member leaves the session with a reason. Waits while too much is queued.
  ///
  /// An unreliable message never waits: it is dropped when the connection can't take it now. One is at most as long as a
  /// frame of the peer (16,381 bytes by default).
  /// - Throws: `messageTooLarge` with both numbers, `cancelled`, or why the member has left.
  public func send(_ bytes: [UInt8], mode: DeliveryMode = .reliable) async throws(PiconetError) {
    try await send(bytes[...], mode: mode)
  }

  /// As above, for bytes that are in no array, such as `text.utf8`.
  public func send(_ bytes: some Sequence<UInt8>, mode: DeliveryMode = .reliable) async throws(PiconetError) {
    try await send(Array(bytes)[...], mode: mode)
  }

  /// As above, sharing the slice's storage instead of copying it.
  public func send(_ bytes: ArraySlice<UInt8>, mode: DeliveryMode = .reliable) async throws(PiconetError) {
    guard bytes.count <= proven.messageLimit else {
      throw PiconetError(
        .messageTooLarge, peer: id, blame: .us,
        detail: "\(bytes.count) bytes; the limit that both sides take is \(proven.messageLimit) bytes")
    }
    let cost = bytes.count + WireLimits.messageCost
    switch budget.claim(cost) {
    case .taken: break
    case .ended(let error): throw error
    case .mustWait:
      if mode == .unreliable { return }
      try await budget.wait(for: cost)
    }
    core.submit(.fact(.messageQueued(id, bytes, mode)))
  }

  /// Sends a file and returns when the far side has *stored* it: on its disk, verified, under its name. Cancelling the calling
  /// task cancels the transfer on both sides.
  /// - Parameters:
  ///   - path: a regular file; a symbolic link is followed.
  ///   - mediaType: an IANA media type for the receiver, or empty.
  ///   - progress: called on the node's loop with what the far side has stored, in bytes, and the total; to return quickly.
  /// - Throws: `sourceUnreadable`, `sourceChanged`, the receiver's reason, or why the member has left.
  public func send(
    file path: String, mediaType: String = "", metadata: [UInt8] = [],
    progress: (@Sendable (_ stored: UInt64, _ total: UInt64) -> Void)? = nil
  ) async throws(PiconetError) -> SentFile {
    try await core.send(file: path, to: id, mediaType: mediaType, metadata: metadata, progress: progress)
  }

  /// Leaves this member: what was sent before is delivered first, as far as that takes less than five seconds. Transfers are
  /// cancelled.
  ///
  /// Whoever waits to send, or sends from now on, gets `left`.
  public func disconnect() async {
    budget.end(PiconetError(.left, peer: id, blame: .us))
    _ = await core.command(.leave(id, .left))
  }
}

/// A file that the far side has stored.
public struct SentFile: Sendable, Hashable {
  /// The name that the receiver gave it.
  public let storedName: String
  /// Bytes.
  public let size: UInt64
  /// Of the content; both sides have computed it.
  public let digest: SHA256Digest
}
