import PiconetEngine
import PiconetWire

/// Receives the events of the engine; called on the loop, in order.
public protocol NodeObserver: AnyObject {
  /// An event for the application.
  func delivered(_ event: Event)
  func replied(_ command: CommandID, _ reply: Reply)
  /// Messages of this cost have left the channel's queue to the node.
  func messagesTaken(_ node: NodeID, cost: Int, in channel: MessageChannel)
  /// This many bytes have left the queue of an outgoing stream.
  func streamTaken(_ stream: StreamID, count: Int)
  /// Content has arrived; it is not stored yet, and may never be.
  func received(_ transfer: TransferID, byteCount: Int)
  /// Content that arrived before has arrived again.
  func receivedAgain(_ transfer: TransferID, byteCount: Int)
  /// An incoming transfer has this many bytes on disk.
  func storeProgressed(_ transfer: TransferID, stored: UInt64)
  /// An incoming transfer that seemed to be stored already begins again: this many bytes are on disk, and are not sent.
  func storeRestarted(_ transfer: TransferID, offset: UInt64)
  /// Everything has ended after `shutDown`: nothing follows.
  func finished()
}

/// An input from the application to the driver.
public enum NodeInput: Sendable {
  case fact(Fact)
  /// Several facts at once, such as a message to many.
  case facts([Fact])
  indirect case offer(CommandID, TransferID, NodeID, ResourceOffer, any ResourceSource)
  /// Accepts an offer whose first `offset` bytes the store has already.
  indirect case acceptOffer(CommandID, TransferID, any ResourceStore, offset: UInt64)
  indirect case advertise(NodeAdvertisement?)
  case search(sessionID: String?)
  /// Asks for the statistics of the connection to a peer; `answer` is called on the loop, with nil if there is no
  /// connection.
  indirect case inspect(NodeID, answer: @Sendable (AssociationStatistics?) -> Void)
  /// Another input, if a condition holds when the loop comes to it; otherwise `refused` is called there.
  indirect case conditional(NodeInput, @Sendable () -> Bool, refused: @Sendable () -> Void)
}
