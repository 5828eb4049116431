/// What imagesend was asked to do.
struct ImageSendArguments: Hashable, TransportArguments {
  /// Empty: the only peer in sight, or the one that the person picks.
  var recipients: [Recipient] = []
  /// Dial this address and do not search.
  var address: DialPlace?
  /// nil: the host's name.
  var name: String?
  /// nil: the default session.
  var session: String?
  /// How long to search, to wait for an answer, and to bear silence.
  var timeout: Duration = .seconds(30)
  var transport = TransportOptions()
  /// Send files that are no images too.
  var any = false
  /// Write events to standard output (EVENTS.md).
  var json = false
  var verbosity = Verbosity()
  /// Files and directories, at least one.
  var operands: [LocalPath] = []
}
