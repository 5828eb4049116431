/// What `--json` reports, one object per line on standard output. The schema, with an example of each, is in EVENTS.md.
///
/// `peer` is always the fingerprint of the peer's key in 64 hexadecimal digits. In `found` and `connecting` it is what
/// the peer claims; from `connected` on TLS has proven it.
enum ProgramEvent: Hashable, Sendable {
  /// imagerecv can be found and dialled.
  struct Listening: Hashable, Sendable {
    /// This device's own fingerprint.
    var peer: String
    var name: String
    var session: String
    /// All of them, as `host:port` or a Bluetooth address.
    var addresses: [String]
    /// The transports that listen.
    var transports: [String]
    /// Where files go.
    var directory: String
  }

  /// imagerecv with `--fingerprint`.
  struct Identity: Hashable, Sendable {
    /// This device's own fingerprint.
    var peer: String
  }

  struct Found: Hashable, Sendable {
    var peer: String
    var name: String
    var session: String?
    /// Where it was seen, the best of several: `host:port` or a Bluetooth address.
    var address: String?
    /// The transports by which it can be reached, best first.
    var transports: [String] = []
    /// In dBm, if Bluetooth tells.
    var signal: Int?
    /// What `piconet browse` shows: names that are advertised, interfaces of objects, and what it is.
    var names: [String] = []
    var interfaces: [String] = []
    var model: String?
  }

  /// A peer is no longer in sight.
  struct Lost: Hashable, Sendable {
    var peer: String
    var name: String
    var session: String
  }

  struct Connecting: Hashable, Sendable {
    /// nil if only an address is known.
    var peer: String?
    var name: String?
    /// The transports that will be tried, in this order; at least one.
    var transports: [String]
    /// The address that the first of them dials.
    var address: String?
  }

  struct Connected: Hashable, Sendable {
    var peer: String
    var name: String
    var transport: String
    /// The fingerprints of the devices that pass everything on, the nearest first; empty for a direct way.
    var relays: [String] = []
    /// What TLS proved: SHA-256 of the peer's SubjectPublicKeyInfo, in 64 hexadecimal digits.
    var fingerprint: String
    /// The short code that both sides have shown, if anyone was asked.
    var code: String?
    /// imagerecv: how many others went unreported since the last report, if any.
    var suppressed: Int64?
  }

  /// imagesend: a person is asked on the other side. imagerecv: the question is on the screen.
  struct Code: Hashable, Sendable {
    var peer: String
    var name: String
    /// The short code that both sides show.
    var code: String
    /// As in `Connected`.
    var suppressed: Int64?
  }

  /// imagerecv accepts senders on which this code, which it has made, is typed.
  struct CodeSet: Hashable, Sendable {
    var code: String
  }

  /// imagerecv: a sender has tried a wrong code.
  struct CodeFailed: Hashable, Sendable {
    var peer: String
    var name: String
    var reason: String
    var message: String
    /// Tries that are left, over all senders.
    var left: Int64
  }

  /// A peer can't be reached for the moment; both sides look for another way.
  struct Suspended: Hashable, Sendable {
    var peer: String
    var name: String
    /// A word for programs, as in `Failed`.
    var reason: String
    /// A sentence to show.
    var message: String
    /// As in `Connected`; resumptions count, too.
    var suppressed: Int64?
  }

  /// A peer is reached again, or over another link.
  struct Resumed: Hashable, Sendable {
    var peer: String
    var name: String
    var transport: String
    /// As in `Connected`.
    var relays: [String] = []
    /// As in `Suspended`.
    var suppressed: Int64?
  }

  /// imagerecv has turned a sender away.
  struct Declined: Hashable, Sendable {
    var peer: String
    var name: String
    var reason: String
    /// A sentence to show, if the key was refused.
    var message: String?
    /// How many others were turned away since the last report, if any.
    var suppressed: Int64?
  }

  /// imagesend: the file was offered. imagerecv: the peer offers it.
  struct Offered: Hashable, Sendable {
    var peer: String
    var file: String
    var bytes: Int64
    var mediaType: String?
  }

  struct Progress: Hashable, Sendable {
    var peer: String
    var file: String
    var done: Int64
    var total: Int64
    /// Whether a file that may be the same is being read, on either side: `done` is how much of it.
    var isComparing = false
    /// Bytes per second, once that can be estimated.
    var rate: Int64?
    /// Whole seconds left, once they can be estimated.
    var remaining: Int64?
  }

  /// Verified, synchronized to disk and under its final name.
  struct Stored: Hashable, Sendable {
    var peer: String
    var file: String
    /// imagesend: what was sent. imagerecv: what was written.
    var path: String
    var bytes: Int64
    /// 64 hexadecimal digits.
    var sha256: String
    /// Bytes that an interrupted transfer had stored before; nil if there were none.
    var resumedFrom: Int64?
    /// imagerecv: as of `Failed`.
    var suppressed: Int64?
    /// imagesend: what of its location the file was sent without.
    var takenOut: Set<LocationKind> = []
  }

  /// The receiver already has this very content, as both sides' digests show; nothing was stored.
  struct Present: Hashable, Sendable {
    var peer: String
    var file: String
    /// imagesend: what was offered. imagerecv: where it is.
    var path: String
    var bytes: Int64
    /// 64 hexadecimal digits.
    var sha256: String
    /// imagerecv: as of `Failed`.
    var suppressed: Int64?
    /// imagesend: as of `Stored`.
    var takenOut: Set<LocationKind> = []
  }

  /// Not transferred, by a rule that a person chose: another file has the name.
  struct Skipped: Hashable, Sendable {
    var peer: String?
    var file: String
    var reason: String
    /// imagerecv: as of `Failed`.
    var suppressed: Int64?
  }

  struct Failed: Hashable, Sendable {
    var peer: String?
    /// nil if the failure does not concern a single file.
    var file: String?
    /// A word for programs.
    var reason: String
    /// A sentence to show.
    var message: String
    var exitCode: ExitCode
    /// How many others from this sender or its address went unreported since the last report.
    var suppressed: Int64?
  }

  /// Something is not as it should be, and the run goes on.
  struct Warning: Hashable, Sendable {
    /// A word for programs.
    var reason: String
    /// A sentence to show.
    var message: String
    /// The file that it is about, if any.
    var path: String?
    /// Counted from 1.
    var line: Int64?
  }

  /// The last event.
  struct Finished: Hashable, Sendable {
    var stored: Int64
    /// Files that were there already.
    var present: Int64 = 0
    var skipped: Int64
    var failed: Int64
    /// The bytes of the stored files.
    var bytes: Int64
    /// imagesend: how many files in directories are not images, if any.
    var leftOut: Int64?
    var exitCode: ExitCode
  }

  case listening(Listening)
  case identity(Identity)
  case found(Found)
  /// `piconet scan`: something about a found peer has changed.
  case changed(Found)
  /// `piconet scan`.
  case lost(Lost)
  case connecting(Connecting)
  case code(Code)
  case codeSet(CodeSet)
  case codeFailed(CodeFailed)
  case connected(Connected)
  case suspended(Suspended)
  case resumed(Resumed)
  case declined(Declined)
  case offered(Offered)
  case progress(Progress)
  case stored(Stored)
  case present(Present)
  case skipped(Skipped)
  case failed(Failed)
  case warning(Warning)
  case finished(Finished)
}
