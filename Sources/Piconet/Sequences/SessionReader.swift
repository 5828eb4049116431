import PiconetEngine
import PiconetWire

/// One reader of the session's log: an iterator of `SessionEvents` or of `Messages`.
final class SessionReader {
  let core: NodeCore
  let reader: SessionLog.Reader
  // Not checked for overlapping accesses at each message: one task at a time has an iterator, and no function called
  // here calls back.
  @exclusivity(unchecked) private var batch: MessageBatch?
  /// The messages of the batch, and how many of them were read. They are taken out of the batch once, not for each
  /// message.
  @exclusivity(unchecked) private var messages: [Bytes] = []
  @exclusivity(unchecked) private var position = 0
  @exclusivity(unchecked) private var member: Member?

  /// - Parameter channel: nil for messages of all channels.
  init(_ core: NodeCore, _ kinds: SessionLog.Kinds, in channel: MessageChannel? = nil) {
    self.core = core
    reader = SessionLog.Reader(kinds: kinds, channel: channel)
    core.log.attach(reader)
  }

  /// Messages that it has not read wait for the others, or for the next reader if it was the last.
  deinit {
    for batch in core.log.detach(reader, holding: batch, at: position) { core.consumed(batch) }
  }

  func take(_ batch: MessageBatch) {
    messages = batch.messages
    position = batch.position
    if member?.membership !== batch.sender { member = Member(membership: batch.sender, core: core) }
    self.batch = batch
  }

  /// Returns the next message of the batch that it has taken.
  func nextMessage() -> Message? {
    guard position < messages.count, let member else { return nil }
    defer { position += 1 }
    return Message(
      bytes: messages[position], member: member, mode: batch?.mode ?? .reliable, channel: batch?.channel ?? 0)
  }

  /// Returns the entry after those that it has read, if there is one now.
  func nextEntry() -> SessionLog.Entry? {
    let read = batch
    let (isRead, entry) = core.log.next(for: reader, after: read)
    batch = nil
    messages = []
    position = 0
    if isRead, let read { core.consumed(read) }
    return entry
  }
}

/// A view of the session's log that shows one kind of entry.
struct SessionView<Element: Sendable>: EventSource {
  let core: NodeCore
  let kinds: SessionLog.Kinds
  let element: @Sendable (SessionLog.Entry, NodeCore) -> Element?

  func attach(_ reader: ReaderID) { core.log.attach(SessionLog.Reader(id: reader, kinds: kinds)) }

  func detach(_ reader: ReaderID) { _ = core.log.detach(SessionLog.Reader(id: reader, kinds: kinds)) }

  func next(for reader: ReaderID, isolation: isolated (any Actor)?) async -> Element? {
    guard let entry = await core.log.next(for: SessionLog.Reader(id: reader, kinds: kinds)) else { return nil }
    return element(entry, core)
  }
}
