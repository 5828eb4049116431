import PiconetWire

/// Streams of others: a frame about a stream counts only from the stream's owner, because tables are kept by association and number.
extension SessionEngine {
  mutating func handleStreamFrame(
    _ frame: Frame, from far: NodeID, on link: LinkID, _ turn: inout Turn
  ) {
    guard let association = associations[far] else { return }
    do throws(StreamBreach) {
      switch frame {
      // The sender's frames: the number is the far side's.
      case .openStream(let number, let name): try streamOpened(number, name, by: association, &turn)
      case .streamData(let number, let bytes): try streamCame(number, bytes, of: association, &turn)
      case .endStream(let number): try streamEnded(number, of: association, &turn)
      case .resetStream(let number, let reason, let detail):
        streamReset(number, Ending(reason, .peer, detail), of: association, &turn)
      // The receiver's frames: the number is ours.
      case .streamCredit(let number, let limit): try streamCredited(number, limit: limit, of: association, &turn)
      case .stopStream(let number, let reason, let detail):
        try streamStopped(number, Ending(reason, .peer, detail), of: association, &turn)
      case .streamDone(let number): try streamDone(number, of: association, &turn)
      default: break
      }
    } catch {
      breach(link, error.reason, error.detail, &turn)
    }
  }

  private mutating func streamOpened(
    _ number: UInt64, _ name: String, by association: Association, _ turn: inout Turn
  ) throws(StreamBreach) {
    guard association.isMember || association.dropsMemberFrames else {
      throw StreamBreach("a stream before the invitation was accepted")
    }
    guard association.streams.incoming[number] == nil else { throw StreamBreach("stream \(number) is open already") }
    guard association.streams.incoming.count < configuration.streamLimit else {
      throw StreamBreach("more than \(configuration.streamLimit) open streams", .limitExceeded)
    }
    let id = StreamID(rawValue: nextIncomingStream)
    nextIncomingStream += 1
    var stream = IncomingStream(id: id, number: number, window: association.streams.incomingWindow)
    if let leaving = association.leaving {
      stream.phase = .stopped
      association.streams.incoming[number] = stream
      sendOfStream(.stopStream(stream: number, leaving.reason, detail: ""), association, &turn)
      return
    }
    association.streams.incoming[number] = stream
    streamPlaces[id] = StreamPlace(node: association.node, number: number)
    turn.deliver(.streamOpened(id, from: association.node, name: name))
  }

  private mutating func streamCame(
    _ number: UInt64, _ bytes: Bytes, of association: Association, _ turn: inout Turn
  ) throws(StreamBreach) {
    guard let id = association.streams.incoming[number]?.id,
      let isWanted = try association.streams.incoming[number]?.take(bytes.count)
    else { throw StreamBreach("data of an unknown stream") }
    if isWanted { turn.deliver(.streamReceived(id, bytes)) }
  }

  private mutating func streamEnded(
    _ number: UInt64, of association: Association, _ turn: inout Turn
  ) throws(StreamBreach) {
    guard let stream = association.streams.incoming[number] else { throw StreamBreach("the end of an unknown stream") }
    switch stream.phase {
    case .ended: throw StreamBreach("a second end of a stream")
    case .stopped: forget(incoming: number, of: association)
    case .open:
      association.streams.incoming[number]?.phase = .ended
      turn.deliver(.streamEnded(stream.id, .finished))
      finishIfRead(number, of: association, &turn)
    }
  }

  private mutating func streamReset(
    _ number: UInt64, _ ending: Ending, of association: Association, _ turn: inout Turn
  ) {
    // It has crossed our last word about the stream: both know how it ended.
    guard let stream = association.streams.incoming[number] else { return }
    forget(incoming: number, of: association)
    if stream.phase == .stopped { return }
    sendOfStream(.stopStream(stream: number, .cancelled, detail: ""), association, &turn)
    turn.deliver(.streamEnded(stream.id, .cancelled(ending)))
  }

  private mutating func finishIfRead(_ number: UInt64, of association: Association, _ turn: inout Turn) {
    guard association.streams.incoming[number]?.isReadToItsEnd == true else { return }
    forget(incoming: number, of: association)
    sendOfStream(.streamDone(stream: number), association, &turn)
  }

  private mutating func forget(incoming number: UInt64, of association: Association) {
    if let id = association.streams.incoming[number]?.id { streamPlaces[id] = nil }
    association.streams.forget(incoming: number)
  }

  // MARK: The application

  /// The application has read bytes of a stream.
  mutating func streamConsumed(_ id: StreamID, _ count: Int, _ turn: inout Turn) {
    guard id.isIncoming, let (association, number) = place(of: id) else { return }
    let window = streamWindow(of: association)
    if let limit = association.streams.incoming[number]?.consume(count, window: window) {
      association.streams.owe(credit: limit, of: number)
      turn.flush(association.link)
    }
    finishIfRead(number, of: association, &turn)
  }

  /// We read no more of a stream of the far side; its number stays taken until the sender confirms.
  mutating func stop(_ number: UInt64, of association: Association, _ ending: Ending, _ turn: inout Turn) {
    guard let stream = association.streams.incoming[number], stream.phase != .stopped else { return }
    if stream.phase == .ended {
      forget(incoming: number, of: association)
    } else {
      association.streams.incoming[number]?.phase = .stopped
      association.streams.dropCredit(of: number)
      streamPlaces[stream.id] = nil
      turn.deliver(.streamEnded(stream.id, .lost(ending)))
    }
    sendOfStream(.stopStream(stream: number, ending.reason, detail: ending.detail), association, &turn)
  }

  /// We are leaving: nothing more is read.
  mutating func stopStreams(of association: Association, _ ending: Ending, _ turn: inout Turn) {
    for number in association.streams.incoming.keys.sorted() { stop(number, of: association, ending, &turn) }
  }

  // MARK: Windows

  /// Bytes of each stream before its first credit, as our hello states them. Over a link that loses what is not read in time all
  /// streams together have a quarter of what it holds.
  func firstStreamWindow(on traits: LinkTraits) -> Int {
    guard let limit = traits.unreadLimit else { return configuration.firstStreamWindow }
    return min(configuration.firstStreamWindow, max(256, limit / 4 / configuration.streamLimit))
  }

  /// What the application may have of one stream and not have read: its share of the memory for all of the peer's.
  private func streamWindow(of association: Association) -> UInt64 {
    let count = max(1, association.streams.incoming.count)
    var window = min(configuration.streamWindow, configuration.streamMemory / count)
    if let limit = association.peer.traits.unreadLimit { window = min(window, limit / 4 / count) }
    // The first window of a stream is that of the first link, whichever is used now.
    return UInt64(max(window, firstStreamWindow(on: association.peer.traits)))
  }
}
