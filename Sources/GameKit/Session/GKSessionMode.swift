/// What a session does while it is available.
public enum GKSessionMode: Int32, Sendable {
  /// Advertises itself, and does not search.
  case server = 0
  /// Searches for servers, and does not advertise itself.
  case client = 1
  /// Advertises itself and searches.
  case peer = 2
}
