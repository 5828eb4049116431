import PiconetEngine
import PiconetWire
import Synchronization

/// The events of the session, in order, handed from the loop to tasks. Each reader gets all events of its kinds.
///
/// The log is bounded, whatever members do:
/// - Changes of the membership: the oldest is dropped.
/// - Reliable messages: senders get credit back only for what was read.
/// - Unreliable messages: those above a window for each member are dropped.
/// - Unread messages of former members, since peers may join and leave without end: the oldest are dropped once all
///   messages together are above the limit.
/// - Offers and streams: the engine's limits hold, since what has ended is removed.
///
/// It keeps memberships, not members: those keep the node's core, which keeps this log.
final class SessionLog: Sendable {
  /// The kinds of events that a reader wants.
  struct Kinds: OptionSet, Sendable {
    let rawValue: UInt8
    static let changes = Kinds(rawValue: 1)
    static let messages = Kinds(rawValue: 2)
    static let offers = Kinds(rawValue: 4)
    static let streams = Kinds(rawValue: 8)
    static let all: Kinds = [.changes, .messages, .offers, .streams]
  }

  /// A change of one membership.
  struct Change: Sendable {
    enum Kind: Sendable {
      case joined
      case suspended(PiconetError)
      case moved(TransportKind)
      case resumed(TransportKind)
      case left(PiconetError)
    }
    let membership: Membership
    let kind: Kind
  }

  /// Small, since every batch of messages passes as one.
  enum Entry: Sendable {
    indirect case change(Change)
    /// The reader holds it until it asks for the next one.
    case messages(MessageBatch)
    indirect case offer(IncomingOffer)
    case stream(IncomingStream)
  }

  /// A reader, and the kinds that it reads.
  struct Reader: Sendable {
    var id = ReaderID()
    let kinds: Kinds
    /// The channel whose messages it reads; nil for all.
    var channel: MessageChannel?

    func takes(_ batch: MessageBatch) -> Bool {
      kinds.contains(.messages) && (channel == nil || channel == batch.channel)
    }
  }

  private struct State: AwaitedState {
    var changes = SharedQueue<Change>()
    var messages = ChannelQueues()
    var offers = SharedQueue<IncomingOffer>()
    var streams = SharedQueue<IncomingStream>()
    var lastNumber: UInt64 = 0
    /// The cost of all messages that are kept.
    var cost = 0
    /// The cost of each membership's unreliable messages that are kept.
    var unreliable: [ObjectIdentifier: Int] = [:]
    var isFinished = false
    var waiters = Waiters<Reader, Entry?>()

    // No reader takes anything from another.
    static var servesInTurns: Bool { false }

    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }

    /// Returns the oldest entry that the reader has not passed.
    mutating func answer(to reader: Reader) -> Entry?? {
      var oldest = UInt64.max
      var entry: Entry?
      if reader.kinds.contains(.messages), let (number, batch) = messages.next(for: reader) {
        if reader.kinds == .messages { return .some(.messages(batch)) }
        oldest = number
        entry = .messages(batch)
      }
      if let (number, change) = changes.next(for: reader.id), number < oldest {
        oldest = number
        entry = .change(change)
      }
      if let (number, offer) = offers.next(for: reader.id), number < oldest {
        oldest = number
        entry = .offer(offer)
      }
      if let (number, stream) = streams.next(for: reader.id), number < oldest {
        oldest = number
        entry = .stream(stream)
      }
      switch entry {
      case nil: return isFinished ? .some(nil) : nil
      case .messages: break
      case .change: changes.pass(reader.id, oldest)
      case .offer: offers.pass(reader.id, oldest)
      case .stream: streams.pass(reader.id, oldest)
      }
      return .some(entry)
    }

    mutating func keep(_ batch: MessageBatch) {
      messages.append(batch)
      cost += batch.cost
      if batch.mode == .unreliable { unreliable[ObjectIdentifier(batch.sender), default: 0] += batch.cost }
    }

    /// Subtracts a batch that is not kept any more.
    mutating func gone(_ batch: MessageBatch) {
      cost -= batch.cost
      guard batch.mode == .unreliable else { return }
      let sender = ObjectIdentifier(batch.sender)
      let rest = unreliable[sender, default: 0] - batch.cost
      unreliable[sender] = rest > 0 ? rest : nil
    }

    mutating func dropLeftBehind(above limit: Int) {
      guard cost > limit else { return }
      var dropped: Set<UInt64> = []
      for batch in messages.elements.sorted(by: { $0.number < $1.number }) where batch.sender.isOver && cost > limit {
        dropped.insert(batch.number)
        gone(batch)
      }
      messages.removeAll { dropped.contains($0.number) }
    }
  }

  private let state = Mutex(State())
  private let window: Int
  private let messageLimit: Int

  /// The number of changes of the membership that may wait.
  static let changeLimit = 4_096

  /// - Parameters:
  ///   - window: the cost of messages that one member may have waiting, counted separately for reliable and unreliable
  ///     ones.
  ///   - messageLimit: the cost of all messages, at least two windows for each member.
  init(window: Int, messageLimit: Int) {
    self.window = window
    self.messageLimit = messageLimit
  }

  // MARK: What the loop tells

  func push(_ membership: Membership, _ kind: Change.Kind) {
    state.change { state in
      if state.isFinished { return }
      if state.changes.count >= Self.changeLimit { state.changes.removeFirst() }
      state.changes.append(Change(membership: membership, kind: kind), number: state.nextNumber())
    }
  }

  func push(_ batch: consuming MessageBatch) {
    var batch = batch
    var others = Answers<Entry?>()
    let reader = state.withLock { state -> UnsafeContinuation<Entry?, Never>? in
      if state.isFinished { return nil }
      if batch.mode == .unreliable {
        guard state.unreliable[ObjectIdentifier(batch.sender), default: 0] + batch.cost <= window else { return nil }
      }
      batch.number = state.nextNumber()
      state.keep(batch)
      if state.cost > messageLimit { state.dropLeftBehind(above: messageLimit) }
      // The usual case: one task waits, which has passed everything that it reads.
      if let waiting = state.waiters.onlyNeed, waiting.takes(batch) { return state.waiters.takeFirst() }
      others = state.serve()
      return nil
    }
    reader?.resume(returning: .messages(batch))
    others.tell()
  }

  func push(_ offer: IncomingOffer) {
    state.change { state in
      if !state.isFinished { state.offers.append(offer, number: state.nextNumber()) }
    }
  }

  func push(_ stream: IncomingStream) {
    state.change { state in
      if !state.isFinished { state.streams.append(stream, number: state.nextNumber()) }
    }
  }

  func removeOffers(where isMeant: (IncomingOffer) -> Bool) {
    state.withLock { $0.offers.removeAll(where: isMeant) }
  }

  func removeStreams(where isMeant: (IncomingStream) -> Bool) {
    state.withLock { $0.streams.removeAll(where: isMeant) }
  }

  /// Ends the log. Entries pushed before are still handed out; then every reader gets nil.
  func finish() { state.change { $0.isFinished = true } }

  // MARK: Readers

  func attach(_ reader: Reader) {
    state.withLock { state in
      if reader.kinds.contains(.changes) { state.changes.attach(reader.id) }
      if reader.kinds.contains(.messages) { state.messages.attach(reader) }
      if reader.kinds.contains(.offers) { state.offers.attach(reader.id) }
      if reader.kinds.contains(.streams) { state.streams.attach(reader.id) }
    }
  }

  /// - Parameters:
  ///   - batch: the batch that the reader holds.
  ///   - position: how many messages of the batch it has read.
  /// - Returns: batches that every reader has read now.
  func detach(_ reader: Reader, holding batch: MessageBatch? = nil, at position: Int = 0) -> [MessageBatch] {
    state.withLock { state in
      state.changes.detach(reader.id)
      state.offers.detach(reader.id)
      state.streams.detach(reader.id)
      if let batch { state.messages.leave(reader.id, batch, at: position) }
      let read = state.messages.detach(reader.id)
      for batch in read { state.gone(batch) }
      return read
    }
  }

  /// Returns the entry for the reader now, if there is one.
  /// - Parameter batch: the batch that the reader held and has read.
  /// - Returns: also whether every reader has read that batch now.
  func next(for reader: Reader, after batch: MessageBatch?) -> (isRead: Bool, entry: Entry?) {
    state.withLock { state in
      var isRead = false
      if let batch {
        isRead = state.messages.pass(reader.id, batch)
        if isRead { state.gone(batch) }
      }
      // If the task is cancelled, the entry stays for the next time.
      return (isRead, Task.isCancelled ? nil : state.answer(to: reader) ?? nil)
    }
  }

  /// Returns the next entry for the reader; nil at the end, and when the task is cancelled.
  @inline(__always)
  func next(for reader: Reader) async -> Entry? { await state.wait(for: reader, ifCancelled: .some(nil)) }

  // MARK: For tests

  /// The cost of all messages that wait.
  var cost: Int { state.withLock { $0.cost } }

  var hasReliable: Bool { state.withLock { $0.messages.elements.contains { $0.mode == .reliable } } }

  var offerCount: Int { state.withLock { $0.offers.count } }
}
