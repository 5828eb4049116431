import Piconet

/// What imagesend was asked to do.
struct ImageSendArguments: Hashable, TransportArguments, CodeArguments, RelayedArguments {
  /// Empty: the only peer in sight, or the one that the person picks.
  var recipients: [Recipient] = []
  /// Dial this address and do not search. A recipient beside it must be the peer that answers there.
  var address: DialPlace?
  /// The key that must answer, which the person has from the other device.
  var fingerprint: PeerID?
  /// Ask nothing.
  var yes = false
  /// The peer's code; nil: it lets us in without one.
  var code: CodeOption?
  /// nil: the host's name.
  var name: String?
  /// nil: the default session.
  var session: String?
  /// How long to search, to wait for an answer, and to tolerate silence.
  var timeout: Duration = .seconds(30)
  /// How long to wait for a receiver that is not there yet, or is gone; nil: as long as `timeout`.
  var wait: Duration?
  /// How long a receiver is looked for.
  var searchTime: Duration { wait ?? timeout }
  var transport = TransportOptions()
  var relays: [DialTarget] = []
  /// Send files other than images, too.
  var any = false
  /// Send hidden files and folders of directories, too.
  var takesHidden = false
  /// Offer all files without the folders that they are in.
  var isFlat = false
  /// Send named photos without their sidecars and live photos' films.
  var isAlone = false
  /// Whether files keep the places that they name.
  var location = LocationChoice.keep
  /// What the file from standard input is called; nil: `stdin` with the extension of its kind.
  var inputName: LocalPath?
  /// Whether a person who is asked by the receiver sees pictures of the first files.
  var hasThumbnails = true
  /// Follow links to directories.
  var followsLinks = false
  /// Whether the digests of files that were read in earlier runs count.
  var usesCache = true
  /// Write events to standard output (EVENTS.md).
  var json = false
  var verbosity = Verbosity()
  /// Files and directories, at least one.
  var operands: [LocalPath] = []

  /// The recipients to look for: if a key was given, its owner is meant, whatever its name.
  var wanted: [Recipient] {
    // `--to` then says which peer has to answer there.
    if address != nil { return [] }
    return fingerprint.map { [.peer(fingerprint: $0.description)] } ?? recipients
  }

  /// Whether a receiver has to be found.
  var searches: Bool {
    address == nil || searchesForRelay
  }

  /// Whether one of the files is what is read from standard input.
  var readsInput: Bool { operands.contains("-") }

  func check() throws(UsageError) {
    try transport.check(address: address)
    if inputName != nil, !readsInput {
      throw UsageError("--as names what comes from standard input: give - as the file")
    }
    if code != nil, recipients.contains(.all) || recipients.count > 1 {
      throw UsageError("--code is the code of one device: name it with --to or --address")
    }
    if address != nil, recipients.contains(.all) || recipients.count > 1 {
      throw UsageError("--address is where one device is: name that one with --to, or none")
    }
    if code == .open, yes {
      throw UsageError("with --yes nobody is asked for the code: give it with --code=DIGITS or --code-file")
    }
    guard let fingerprint else { return }
    guard recipients.count <= 1, recipients.first != .all else {
      throw UsageError("--fingerprint is that of one peer")
    }
    if case .peer(let other) = recipients.first, other != fingerprint.description {
      throw UsageError("--to and --fingerprint name two different keys")
    }
  }
}
