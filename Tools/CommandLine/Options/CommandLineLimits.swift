/// Every limit of the tools' own input, in one place.
enum CommandLineLimits {
  /// Bytes of a peer's name: one DNS label (RFC 1035, section 2.3.4), as DNS-SD instance names are.
  static let nameBytes = 63
  /// Bytes of a session's id.
  static let sessionBytes = 63
  /// Files that are named on standard error when they were not tried; of others their number is told.
  static let untriedTold = 20
  /// Directories below an operand.
  static let directoryDepth = 32
  /// Rows of the list a person picks a peer from. Peers beyond are counted, not listed.
  static let pickerRows = 99
  /// Changes of that list that wait to be drawn. Beyond it the newest is dropped: the list says so.
  static let pickerBacklog = 1_024
  /// Peers that are told as found.
  static let sightings = 4_096
  /// Peers that imagesend is connected to at once, and files under way to each: with them its memory is bounded.
  static let peersAtOnce = 4
  static let filesAtOnce = 4
  /// Senders that imagerecv is connected to at once, and files that it stores of each at once.
  static let senders = 16
  /// Questions of strangers that are put at once: a person reads one after the other.
  static let questions = 1
  static let filesStoredAtOnce = 8
  /// Progress reports and redraws: 10 a second.
  static let progressInterval = Duration.milliseconds(100)
}
