import PiconetWire

/// Streams of ours: opened, written as credit allows, ended or given up.
extension SessionEngine {
  mutating func openStream(
    _ command: CommandID, _ id: StreamID, to far: NodeID, name: String, _ turn: inout Turn
  ) {
    guard let association = associations[far], association.isMember, association.leaving == nil else {
      return turn.reply(command, .failed(Ending(.noSuchAssociation, .us, "not connected to this peer")))
    }
    guard association.streams.isSupported else {
      return turn.reply(command, .failed(Ending(.notSupported, .peer, "the other side takes no streams")))
    }
    guard name.utf8.count <= WireLimits.streamName else {
      let detail = "the name of a stream has at most \(WireLimits.streamName) bytes; this one has \(name.utf8.count)"
      return turn.reply(command, .failed(Ending(.limitExceeded, .us, detail)))
    }
    guard streamPlaces[id] == nil, let number = association.streams.open(id, name: name) else {
      let detail = "\(association.streams.outgoing.count) streams to this peer are open, and it takes no more"
      return turn.reply(command, .failed(Ending(.limitExceeded, .us, detail)))
    }
    streamPlaces[id] = StreamPlace(node: far, number: number)
    turn.flush(association.link)
    turn.reply(command, .done)
  }

  mutating func streamWritten(_ id: StreamID, _ bytes: Bytes, _ turn: inout Turn) {
    guard let (association, number) = place(of: id), association.streams.outgoing[number]?.isWritable == true else {
      // It has ended meanwhile, which an event has told.
      turn.add(.streamTaken(id, byteCount: bytes.count))
      return
    }
    association.streams.outgoing[number]?.write(bytes)
    association.streams.enterRow(number)
    turn.flush(association.link)
  }

  mutating func finishStream(_ command: CommandID, _ id: StreamID, _ turn: inout Turn) {
    guard let (association, number) = place(of: id), association.streams.outgoing[number]?.isWritable == true else {
      return turn.reply(command, .failed(Ending(.noSuchAssociation, .us, "the stream has ended")))
    }
    association.streams.outgoing[number]?.finish(command)
    association.streams.enterRow(number)
    turn.flush(association.link)
  }

  /// Gives a stream up, in either direction.
  mutating func cancelStream(
    _ command: CommandID, _ id: StreamID, _ reason: Reason, _ detail: String, _ turn: inout Turn
  ) {
    if let (association, number) = place(of: id) {
      let ending = Ending(reason, .us, detail)
      if id.isIncoming {
        stop(number, of: association, ending, &turn)
      } else {
        reset(number, of: association, ending, &turn)
      }
    }
    turn.reply(command, .done)
  }

  /// The application is told now; the number is free once the far side confirms.
  private mutating func reset(
    _ number: UInt64, of association: Association, _ ending: Ending, _ turn: inout Turn
  ) {
    guard let stream = association.streams.outgoing[number], stream.phase != .reset else { return }
    if stream.phase == .waiting {
      // The far side never heard of it.
      forget(outgoing: number, of: association)
    } else {
      association.streams.outgoing[number]?.reset()
      sendOfStream(.resetStream(stream: number, ending.reason, detail: ending.detail), association, &turn)
    }
    tell(stream, ending, &turn)
  }

  /// Tells the application that the stream takes nothing more, and why.
  private mutating func tell(_ stream: OutgoingStream, _ ending: Ending, _ turn: inout Turn) {
    if let command = stream.finishing { turn.reply(command, .failed(ending)) }
    turn.deliver(.streamStopped(stream.id, ending))
  }

  func place(of id: StreamID) -> (association: Association, number: UInt64)? {
    guard let place = streamPlaces[id], let association = associations[place.node] else { return nil }
    return (association, place.number)
  }

  private mutating func forget(outgoing number: UInt64, of association: Association) {
    if let id = association.streams.outgoing[number]?.id { streamPlaces[id] = nil }
    association.streams.forget(outgoing: number)
  }

  /// Behind our `leave` nothing sequenced goes any more.
  mutating func sendOfStream(_ frame: Frame, _ association: Association, _ turn: inout Turn) {
    if association.leaving?.isTold != true { send(frame, to: association.node, &turn) }
  }

  /// We are leaving: what the application has not ended is given up now, what it has ended still goes.
  mutating func resetStreams(of association: Association, _ ending: Ending, _ turn: inout Turn) {
    for number in association.streams.outgoing.keys.sorted()
    where association.streams.outgoing[number]?.finishing == nil {
      reset(number, of: association, ending, &turn)
    }
  }

  /// The association is gone, and its streams with it.
  mutating func dropStreams(of association: Association, _ ending: Ending, _ turn: inout Turn) {
    for number in association.streams.outgoing.keys.sorted() {
      guard let stream = association.streams.outgoing[number] else { continue }
      streamPlaces[stream.id] = nil
      if stream.phase != .reset { tell(stream, ending, &turn) }
    }
    for number in association.streams.incoming.keys.sorted() {
      guard let stream = association.streams.incoming[number] else { continue }
      streamPlaces[stream.id] = nil
      if stream.phase == .open { turn.deliver(.streamEnded(stream.id, .lost(ending))) }
    }
    association.streams.outgoing = [:]
    association.streams.incoming = [:]
  }

  // MARK: The far side's frames about our streams

  mutating func streamCredited(
    _ number: UInt64, limit: UInt64, of association: Association, _ turn: inout Turn
  ) throws(StreamBreach) {
    guard let stream = association.streams.outgoing[number], stream.phase != .waiting else {
      throw StreamBreach("credit for an unknown stream")
    }
    association.streams.outgoing[number]?.credit(limit)
    association.streams.enterRow(number)
    turn.flush(association.link)
  }

  mutating func streamStopped(
    _ number: UInt64, _ ending: Ending, of association: Association, _ turn: inout Turn
  ) throws(StreamBreach) {
    guard let stream = association.streams.outgoing[number], stream.phase != .waiting else {
      throw StreamBreach("stops an unknown stream")
    }
    // The far side forgets the number when it knows that we know.
    if stream.phase == .open { sendOfStream(.resetStream(stream: number, .cancelled, detail: ""), association, &turn) }
    forget(outgoing: number, of: association)
    if stream.phase != .reset { tell(stream, ending, &turn) }
  }

  mutating func streamDone(
    _ number: UInt64, of association: Association, _ turn: inout Turn
  ) throws(StreamBreach) {
    guard let stream = association.streams.outgoing[number] else { throw StreamBreach("has read an unknown stream") }
    guard stream.hasEnded else { throw StreamBreach("has read a stream before its end") }
    forget(outgoing: number, of: association)
    if stream.phase == .ended, let command = stream.finishing { turn.reply(command, .done) }
  }
}

/// Where a stream is: a number names something only within one peer.
struct StreamPlace: Sendable {
  var node: NodeID
  var number: UInt64
}
