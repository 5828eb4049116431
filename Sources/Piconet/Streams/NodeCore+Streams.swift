import PiconetEngine
import PiconetRuntime
import PiconetWire

/// Streams: requests of the application, and reports of the loop.
extension NodeCore {
  /// The number of bytes that one stream may have queued: enough to fill what a link takes ahead of the kernel.
  static let streamBudget = EngineConfiguration(sessionID: "", name: "").transmitWindow

  func openStream(named name: String, to member: Member) async throws(PiconetError) -> OutgoingStream {
    let id = StreamID(rawValue: makeNumber())
    let node = member.id
    let state = OutgoingStreamState(receiver: node, limit: Self.streamBudget)
    // Added before the request goes out: what stops the stream may come right behind the answer.
    withState { $0.streams.add(id, state) }
    if case .failure(let ending) = await answer(to: .openStream(id, to: node, name: name), of: member) {
      forget(id)
      throw PiconetError(ending, peer: node)
    }
    return OutgoingStream(id, name: name, receiver: node, state: state, core: self)
  }

  /// Removes a stream that the application no longer holds.
  func forget(_ stream: StreamID) { withState { $0.streams.forget(stream) } }

  /// The number of streams that are held.
  var streamCount: Int { withState { $0.streams.count } }

  func cancel(_ stream: StreamID, _ reason: Reason, _ detail: String) {
    tell(.cancelStream(stream, reason, detail: detail))
  }

  // MARK: What the loop tells

  func incomingStream(_ id: StreamID) -> StreamBuffer? { withState { $0.streams.incoming[id] } }

  private func outgoingStream(_ id: StreamID) -> OutgoingStreamState? { withState { $0.streams.outgoing[id] } }

  func streamTaken(_ stream: StreamID, count: Int) { outgoingStream(stream)?.budget.giveBack(count) }

  func streamOpened(_ id: StreamID, from node: NodeID, name: String) {
    guard let member = member(node) else { return cancel(id, .declined, "") }
    let buffer = StreamBuffer(sender: node) { [weak self] count in
      self?.submit(.fact(.streamConsumed(id, byteCount: count)))
    }
    withState { $0.streams.add(id, buffer) }
    log.push(IncomingStream(id, name: name, from: member, buffer: buffer))
  }

  func streamEnded(_ id: StreamID, _ end: StreamEnd) {
    guard let buffer = incomingStream(id) else { return }
    switch end {
    case .finished: return buffer.end(.finished)
    case .cancelled(let ending): buffer.end(.void(PiconetError(ending, peer: buffer.sender)))
    case .lost(let ending): buffer.end(.lost(PiconetError(ending, peer: buffer.sender)))
    }
    // Nothing is removed if the stream has already been taken.
    log.removeStreams { $0.buffer === buffer }
  }

  func streamStopped(_ id: StreamID, _ ending: Ending) {
    guard let stream = outgoingStream(id) else { return }
    stream.stop(PiconetError(ending, peer: stream.receiver))
  }
}
