import PiconetEngine
import PiconetRuntime
import PiconetWire

/// A sequence of bytes to a member, without boundaries; opened with `Member.openStream(named:)`. A stream that is
/// dropped before `finish` is cancelled.
///
/// Any task may use it. Writes from several tasks at once are all sent, but may be interleaved: let one task write.
public final class OutgoingStream: Sendable, Identifiable {
  /// Unique within the node.
  public let id: UInt64
  /// The name that the reader sees.
  public let name: String
  /// The node that reads it.
  public let receiver: NodeID
  let core: NodeCore
  let state: OutgoingStreamState

  init(_ id: StreamID, name: String, receiver: NodeID, state: OutgoingStreamState, core: NodeCore) {
    self.id = id.rawValue
    self.name = name
    self.receiver = receiver
    self.state = state
    self.core = core
  }

  deinit {
    if state.budget.ending == nil { core.cancel(stream, .cancelled, "the stream was dropped") }
    core.forget(stream)
  }

  var stream: StreamID { StreamID(rawValue: id) }

  /// The size in bytes of the pieces of a long write: each waits for room on its own.
  private static let pieceCount = 64 << 10

  /// Writes bytes and returns when the stream has taken them. They will arrive in the order of the calls, or the stream
  /// ends with a reason. Waits while the reader reads nothing and 256 KiB are queued.
  ///
  /// Cancelling the calling task ends a write that waits; how much of it was taken is then unknown.
  /// - Throws: `cancelled` for the calling task, why the reader has cancelled, why the member has left,
  ///   `invalidArgument` after `finish` or `cancel`, `limitExceeded` where 65,536 writes wait already.
  public func write(_ bytes: ArraySlice<UInt8>) async throws(PiconetError) {
    if let ending = state.budget.ending { throw ending }
    var rest = bytes
    while !rest.isEmpty {
      let piece = rest.prefix(Self.pieceCount)
      switch state.budget.claim(piece.count, .reliable) {
      case .taken, .dropped: break
      case .ended(let error): throw error
      case .mustWait: try await state.budget.wait(for: piece.count)
      }
      core.submit(.fact(.streamWritten(stream, piece)))
      rest = rest.dropFirst(piece.count)
    }
  }

  /// Writes an array; see above.
  public func write(_ bytes: [UInt8]) async throws(PiconetError) { try await write(bytes[...]) }

  /// Writes bytes that are not in an array, such as `text.utf8`; see above.
  public func write(_ bytes: some Sequence<UInt8>) async throws(PiconetError) { try await write(Array(bytes)[...]) }

  /// Writes as many of the bytes, from the first one on, as the stream takes now; never waits, for code outside a task.
  /// - Returns: how many were taken; 0 if there is no room now, or if others wait for it.
  /// - Throws: see `write(_:)`.
  public func tryWrite(_ bytes: ArraySlice<UInt8>) throws(PiconetError) -> Int {
    let count = try state.budget.claim(upTo: bytes.count)
    var rest = bytes.prefix(count)
    while !rest.isEmpty {
      let piece = rest.prefix(Self.pieceCount)
      core.submit(.fact(.streamWritten(stream, piece)))
      rest = rest.dropFirst(piece.count)
    }
    return count
  }

  /// Writes an array; see above.
  public func tryWrite(_ bytes: [UInt8]) throws(PiconetError) -> Int { try tryWrite(bytes[...]) }

  /// Writes bytes that are not in an array, such as `text.utf8`; see above.
  public func tryWrite(_ bytes: some Sequence<UInt8>) throws(PiconetError) -> Int { try tryWrite(Array(bytes)[...]) }

  /// Whether `tryWrite` would take at least one byte. False where writing would throw.
  public var hasSpaceAvailable: Bool { state.budget.hasRoom }

  /// Ends the stream behind what was written, and returns when the remote side's reader has read all of it. Nothing can
  /// be written any more. Cancelling the calling task cancels the stream.
  /// - Throws: why the reader has not read everything: it has cancelled, the member has left, or the stream was
  ///   cancelled here.
  public func finish() async throws(PiconetError) {
    if let ending = state.budget.ending { throw ending }
    state.budget.end(PiconetError(.invalidArgument, peer: receiver, blame: .us, detail: "the stream is finished"))
    guard case .failure(let ending) = await core.answer(to: .finishStream(stream)) else { return }
    throw state.stopped ?? PiconetError(ending, peer: receiver)
  }

  /// Cancels the stream, also after `finish`: the reader gets an error with this code instead of the bytes that it has
  /// not read.
  public func cancel(_ code: PiconetError.Code = .cancelled, detail: String = "") {
    state.budget.end(PiconetError(.invalidArgument, peer: receiver, blame: .us, detail: "the stream is cancelled"))
    core.cancel(stream, code.reason, detail)
  }
}
