import PiconetEngine
import PiconetWire

/// Messages as they came from one member in one go.
struct MessageBatch: Sendable {
  let sender: Membership
  let messages: [Bytes]
  let mode: DeliveryMode
  /// What they cost of the window that the sender has.
  let cost: Int
  /// Its place in the session's log.
  var number: UInt64 = 0
  /// How many of them were read when the last reader had gone.
  var position = 0

  init(from sender: Membership, _ messages: [Bytes], _ mode: DeliveryMode, cost: Int) {
    self.sender = sender
    self.messages = messages
    self.mode = mode
    self.cost = cost
  }
}
