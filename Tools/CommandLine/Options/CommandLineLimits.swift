/// Every limit of the tools' own input, in one place.
enum CommandLineLimits {
  /// Bytes of a peer's name: one DNS label (RFC 1035, section 2.3.4), as DNS-SD instance names are.
  static let nameBytes = 63
  /// Bytes of a session's id.
  static let sessionBytes = 63
  /// How many untried files are named on standard error; of the rest only the number is reported.
  static let untriedTold = 20
  /// Up to this many files, and failures, have lines of their own on a terminal with a progress bar; more are only
  /// counted, unless `-v` is given.
  static let fewFiles = 10
  /// How many levels of directories below an operand.
  static let directoryDepth = 32
  /// How many hidden files and directories imagesend looks at to count those that it leaves out.
  static let hiddenLooks = 10_000
  /// The number of peers that are reported as found.
  static let sightings = 4_096
  /// Peers that imagesend is connected to at once, and files under way to each: these bound its memory.
  static let peersAtOnce = 4
  static let filesAtOnce = 4
  /// Programs of one device that 'all' means: any device can advertise another's key as often as it likes.
  static let programsOfDevice = 8
  /// More files may be under way if all of those to a peer together have no more bytes than this.
  static let smallFilesAtOnce = 32
  static let smallBytesAtOnce: Int64 = 8 << 20
  /// Descriptors that a program needs for itself and its links.
  static let ownDescriptors = 24
  /// Files whose digests are computed at once if their names can't be written as text, so that each is held open.
  static let unreadableNamesAtOnce = 8
  /// Senders that imagerecv is connected to at once, and files from each that it stores at once.
  static let senders = 16
  /// Questions about strangers that are asked at once: a person reads one after the other.
  static let questions = 1
  static let filesStoredAtOnce = 8
  /// Offers, of all senders together, that were refused for their names and may come again under others.
  static let offersToRename = 256
  /// How many files of a sender are stored at once if nothing of them is kept when they are interrupted: each needs one
  /// descriptor, a larger one two.
  static let smallFilesStoredAtOnce = 32
  /// How long imagesend waits for a receiver if `--wait` has no time: a year, which stands for no limit.
  static let longestWait = Duration.seconds(365 * 86_400)
  /// The number of returns without completing a single file after which a receiver is given up.
  static let fruitlessReturns = 3
  /// The number of bytes of a file that may be at a receiver before it reports them.
  static let bytesAhead: Int64 = 2 << 20
  /// Relays that a program joins.
  static let relays = 4
  /// A file may wait as long until it is opened, since the process has too few descriptors.
  static let waitForDescriptors = Duration.seconds(20)
  /// After a signal `imagesend` and `imagerecv` end in good order within this time, or without it. It is a little more
  /// than leaving a peer may take.
  static let endAfterSignal = Duration.seconds(6)
  /// A disk that has not answered for so long when all else has ended is not waited for: of what is read, and written.
  static let readingAtEnd = Duration.milliseconds(500)
  static let writingAtEnd = Duration.seconds(3)
}
