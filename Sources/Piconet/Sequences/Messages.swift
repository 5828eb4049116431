import PiconetEngine
import PiconetRuntime
import PiconetWire

/// A message from a member of the session.
public struct Message: Sendable, Hashable {
  /// The content. It shares storage with messages that came with it: copy it (`Array(message.bytes)`) to keep it for
  /// long.
  public let bytes: ArraySlice<UInt8>
  /// The member that sent it, proven by TLS.
  public let sender: NodeID
  /// As it was sent.
  public let mode: DeliveryMode
}

/// The messages of the session: of one sender in the order sent, each handed to one reader. Ends with the node. What a
/// reader has not read when its loop ends is there for the next reader.
///
/// Reading is what lets senders go on: a session that nobody reads stops its senders at the message window. Of
/// unreliable messages that nobody reads those above the window are dropped, and so are the oldest that former members
/// have left behind when all that waits costs more than two windows for each member that the session has room for.
public struct Messages: AsyncSequence, Sendable {
  public typealias Element = Message
  let core: NodeCore

  public struct AsyncIterator: AsyncIteratorProtocol {
    let reader: Reader

    // Twice the same, not one by the other: each async function on the way that names its isolation is a change of
    // executors, if only to the one that it is on.
    public mutating func next() async -> Message? {
      while true {
        if let message = reader.next() { return message }
        guard let more = await reader.core.messages.next() else { return nil }
        reader.take(more)
      }
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Message? {
      while true {
        if let message = reader.next() { return message }
        guard let more = await reader.core.messages.next() else { return nil }
        reader.take(more)
      }
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: Reader(core: core)) }

  /// What one reader has taken from the queue; its end gives the rest back.
  final class Reader {
    let core: NodeCore
    // Not checked for overlapping accesses at each message: an iterator is one task's at a time, and nothing that is
    // called here comes back.
    @exclusivity(unchecked) private var batches: [MessageBatch] = []
    private var batchIndex = 0
    /// The messages of the batch at `batchIndex`, and how many of them were read: looked at once, not for each message.
    @exclusivity(unchecked) private var messages: [Bytes] = []
    @exclusivity(unchecked) private var position = 0

    init(core: NodeCore) { self.core = core }

    deinit {
      guard batchIndex < batches.count else { return }
      batches[batchIndex].position = position
      core.messages.giveBack(Array(batches[batchIndex...]))
    }

    func take(_ more: [MessageBatch]) {
      batches = more
      batchIndex = 0
      beginBatch()
    }

    private func beginBatch() {
      guard batchIndex < batches.count else { return }
      messages = batches[batchIndex].messages
      position = batches[batchIndex].position
    }

    func next() -> Message? {
      while batchIndex < batches.count {
        if position < messages.count {
          defer { position += 1 }
          return Message(
            bytes: messages[position], sender: batches[batchIndex].node, mode: batches[batchIndex].mode)
        }
        core.consumed(batches[batchIndex])
        batchIndex += 1
        beginBatch()
      }
      return nil
    }
  }
}
