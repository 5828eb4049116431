import PiconetEngine
import PiconetWire

/// Told what the engine says; called on the loop, in order.
public protocol NodeObserver: AnyObject {
  /// Something that the application is to know.
  func delivered(_ event: Event)
  func replied(_ command: CommandID, _ reply: Reply)
  /// Messages of this cost have left the channel's queue to the node.
  func messagesTaken(_ node: NodeID, cost: Int, in channel: MessageChannel)
  /// This many bytes have left the queue of an outgoing stream.
  func streamTaken(_ stream: StreamID, count: Int)
  /// Content has come; it is not stored yet, and may never be.
  func received(_ transfer: TransferID, byteCount: Int)
  /// Content that has come before has come again.
  func receivedAgain(_ transfer: TransferID, byteCount: Int)
  /// An incoming transfer has this many bytes on disk.
  func storeProgressed(_ transfer: TransferID, stored: UInt64)
  /// An incoming transfer that was thought to be there already begins again: this many bytes are on disk, and are not
  /// sent.
  func storeRestarted(_ transfer: TransferID, offset: UInt64)
  /// Everything has ended after `shutDown`: nothing follows.
  func finished()
}

/// What the application hands to the driver.
public enum NodeInput: Sendable {
  case fact(Fact)
  /// Several at once, such as a message to many.
  case facts([Fact])
  indirect case offer(CommandID, TransferID, NodeID, ResourceOffer, any ResourceSource)
  /// The store has the first `offset` bytes already.
  indirect case acceptOffer(CommandID, TransferID, any ResourceStore, offset: UInt64)
  indirect case advertise(NodeAdvertisement?)
  case search(sessionID: String?)
  /// Asks for the statistics of the connection to a peer; `answer` is called on the loop, with nil if there is none.
  indirect case inspect(NodeID, answer: @Sendable (AssociationStatistics?) -> Void)
  /// Another input, if a condition holds when the loop comes to it; otherwise `refused` is called there.
  indirect case conditional(NodeInput, @Sendable () -> Bool, refused: @Sendable () -> Void)
}
