import PiconetEngine
import PiconetWire

/// Messages that arrived together from one member in one channel.
struct MessageBatch: Sendable {
  let sender: Membership
  let messages: [Bytes]
  let mode: DeliveryMode
  let channel: MessageChannel
  /// Their share of the sender's window.
  let cost: Int
  /// Its place in the session's log.
  var number: UInt64 = 0
  /// How many of them had been read when the last reader went.
  var position = 0

  /// Creates a batch of messages as they arrived.
  init(from sender: Membership, _ messages: [Bytes], _ mode: DeliveryMode, in channel: MessageChannel) {
    let cost = messages.reduce(0) { $0 + $1.count + WireLimits.messageCost }
    self.init(from: sender, messages, mode, in: channel, cost: cost)
  }

  init(
    from sender: Membership, _ messages: [Bytes], _ mode: DeliveryMode, in channel: MessageChannel = 0, cost: Int
  ) {
    self.sender = sender
    self.messages = messages
    self.mode = mode
    self.channel = channel
    self.cost = cost
  }
}
