/// What a session does while it is available.
public enum GKSessionMode: Int32, Sendable {
  /// Advertises itself, and finds no one.
  case server = 0
  /// Looks for servers, and is found by no one.
  case client = 1
  /// Both.
  case peer = 2
}
