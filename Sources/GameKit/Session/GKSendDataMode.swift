/// How data goes to peers.
public enum GKSendDataMode: Int32, Sendable {
  /// In the order sent, until it is received or the peer is disconnected.
  case reliable = 0
  /// At once or never: dropped where the connection can't take it now, or where something newer has come before it.
  /// Data that is too long for one frame (16,373 bytes) goes reliably.
  case unreliable = 1
}
