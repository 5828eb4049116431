/// The way to send data to peers.
public enum GKSendDataMode: Int32, Sendable {
  /// Delivered in the order sent, until the peer has received it or is disconnected.
  case reliable = 0
  /// Delivered at once or never: dropped if the connection can't take it now, or if newer data has arrived before it.
  /// Data that is too long for one frame (16,373 bytes) goes reliably.
  case unreliable = 1
}
