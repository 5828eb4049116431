/// What `--json` reports, one object per line on standard output. The schema, with an example of each, is in EVENTS.md.
///
/// `peer` is always the fingerprint of the peer's key in 64 hexadecimal digits. In `found` and `connecting` it is what
/// the peer claims; from `connected` on TLS has proven it.
enum ProgramEvent: Hashable, Sendable {
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

  /// Its name, and what it says.
  var report: (name: String, members: any EventMembers) {
    switch self {
    case .listening(let listening): ("listening", listening)
    case .identity(let identity): ("identity", identity)
    case .found(let found): ("found", found)
    case .changed(let found): ("changed", found)
    case .lost(let lost): ("lost", lost)
    case .connecting(let connecting): ("connecting", connecting)
    case .code(let code): ("code", code)
    case .codeSet(let set): ("code-set", set)
    case .codeFailed(let failed): ("code-failed", failed)
    case .connected(let connected): ("connected", connected)
    case .suspended(let suspended): ("suspended", suspended)
    case .resumed(let resumed): ("resumed", resumed)
    case .declined(let declined): ("declined", declined)
    case .offered(let offered): ("offered", offered)
    case .progress(let progress): ("progress", progress)
    case .stored(let stored): ("stored", stored)
    case .present(let present): ("present", present)
    case .skipped(let skipped): ("skipped", skipped)
    case .failed(let failed): ("failed", failed)
    case .warning(let warning): ("warning", warning)
    case .finished(let finished): ("finished", finished)
    }
  }
}
