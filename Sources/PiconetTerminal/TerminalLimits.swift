/// Every limit of what a terminal shows and takes, in one place.
package enum TerminalLimits {
  /// Bytes that may be typed to filter a list: those of a peer's name, one DNS label (RFC 1035, section 2.3.4).
  static let nameBytes = 63
  /// Rows in the list from which a person picks a peer. Peers beyond that are counted, not listed.
  package static let pickerRows = 99
  /// Changes of that list that wait to be drawn. Beyond that the newest is dropped, and the list says so.
  static let pickerBacklog = 1_024
  /// Questions that are open beside a list; any more are answered with no.
  static let questions = 16
  /// Progress reports and redraws: 10 a second.
  package static let progressInterval = Duration.milliseconds(100)
}
