import Piconet

/// What imagerecv was asked to do.
struct ImageReceiveArguments: Hashable, TransportArguments, CodeArguments, RelayedArguments {
  /// nil: the host's name.
  var name: String?
  /// nil: the default session.
  var session: String?
  /// nil: the current directory, or the one for pictures of a service.
  var directory: LocalPath?
  /// Run as a service of a session: without a terminal, and saying when it is ready.
  var isService = false
  /// Whether the desktop is asked to put questions where there is no terminal.
  var notifies = true
  /// Show this many entries of the history and end; nil: receive.
  var history: Int?
  var accept: AcceptPolicy = .ask
  /// How a question shows what the first photos look like.
  var thumbnails: ThumbnailChoice = .auto
  var visible: Visibility = .all
  /// How long others find this device; nil: as long as it runs.
  var visibleTime: Duration?
  /// Show this device's own fingerprint and end.
  var fingerprint = false
  /// Also show it as a QR code.
  var qr = false
  /// The code by which unknown senders get in; nil: they can't get in by a code.
  var code: CodeOption?
  /// End after this many stored files; nil: go on until interrupted.
  var count: Int?
  /// How long a sender or a counted file may stall while others wait.
  var timeout: Duration = .seconds(10)
  var onConflict: ConflictPolicy = .rename
  var transport = TransportOptions()
  var relays: [DialTarget] = []
  /// nil: every address, any free port.
  var listen: HostAndPort?
  /// The largest file accepted, in bytes; nil: whatever fits on the disk.
  var maxSize: Int64?
  /// What a device that is not known may send in a day, in bytes; nil: any amount.
  var daily: Int64?
  /// Accept files other than images, too.
  var any = false
  /// Whether the digests of files that were read in earlier runs count.
  var usesCache = true
  /// Write events to standard output (EVENTS.md).
  var json = false
  var verbosity = Verbosity()

  /// Whether anything is asked that a desktop may put to a person.
  var mayAskDesktop: Bool { notifies && accept == .ask && code == nil }

  /// Whether it waits for senders, and does not only show something.
  var receives: Bool { history == nil && !fingerprint }

  func check() throws(UsageError) {
    if code != nil, accept == .all {
      throw UsageError("--code lets in who knows the code, and --accept all everybody: choose one")
    }
    if code != nil, visible == .known {
      throw UsageError("--code is for devices that are not known, and --visible known hides from them: choose one")
    }
    if code != nil, isService { throw UsageError("--code is shown to a person, and --service has none: choose one") }
    if qr, !fingerprint { throw UsageError("--qr goes with --fingerprint") }
    if qr, json { throw UsageError("--qr is for people, and --json for programs: choose one") }
    if visible == .known, !relays.isEmpty {
      throw UsageError(
        "--relay tells this device's name to those whom the relay introduces, and --visible known hides it: choose one")
    }
    try transport.check(listen: listen)
    if visible == .known, transport.choice.isBluetoothOnly || transport.adapter != nil {
      throw UsageError("'--visible known' is for TCP: over Bluetooth a device shows its name")
    }
  }
}
