/// What a session does while it is available.
public enum GKSessionMode: Int32, Sendable {
  /// Advertises itself, and finds nobody.
  case server = 0
  /// Looks for servers, and is found by nobody.
  case client = 1
  /// Both.
  case peer = 2
}
