import PiconetEngine
import PiconetRuntime
import PiconetWire

/// A message from a member of the session.
public struct Message: Sendable, Hashable {
  /// The content: from 0 to `ProvenMember.messageLimit` bytes of the peer's choice. It shares storage with messages
  /// that came with it: copy it (`Array(message.bytes)`) to keep it for long. As a slice it does not begin at index 0,
  /// so that `bytes[0]` traps; `bytes.first` and a copy's indices are safe.
  public let bytes: ArraySlice<UInt8>
  /// The content as UTF-8 text, with U+FFFD in place of invalid bytes. These are the peer's own words: escape them
  /// before showing them on a terminal.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
  /// The member that sent it. A peer that has left and come back is another member.
  public let member: Member
  /// The mode in which it was sent.
  public let mode: DeliveryMode
  /// The channel in which it was sent; 0 if none was named, and for unreliable messages.
  public let channel: MessageChannel

  /// The node that sent it, proven by TLS.
  public var sender: NodeID { member.id }
}

/// The messages of the session, in all channels or in one. Those of one sender in one channel come in the order sent.
/// Each reader gets all of them; unread messages wait for the next reader. Ends with the node. `Session.events` has
/// them together with joining and leaving.
///
/// Reading lets senders go on. If no task reads, or one of the readers stops, senders stop at the message window. Each
/// channel has its own window, so that an unread channel stops no other. Waiting unreliable messages are dropped above
/// one window for each sender. Unread messages of former members are dropped, oldest first, once all waiting messages
/// cost more than two windows for each member that the session has room for.
public struct Messages: AsyncSequence, Sendable {
  public typealias Element = Message
  let core: NodeCore
  /// The channel to read; nil for all channels.
  var channel: MessageChannel?

  public struct AsyncIterator: AsyncIteratorProtocol {
    let reader: SessionReader

    // Written out twice, not one in terms of the other: each async function on the way that names its isolation changes
    // executors, even to the one that it is on.
    public mutating func next() async -> Message? {
      while true {
        if let message = reader.nextMessage() { return message }
        var entry = reader.nextEntry()
        if entry == nil { entry = await reader.core.log.next(for: reader.reader) }
        guard case .messages(let batch) = entry else { return nil }
        reader.take(batch)
      }
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Message? {
      while true {
        if let message = reader.nextMessage() { return message }
        var entry = reader.nextEntry()
        if entry == nil { entry = await reader.core.log.next(for: reader.reader) }
        guard case .messages(let batch) = entry else { return nil }
        reader.take(batch)
      }
    }

    /// Returns the next message if it has arrived already; nil if `next` has to wait for it, or will give nil. A task
    /// that takes several messages in one turn saves the cost of waiting for each of them.
    public mutating func nextAtOnce() -> Message? {
      while true {
        if let message = reader.nextMessage() { return message }
        guard case .messages(let batch) = reader.nextEntry() else { return nil }
        reader.take(batch)
      }
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(reader: SessionReader(core, .messages, in: channel))
  }
}
