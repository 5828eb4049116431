import PiconetWire

/// Streams from the remote side. A frame about a stream counts only if it comes from the stream's owner, because tables
/// are kept by association and number.
extension Association {
  func receivedOpen(_ number: UInt64, _ name: String, _ turn: Turn) throws(Breach) {
    guard isMember || dropsMemberFrames else {
      throw Breach("a stream before the invitation was accepted")
    }
    guard streams.incoming[number] == nil else { throw Breach("stream \(number) is open already") }
    guard streams.incoming.count < configuration.streamLimit else {
      throw Breach("more than \(configuration.streamLimit) open streams", .limitExceeded)
    }
    let id = turn.handles.takeIncomingStreamID()
    let stream = StreamReceiver(id: id, number: number, window: streams.incomingWindow)
    if let leaving {
      stream.stop()
      streams.append(stream)
      sendOfStream(.stopStream(stream: number, leaving.reason, detail: ""), turn)
      return
    }
    streams.append(stream)
    turn.handles.append(id, number, in: self)
    turn.deliver(.streamOpened(id, from: node, name: name))
  }

  func receivedData(_ number: UInt64, _ bytes: Bytes, _ turn: Turn) throws(Breach) {
    guard let stream = streams.incoming[number] else { throw Breach("data of an unknown stream") }
    if try stream.take(bytes.count) { turn.deliver(.streamReceived(stream.id, bytes)) }
  }

  func receivedEnd(ofStream number: UInt64, _ turn: Turn) throws(Breach) {
    guard let stream = streams.incoming[number] else { throw Breach("the end of an unknown stream") }
    switch stream.phase {
    case .ended: throw Breach("a second end of a stream")
    case .stopped: forget(incoming: number, turn)
    case .open:
      stream.end()
      turn.deliver(.streamEnded(stream.id, .finished))
      finishIfRead(number, turn)
    }
  }

  func receivedReset(_ number: UInt64, _ ending: Ending, _ turn: Turn) {
    // The frame has crossed our last frame about the stream. Both sides know how it ended.
    guard let stream = streams.incoming[number] else { return }
    forget(incoming: number, turn)
    if stream.phase == .stopped { return }
    sendOfStream(.stopStream(stream: number, .cancelled, detail: ""), turn)
    turn.deliver(.streamEnded(stream.id, .cancelled(ending)))
  }

  private func finishIfRead(_ number: UInt64, _ turn: Turn) {
    guard streams.incoming[number]?.isReadToItsEnd == true else { return }
    forget(incoming: number, turn)
    sendOfStream(.streamDone(stream: number), turn)
  }

  private func forget(incoming number: UInt64, _ turn: Turn) {
    if let id = streams.incoming[number]?.id { turn.handles.remove(id) }
    streams.forget(incoming: number)
  }

  // MARK: The application

  /// Notes that the application has read bytes of a stream.
  func streamConsumed(_ number: UInt64, _ count: Int, _ turn: Turn) {
    if let limit = streams.incoming[number]?.consume(count, window: streamWindow) {
      streams.owe(credit: limit, of: number)
      turn.flush(link)
    }
    finishIfRead(number, turn)
  }

  /// Stops reading an incoming stream. Its number stays taken until the sender confirms.
  func stop(_ number: UInt64, _ ending: Ending, _ turn: Turn) {
    guard let stream = streams.incoming[number], stream.phase != .stopped else { return }
    if stream.phase == .ended {
      forget(incoming: number, turn)
    } else {
      stream.stop()
      streams.dropCredit(of: number)
      turn.handles.remove(stream.id)
      turn.deliver(.streamEnded(stream.id, .lost(ending)))
    }
    sendOfStream(.stopStream(stream: number, ending.reason, detail: ending.detail), turn)
  }

  /// Stops reading all streams, because we are leaving.
  func stopStreams(_ ending: Ending, _ turn: Turn) {
    for number in streams.incoming.keys.sorted() { stop(number, ending, turn) }
  }

  // MARK: Windows

  /// How much of one stream may wait unread: its share of the memory for all of the peer's streams.
  private var streamWindow: UInt64 {
    let count = max(1, streams.incoming.count)
    var window = min(configuration.streamWindow, configuration.streamMemory / count)
    if let limit = peer.traits.unreadLimit { window = min(window, limit / 4 / count) }
    // A stream's first window is that of the first link, whichever link is used now.
    return UInt64(max(window, configuration.firstStreamWindow(on: peer.traits)))
  }
}
