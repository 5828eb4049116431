import PiconetEngine

/// Something that happened in the session.
@nonexhaustive
public enum SessionEvent: Sendable {
  /// Both sides have accepted. A peer that has left and comes back is another member.
  case joined(Member)
  /// A message; its member has joined before and not left yet.
  case message(Message)
  /// A member offers a resource; the program must answer it.
  case offer(IncomingOffer)
  /// A member has opened a stream to this node. A program that does not want it cancels it, or drops it.
  case stream(IncomingStream)
  /// The member can't be reached for the moment, for this reason. It stays a member, and what is sent to it waits: both
  /// sides look for another link until the disconnect timeout. They then go on where they stopped, or the member
  /// leaves.
  case suspended(Member, PiconetError)
  /// The member is reached over another link from now on, and over this transport: a better one leads to it, or the
  /// member has made another link before this side noticed that the previous one was gone.
  case moved(Member, TransportKind)
  /// The member is reached again, over this transport, after it was suspended.
  case resumed(Member, TransportKind)
  /// The member has left, for this reason. No event of it comes after this.
  case left(Member, PiconetError)
}

/// Everything that happens in the session, in order. No event of a member comes before its `joined` or after its
/// `left`. Each reader gets all events; unread events wait for the next reader. Ends with the node.
///
/// `Session.messages`, `membership`, `offers` and `streams` are views of it, each read separately: if two tasks read
/// two of them, nothing is known of the order between them. Reading lets senders go on, as `Messages` explains. At most
/// 4,096 changes of the membership wait for a reader; beyond that the oldest are dropped. An offer or a stream that
/// ends before a reader has come to it is removed.
public struct SessionEvents: AsyncSequence, Sendable {
  public typealias Element = SessionEvent
  let core: NodeCore

  public struct AsyncIterator: AsyncIteratorProtocol {
    let reader: SessionReader

    public mutating func next() async -> SessionEvent? {
      while true {
        if let message = reader.nextMessage() { return .message(message) }
        var entry = reader.nextEntry()
        if entry == nil { entry = await reader.core.log.next(for: reader.reader) }
        guard let entry else { return nil }
        if let event = event(entry) { return event }
      }
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> SessionEvent? {
      while true {
        if let message = reader.nextMessage() { return .message(message) }
        var entry = reader.nextEntry()
        if entry == nil { entry = await reader.core.log.next(for: reader.reader) }
        guard let entry else { return nil }
        if let event = event(entry) { return event }
      }
    }

    /// Nil for messages: the reader has taken them.
    private func event(_ entry: SessionLog.Entry) -> SessionEvent? {
      switch entry {
      case .messages(let batch):
        reader.take(batch)
        return nil
      case .offer(let offer): return .offer(offer)
      case .stream(let stream): return .stream(stream)
      case .change(let change):
        let member = Member(membership: change.membership, core: reader.core)
        return switch change.kind {
        case .joined: .joined(member)
        case .suspended(let error): .suspended(member, error)
        case .moved(let transport): .moved(member, transport)
        case .resumed(let transport): .resumed(member, transport)
        case .left(let error): .left(member, error)
        }
      }
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: SessionReader(core, .all)) }
}
