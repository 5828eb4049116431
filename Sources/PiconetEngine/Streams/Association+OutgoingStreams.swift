import PiconetWire

/// Outgoing streams: opened, written as credit allows, ended or given up.
extension Association {
  func openStream(
    _ command: CommandID, _ id: StreamID, name: String, _ turn: Turn
  ) {
    guard isMember, leaving == nil else { return turn.reply(command, .failed(Self.notConnected)) }
    guard streams.limit != nil else {
      return turn.reply(command, .failed(Ending(.notSupported, .peer, "the other side takes no streams")))
    }
    guard name.utf8.count <= WireLimits.streamName else {
      let detail = "the name of a stream has at most \(WireLimits.streamName) bytes; this one has \(name.utf8.count)"
      return turn.reply(command, .failed(Ending(.limitExceeded, .us, detail)))
    }
    guard turn.handles.handle(of: id) == nil, let number = streams.open(id, name: name) else {
      let detail = "\(streams.outgoing.count) streams to this peer are open, and it takes no more"
      return turn.reply(command, .failed(Ending(.limitExceeded, .us, detail)))
    }
    turn.handles.append(id, number, in: self)
    turn.flush(link)
    turn.reply(command, .done)
  }

  /// - Returns: false if the stream takes nothing more.
  func write(_ bytes: Bytes, to number: UInt64, _ turn: Turn) -> Bool {
    guard let stream = streams.outgoing[number], stream.isWritable else { return false }
    stream.write(bytes)
    streams.enqueue(number)
    turn.flush(link)
    return true
  }

  /// - Returns: false if the stream has ended. If not, the command is answered once the remote side has read
  ///   everything.
  func finishStream(_ command: CommandID, _ number: UInt64, _ turn: Turn) -> Bool {
    guard let stream = streams.outgoing[number], stream.isWritable else { return false }
    stream.finish(command)
    streams.enqueue(number)
    turn.flush(link)
    return true
  }

  /// Gives up a stream, in either direction, for the application.
  func cancelStream(_ id: StreamID, _ number: UInt64, _ ending: Ending, _ turn: Turn) {
    if id.isIncoming { stop(number, ending, turn) } else { reset(number, ending, turn) }
  }

  /// Resets a stream. The application is told now; the number is free once the remote side confirms.
  private func reset(
    _ number: UInt64, _ ending: Ending, _ turn: Turn
  ) {
    guard let stream = streams.outgoing[number], stream.phase != .reset else { return }
    if stream.phase == .waiting {
      // The remote side does not know the stream yet.
      forget(outgoing: number, turn)
    } else {
      stream.reset()
      sendOfStream(.resetStream(stream: number, ending.reason, detail: ending.detail), turn)
    }
    tell(stream, ending, turn)
  }

  /// Tells the application that the stream takes nothing more, and why.
  private func tell(_ stream: StreamSender, _ ending: Ending, _ turn: Turn) {
    if let command = stream.finishing { turn.reply(command, .failed(ending)) }
    turn.deliver(.streamStopped(stream.id, ending))
  }

  private func forget(outgoing number: UInt64, _ turn: Turn) {
    if let id = streams.outgoing[number]?.id { turn.handles.remove(id) }
    streams.forget(outgoing: number)
  }

  /// Sends a frame about a stream. After our `leave` no sequenced frame is sent.
  func sendOfStream(_ frame: Frame, _ turn: Turn) {
    if leaving?.isTold != true { send(frame, turn) }
  }

  /// Gives up streams that the application has not finished, because we are leaving. Finished ones still go out.
  func resetStreams(_ ending: Ending, _ turn: Turn) {
    for number in streams.outgoing.keys.sorted()
    where streams.outgoing[number]?.finishing == nil {
      reset(number, ending, turn)
    }
  }

  /// Drops all streams, because the association is gone.
  func dropStreams(_ ending: Ending, _ turn: Turn) {
    for number in streams.outgoing.keys.sorted() {
      guard let stream = streams.outgoing[number] else { continue }
      turn.handles.remove(stream.id)
      if stream.phase != .reset { tell(stream, ending, turn) }
    }
    for number in streams.incoming.keys.sorted() {
      guard let stream = streams.incoming[number] else { continue }
      turn.handles.remove(stream.id)
      if stream.phase == .open { turn.deliver(.streamEnded(stream.id, .lost(ending))) }
    }
    streams.removeAll()
  }

  // MARK: The remote side's frames about our streams

  func receivedCredit(
    ofStream number: UInt64, limit: UInt64, _ turn: Turn
  ) throws(Breach) {
    guard let stream = streams.outgoing[number], stream.phase != .waiting else {
      throw Breach("credit for an unknown stream")
    }
    stream.credit(limit)
    streams.enqueue(number)
    turn.flush(link)
  }

  func receivedStop(
    _ number: UInt64, _ ending: Ending, _ turn: Turn
  ) throws(Breach) {
    guard let stream = streams.outgoing[number], stream.phase != .waiting else {
      throw Breach("stops an unknown stream")
    }
    // The remote side frees the number once it has our reset.
    if stream.phase == .open { sendOfStream(.resetStream(stream: number, .cancelled, detail: ""), turn) }
    forget(outgoing: number, turn)
    if stream.phase != .reset { tell(stream, ending, turn) }
  }

  func receivedDone(
    _ number: UInt64, _ turn: Turn
  ) throws(Breach) {
    guard let stream = streams.outgoing[number] else { throw Breach("has read an unknown stream") }
    guard stream.hasEnded else { throw Breach("has read a stream before its end") }
    forget(outgoing: number, turn)
    if stream.phase == .ended, let command = stream.finishing { turn.reply(command, .done) }
  }
}
