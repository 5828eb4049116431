/// What became of files, and why, folded from the events. Pure, and of limited size.
struct TransferSummary: Sendable {
  struct Counts: Hashable, Sendable {
    var stored = 0
    /// Files that were there already.
    var present = 0
    var skipped = 0
    /// Offers that the person here did not want.
    var notChosen = 0
    var failed = 0
    /// Those of the failed files that no receiver was offered, and that none counts.
    var notOffered = 0
    /// The bytes of the stored files.
    var bytes: Int64 = 0
    /// Bytes that have crossed the link in this run, whatever became of their files.
    var transferred: Int64 = 0

    /// `; 3.0 GB`, with what crossed the link where that is something else; empty if nothing was stored and nothing
    /// crossed.
    var amounts: String {
      let crossed = "\(HumanFigures.bytes(transferred)) transferred"
      guard stored > 0 else { return transferred > 0 ? "; \(crossed)" : "" }
      return "; \(HumanFigures.bytes(bytes))" + (transferred == bytes ? "" : " (\(crossed))")
    }

    var files: Int { stored + present + skipped + notChosen + failed }

    /// `998 stored, 2 failed`.
    var text: String {
      [
        (stored, "stored"), (present, "already there"), (skipped, "skipped"), (notChosen, "not chosen"),
        (failed, "failed\(remark)"),
      ]
      .filter { $0.0 > 0 }.map { "\(HumanFigures.count($0.0)) \($0.1)" }.joined(separator: ", ")
    }

    /// Why a receiver's sum has fewer failures; empty if it has as many, or has no sum since nothing was offered.
    private var remark: String {
      guard notOffered > 0, notOffered < files else { return "" }
      return notOffered == failed ? " (not offered)" : " (\(HumanFigures.count(notOffered)) not offered)"
    }
  }

  /// Why files did not arrive, each reason with the first such files.
  private struct Reason: Sendable {
    let message: String
    var count = 0
    var files: [String] = []
  }

  /// A receiver that the run looks for itself.
  private struct Receiver: Sendable {
    /// nil until it has proven its key.
    var fingerprint: String?
    var name: String
    var counts = Counts()
  }

  /// How many reasons are given, and how many files are named with each.
  static let reasonLimit = 5
  static let fileLimit = 3
  private static let skippedReason = "another file has the name there"

  private(set) var counts = Counts()
  /// Files in directories that were left out.
  var leftOut = LeftOutFiles()
  /// Files that had not begun when the run was interrupted.
  private var untried = 0
  private var isUntriedWhole = true
  /// Files that were sent without their location, by their paths' hashes, and what of it they had.
  private var cleaned: Set<Int> = []
  private var takenOut: Set<LocationKind> = []
  private var receivers: [Receiver] = []
  private var reasons: [Reason] = []
  private var unnamedFailures = 0
  private var began: ContinuousClock.Instant?
  private var ended: ContinuousClock.Instant?

  mutating func record(_ event: ProgramEvent, at now: ContinuousClock.Instant) {
    switch event {
    case .connecting(let connecting):
      receivers.append(Receiver(fingerprint: connecting.peer, name: connecting.name ?? connecting.address ?? ""))
    case .connected(let connected): meet(connected)
    case .offered: began = began ?? now
    case .stored(let stored):
      add(to: stored.peer, at: now) {
        $0.stored += 1
        $0.bytes.add(bytes: stored.bytes)
        $0.transferred.add(bytes: stored.transferred ?? stored.bytes)
      }
      took(stored.takenOut, outOf: stored.file)
    case .present(let present):
      add(to: present.peer, at: now) {
        $0.present += 1
        $0.transferred.add(bytes: present.transferred)
      }
      took(present.takenOut, outOf: present.file)
    case .skipped(let skipped):
      add(to: skipped.peer, at: now) { $0.skipped += 1 }
      explain(Self.skippedReason, skipped.file)
    // A choice needs no reason.
    case .failed(let failed) where failed.reason == Consents.Refusal.notChosen.rawValue:
      add(to: failed.peer, at: now) { $0.notChosen += 1 }
    case .failed(let failed):
      add(to: failed.peer, at: now) {
        $0.failed += 1
        if !failed.wasOffered { $0.notOffered += 1 }
        $0.transferred.add(bytes: failed.transferred)
      }
      // What is free differs from one file to the next.
      let message = failed.reason == "disk-full" ? String(failed.message.prefix { $0 != ":" }) : failed.message
      explain(message, failed.file, by: failed.exitCode.isOfThisSide ? nil : failed.peer)
    case .listening, .identity, .found, .changed, .lost, .code, .codeSet, .codeFailed, .suspended, .resumed, .declined,
      .progress, .warning, .finished:
      break
    }
  }

  /// - Parameter isWhole: whether there are no more.
  mutating func leaveUntried(_ count: Int, isWhole: Bool) {
    untried += count
    isUntriedWhole = isUntriedWhole && isWhole
  }

  /// Once for each file, however many receivers it goes to.
  private mutating func took(_ kinds: Set<LocationKind>, outOf file: String) {
    guard !kinds.isEmpty else { return }
    cleaned.insert(file.hashValue)
    takenOut.formUnion(kinds)
  }

  /// A receiver that was only an address has a name from now on.
  private mutating func meet(_ connected: ProgramEvent.Connected) {
    guard
      let index = receivers.firstIndex(where: { $0.fingerprint == connected.peer })
        ?? receivers.firstIndex(where: { $0.fingerprint == nil })
    else { return }
    receivers[index].fingerprint = connected.peer
    receivers[index].name = connected.name
  }

  private mutating func add(to peer: String?, at now: ContinuousClock.Instant, _ change: (inout Counts) -> Void) {
    ended = now
    change(&counts)
    if let peer, let index = receivers.firstIndex(where: { $0.fingerprint == peer }) {
      change(&receivers[index].counts)
    }
  }

  /// - Parameter peer: the receiver whose reason it is, if there are several.
  private mutating func explain(_ message: String, _ file: String?, by peer: String? = nil) {
    let receiver = receivers.count > 1 ? receivers.first { $0.fingerprint == peer && peer != nil } : nil
    // What follows is a list, which has been shown.
    let message = (receiver.map { $0.name + ": " } ?? "") + message.prefix { $0 != "\n" }
    if !reasons.contains(where: { $0.message == message }) {
      guard reasons.count < Self.reasonLimit else { return unnamedFailures += 1 }
      reasons.append(Reason(message: message))
    }
    guard let index = reasons.firstIndex(where: { $0.message == message }) else { return }
    reasons[index].count += 1
    if let file, reasons[index].files.count < Self.fileLimit { reasons[index].files.append(file) }
  }

  // MARK: In words

  /// In words.
  /// - Parameter safe: makes others' names and words safe to show.
  func lines(safe: (String) -> String) -> [String] {
    var lines: [String] = []
    if receivers.count > 1 {
      for receiver in receivers where receiver.counts.files > 0 {
        lines.append("\(safe(receiver.name)): \(receiver.counts.text)\(receiver.counts.amounts)")
      }
    }
    if counts.files > 1 { lines.append(counts.text + figures) }
    if !cleaned.isEmpty {
      lines.append("location taken out of \(HumanFigures.files(cleaned.count)) (\(LocationKind.text(takenOut)))")
    }
    lines += leftOut.lines
    if untried > 0 || !isUntriedWhole {
      let least = isUntriedWhole ? "" : "at least "
      lines.append("interrupted: \(least)\(HumanFigures.files(untried)) not begun")
    }
    // If there are few, their lines are just above.
    return counts.files > CommandLineLimits.fewFiles ? lines + reasonLines(safe) : lines
  }

  /// `; 3.0 GB in 2:10, 23 MB/s`: the rate is that of what crossed the link.
  private var figures: String {
    let amounts = counts.amounts
    guard !amounts.isEmpty, let began, let ended, ended > began else { return amounts }
    let elapsed = ended - began
    // Less than a second is counted as one.
    let rate = Int64(min(Double(counts.transferred) / max(1, elapsed / .seconds(1)), 9e18))
    let figures = elapsed < .seconds(1) ? "" : ", \(HumanFigures.bytes(rate))/s"
    return "\(amounts) in \(HumanFigures.elapsed(elapsed))\(figures)"
  }

  private func reasonLines(_ safe: (String) -> String) -> [String] {
    var lines = reasons.sorted { $0.count > $1.count }.map { reason in
      let files = reason.files.map(safe).joined(separator: ", ")
      let rest = reason.count - reason.files.count
      let more = rest > 0 && !files.isEmpty ? " and \(HumanFigures.count(rest)) more" : ""
      return "  \(HumanFigures.count(reason.count)): \(safe(reason.message))"
        + (files.isEmpty ? "" : " (\(files)\(more))")
    }
    if unnamedFailures > 0 { lines.append("  \(HumanFigures.count(unnamedFailures)): for other reasons") }
    return lines
  }
}
