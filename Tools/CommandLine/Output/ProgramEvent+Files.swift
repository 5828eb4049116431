/// Of files, and of how it went.
extension ProgramEvent {
  /// imagesend: the file was offered. imagerecv: the peer offers it.
  struct Offered: EventMembers {
    var peer: String
    var file: String
    var bytes: Int64
    var mediaType: String?

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("file", file)
      object.add("bytes", bytes)
      object.add("mediaType", ifKnown: mediaType)
    }
  }

  struct Progress: EventMembers {
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

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("file", file)
      object.add("done", done)
      object.add("total", total)
      if isComparing { object.add("phase", "comparing") }
      object.add("rate", ifKnown: rate)
      object.add("remaining", ifKnown: remaining)
    }
  }

  /// Verified, synchronized to disk and under its final name.
  struct Stored: EventMembers {
    var peer: String
    var file: String
    /// imagesend: what was sent. imagerecv: what was written.
    var path: String
    var bytes: Int64
    /// 64 hexadecimal digits.
    var sha256: String
    /// Bytes that an interrupted transfer had stored before; nil if there were none.
    var resumedFrom: Int64?
    /// Bytes that have crossed the link in this run; nil: as many as it has.
    var transferred: Int64?
    /// imagerecv: see `Failed`.
    var suppressed: Int64?
    /// imagesend: the location data that was removed from the file.
    var takenOut: Set<LocationKind> = []

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("file", file)
      object.add("path", path)
      object.add("bytes", bytes)
      object.add("sha256", sha256)
      object.add("resumedFrom", ifKnown: resumedFrom)
      if transferred != bytes { object.add("transferred", ifKnown: transferred) }
      object.add("suppressed", ifKnown: suppressed)
      if !takenOut.isEmpty { object.add("takenOut", LocationKind.words(takenOut)) }
    }
  }

  /// The receiver already has this very content, as both sides' digests show; nothing was stored.
  struct Present: EventMembers {
    var peer: String
    var file: String
    /// imagesend: what was offered. imagerecv: where it is.
    var path: String
    var bytes: Int64
    /// 64 hexadecimal digits.
    var sha256: String
    /// Bytes that have still crossed the link in this run.
    var transferred: Int64 = 0
    /// imagerecv: see `Failed`.
    var suppressed: Int64?
    /// imagesend: see `Stored`.
    var takenOut: Set<LocationKind> = []

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("file", file)
      object.add("path", path)
      object.add("bytes", bytes)
      object.add("sha256", sha256)
      if transferred > 0 { object.add("transferred", transferred) }
      object.add("suppressed", ifKnown: suppressed)
      if !takenOut.isEmpty { object.add("takenOut", LocationKind.words(takenOut)) }
    }
  }

  /// Not transferred, by a rule that a person chose: another file has the name.
  struct Skipped: EventMembers {
    var peer: String?
    var file: String
    var reason: String
    /// imagerecv: see `Failed`.
    var suppressed: Int64?

    func add(to object: inout JSONObject) {
      object.add("peer", ifKnown: peer)
      object.add("file", file)
      object.add("reason", reason)
      object.add("suppressed", ifKnown: suppressed)
    }
  }

  struct Failed: EventMembers {
    var peer: String?
    /// nil if the failure does not concern a single file.
    var file: String?
    /// A word for programs.
    var reason: String
    /// A sentence to show.
    var message: String
    var exitCode: ExitCode
    /// Bytes of it that have crossed the link in this run.
    var transferred: Int64 = 0
    /// How many others from this sender or its address went unreported since the last report.
    var suppressed: Int64?
    /// imagesend: whether a receiver was offered the file, and so counts it as well. Not written.
    var wasOffered = true

    func add(to object: inout JSONObject) {
      object.add("peer", ifKnown: peer)
      object.add("file", ifKnown: file)
      object.add("reason", reason)
      object.add("message", message)
      object.add("exitCode", Int64(exitCode.rawValue))
      if transferred > 0 { object.add("transferred", transferred) }
      object.add("suppressed", ifKnown: suppressed)
    }
  }

  /// Something is not as it should be, and the run goes on.
  struct Warning: EventMembers {
    /// A word for programs.
    var reason: String
    /// A sentence to show.
    var message: String
    /// The file that it is about, if any.
    var path: String?
    /// Counted from 1.
    var line: Int64?

    func add(to object: inout JSONObject) {
      object.add("reason", reason)
      object.add("message", message)
      object.add("path", ifKnown: path)
      object.add("line", ifKnown: line)
    }
  }

  /// The last event.
  struct Finished: EventMembers {
    var stored: Int64
    /// Files that were there already.
    var present: Int64 = 0
    var skipped: Int64
    var failed: Int64
    /// The bytes of the stored files.
    var bytes: Int64
    /// Bytes of all files that have crossed the link in this run.
    var transferred: Int64 = 0
    /// imagesend: how many files in directories are not images, if any.
    var leftOut: Int64?
    /// imagesend: how many files in directories are hidden and would be sent otherwise, if any.
    var leftOutHidden: Int64?
    /// imagesend: how many of the files counted so far had not begun when it was interrupted, if it was.
    var untried: Int64?
    var exitCode: ExitCode

    func add(to object: inout JSONObject) {
      object.add("stored", stored)
      object.add("present", present)
      object.add("skipped", skipped)
      object.add("failed", failed)
      object.add("bytes", bytes)
      object.add("transferred", transferred)
      object.add("leftOut", ifKnown: leftOut)
      object.add("leftOutHidden", ifKnown: leftOutHidden)
      object.add("untried", ifKnown: untried)
      object.add("exitCode", Int64(exitCode.rawValue))
    }
  }
}
