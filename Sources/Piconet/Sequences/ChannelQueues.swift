import PiconetWire

/// Messages that wait for readers. Each channel in which messages have come has its own queue, so that readers of one
/// channel hold up no other. Part of the log's state, under its lock.
struct ChannelQueues: Sendable {
  private var first = SharedQueue<MessageBatch>()
  private var others: [(channel: MessageChannel, queue: SharedQueue<MessageBatch>)] = []
  private var readersOfAll: [ReaderID] = []

  /// The batches of all queues, in the order of their channels' first messages.
  var elements: [MessageBatch] { others.reduce(into: Array(first.elements)) { $0 += $1.queue.elements } }

  mutating func append(_ batch: MessageBatch) {
    withQueue(of: batch.channel) { $0.append(batch, number: batch.number) }
  }

  mutating func attach(_ reader: SessionLog.Reader) {
    if let channel = reader.channel { return withQueue(of: channel) { $0.attach(reader.id) } }
    readersOfAll.append(reader.id)
    first.attach(reader.id)
    for index in others.indices { others[index].queue.attach(reader.id) }
  }

  /// Returns the oldest batch that the reader has not passed, and its number. Queues that it does not read have nothing
  /// for it.
  func next(for reader: SessionLog.Reader) -> (number: UInt64, batch: MessageBatch)? {
    var oldest = first.next(for: reader.id)
    for other in others {
      if let next = other.queue.next(for: reader.id), next.number < oldest?.number ?? .max { oldest = next }
    }
    return oldest.map { ($0.number, $0.element) }
  }

  /// Notes that the reader is done with what `next` has given.
  /// - Returns: whether every reader is done with it now.
  mutating func pass(_ reader: ReaderID, _ batch: MessageBatch) -> Bool {
    withQueue(of: batch.channel) { $0.pass(reader, batch.number) }
  }

  /// Notes that the reader has read this many messages of a batch that it holds. A reader that comes after the last one
  /// has gone continues from there.
  mutating func leave(_ reader: ReaderID, _ batch: MessageBatch, at position: Int) {
    withQueue(of: batch.channel) { $0.leave(reader, batch.number) { $0.position = position } }
  }

  /// Removes a reader.
  /// - Returns: what all others had passed already.
  mutating func detach(_ reader: ReaderID) -> [MessageBatch] {
    readersOfAll.removeAll { $0 == reader }
    return others.indices.reduce(into: first.detach(reader)) { $0 += others[$1].queue.detach(reader) }
  }

  /// Removes what not every reader has read.
  mutating func removeAll(where isMeant: (MessageBatch) -> Bool) {
    first.removeAll(where: isMeant)
    for index in others.indices { others[index].queue.removeAll(where: isMeant) }
  }

  private mutating func withQueue<Value>(
    of channel: MessageChannel, _ body: (inout SharedQueue<MessageBatch>) -> Value
  ) -> Value {
    if channel == 0 { return body(&first) }
    if let index = others.firstIndex(where: { $0.channel == channel }) { return body(&others[index].queue) }
    var queue = SharedQueue<MessageBatch>()
    for reader in readersOfAll { queue.attach(reader) }
    defer { others.append((channel, queue)) }
    return body(&queue)
  }
}
