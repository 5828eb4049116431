/// What `--json` reports, one object a line on standard output. The schema, with an example of each, is in EVENTS.md.
///
/// `peer` is always the fingerprint of the peer's key in 64 hexadecimal digits. In `found` and `connecting` it is what
/// the peer says of itself; from `connected` on TLS has proven it.
enum Event: Hashable, Sendable {
  /// imagerecv can be found and dialled.
  struct Listening: Hashable, Sendable {
    /// This device's own fingerprint.
    var peer: String
    var name: String
    var session: String
    /// `host:port`, or a Bluetooth address, all of them.
    var addresses: [String]
    /// That listen.
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
    /// By which it can be reached, best first.
    var transports: [String] = []
    /// In dBm, where Bluetooth tells.
    var signal: Int?
  }

  /// A peer is not in sight any more.
  struct Lost: Hashable, Sendable {
    var peer: String
    var name: String
    var session: String
  }

  struct Connecting: Hashable, Sendable {
    /// nil where only an address is known.
    var peer: String?
    var name: String?
    /// Those that will be tried, in this order; at least one.
    var transports: [String]
    /// Where the first of them dials.
    var address: String?
  }

  struct Connected: Hashable, Sendable {
    var peer: String
    var name: String
    var transport: String
    /// What TLS proved: SHA-256 of the peer's SubjectPublicKeyInfo, in 64 hexadecimal digits.
    var fingerprint: String
    /// The short code that both sides have shown, where somebody was asked.
    var code: String?
    /// imagerecv: others that were not told since the last that was, if there were any.
    var suppressed: Int64?
  }

  /// imagesend: somebody is asked on the other side. imagerecv: the question is on the screen.
  struct Code: Hashable, Sendable {
    var peer: String
    var name: String
    /// The short code that both sides show.
    var code: String
    /// As of `Connected`.
    var suppressed: Int64?
  }

  /// imagerecv takes senders on which this code is typed, which it has made.
  struct CodeSet: Hashable, Sendable {
    var code: String
  }

  /// imagerecv: a sender has tried the code in vain.
  struct CodeFailed: Hashable, Sendable {
    var peer: String
    var name: String
    var reason: String
    var message: String
    /// Tries that are left over all senders.
    var left: Int64
  }

  /// A peer can't be reached for the moment; both sides look for another way.
  struct Suspended: Hashable, Sendable {
    var peer: String
    var name: String
    /// A word for programs, as in `Failed`.
    var reason: String
    /// A sentence for people.
    var message: String
    /// As of `Connected`; what was resumed counts too.
    var suppressed: Int64?
  }

  /// A peer is reached again, or over another link.
  struct Resumed: Hashable, Sendable {
    var peer: String
    var name: String
    var transport: String
    /// As of `Suspended`.
    var suppressed: Int64?
  }

  /// imagerecv has turned a sender away.
  struct Declined: Hashable, Sendable {
    var peer: String
    var name: String
    var reason: String
    /// A sentence for people, where the key was refused.
    var message: String?
    /// Others that were turned away since the last that was told, if there were any.
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
    /// A file that may be the same is read, on either side: `done` is how much of it.
    var isComparing = false
    /// Bytes a second, once it can be estimated.
    var rate: Int64?
    /// Whole seconds left, once they can be estimated.
    var remaining: Int64?
  }

  /// Verified, synchronised to disk and under its final name.
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
  }

  /// The receiver has this very content already, as both sides' digests show; nothing was stored.
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
    /// nil where the failure concerns no single file.
    var file: String?
    /// A word for programs.
    var reason: String
    /// A sentence for people.
    var message: String
    var exitCode: ExitCode
    /// Others of this sender or its address that were not told since the last that was.
    var suppressed: Int64?
  }

  /// Something is not as it should be, and the run goes on.
  struct Warning: Hashable, Sendable {
    /// A word for programs.
    var reason: String
    /// A sentence for people.
    var message: String
    /// The file that it is about, if it is about one.
    var path: String?
    /// Counted from 1.
    var line: Int64?
  }

  /// The last event.
  struct Finished: Hashable, Sendable {
    var stored: Int64
    /// That were there already.
    var present: Int64 = 0
    var skipped: Int64
    var failed: Int64
    /// Of the stored files.
    var bytes: Int64
    var exitCode: ExitCode
  }

  case listening(Listening)
  case identity(Identity)
  case found(Found)
  /// `piconet scan`: what was found is there otherwise.
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
