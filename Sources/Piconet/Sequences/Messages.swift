import PiconetEngine
import PiconetRuntime
import PiconetWire

/// A message from a member of the session.
public struct Message: Sendable, Hashable {
  /// The content. It shares storage with messages that came with it: copy it (`Array(message.bytes)`) to keep it for long.
  public let bytes: ArraySlice<UInt8>
  /// The member that sent it, proven by TLS.
  public let sender: NodeID
  /// As it was sent.
  public let mode: DeliveryMode
}

/// Messages as they came from one member in one go.
struct MessageBatch: Sendable {
  var node: NodeID
  var messages: [Bytes]
  var mode: DeliveryMode
  /// What they cost of the window that the sender has.
  var cost: Int
}

/// The messages of the session: of one sender in the order sent, each handed to one reader. Ends with the node.
///
/// Reading is what lets senders go on: a session that nobody reads stops its senders at the message window.
public struct Messages: AsyncSequence, Sendable {
  public typealias Element = Message
  let core: NodeCore

  public struct AsyncIterator: AsyncIteratorProtocol {
    let core: NodeCore
    var batches: [MessageBatch] = []
    var batchIndex = 0
    var index = 0

    public mutating func next() async -> Message? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Message? {
      while true {
        if batchIndex < batches.count {
          let count = batches[batchIndex].messages.count
          if index < count {
            defer { index += 1 }
            return Message(
              bytes: batches[batchIndex].messages[index], sender: batches[batchIndex].node,
              mode: batches[batchIndex].mode)
          }
          if batches[batchIndex].mode == .reliable {
            core.submit(.fact(.messagesConsumed(batches[batchIndex].node, byteCount: batches[batchIndex].cost)))
          }
          batchIndex += 1
          index = 0
          continue
        }
        guard let more = await core.messages.next(isolation: actor) else { return nil }
        batches = more
        batchIndex = 0
        index = 0
      }
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(core: core) }
}
