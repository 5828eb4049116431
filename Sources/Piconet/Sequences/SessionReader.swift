import PiconetEngine

/// One reader of the session's log: an iterator of `SessionEvents`, of `Messages`, or of another view of it.
final class SessionReader {
  let core: NodeCore
  let id = ReaderID()
  // Not checked for overlapping accesses at each message: an iterator is one task's at a time, and nothing that is
  // called here comes back.
  @exclusivity(unchecked) private var batch: MessageBatch?
  @exclusivity(unchecked) private var position = 0

  init(_ core: NodeCore, _ kinds: SessionLog.Kinds) {
    self.core = core
    core.log.attach(id, to: kinds)
  }

  /// What it has not read waits for the others, and for the next one if it was the last.
  deinit {
    for batch in core.log.detach(id, holding: batch, at: position) { core.consumed(batch) }
  }

  func take(_ batch: MessageBatch) {
    self.batch = batch
    position = batch.position
  }

  /// The next one of the batch that it has taken.
  func nextMessage() -> Message? {
    guard let batch, position < batch.messages.count else { return nil }
    defer { position += 1 }
    return Message(
      bytes: batch.messages[position], member: Member(membership: batch.sender, core: core), mode: batch.mode)
  }

  /// What there is now behind what it has read, if there is something.
  func nextEntry() -> SessionLog.Entry? {
    let (read, entry) = core.log.next(for: id, after: batch)
    batch = nil
    if let read { core.consumed(read) }
    return entry
  }
}

/// A view of the session's log that has one kind of it.
struct SessionView<Element: Sendable>: EventSource {
  let core: NodeCore
  let kinds: SessionLog.Kinds
  let element: @Sendable (SessionLog.Entry, NodeCore) -> Element?

  func attach(_ reader: ReaderID) { core.log.attach(reader, to: kinds) }

  func detach(_ reader: ReaderID) { _ = core.log.detach(reader) }

  func next(for reader: ReaderID, isolation: isolated (any Actor)?) async -> Element? {
    guard let entry = await core.log.next(for: reader) else { return nil }
    return element(entry, core)
  }
}
