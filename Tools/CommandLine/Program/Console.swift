import Glibc
import Synchronization

/// What a tool says: events or lines on standard output, notes, problems and the progress bar on standard error, and
/// what it ends with. Any thread may use it; calls are one after the other, so lines never mix.
final class Console: Sendable {
  fileprivate struct State {
    var output: StandardStream
    var error: StandardStream
    var status: StatusLine
    /// What waits for an answer.
    var prompt: String?
    var codes: Set<ExitCode> = []
    var finished = Event.Finished(stored: 0, skipped: 0, failed: 0, bytes: 0, exitCode: .stored)
  }

  let program: String
  let isJSON: Bool
  let verbosity: Verbosity
  /// Whether the last event counts files.
  private let countsFiles: Bool
  /// Whether a progress bar is shown.
  let hasBar: Bool
  /// Whether names may be shown in full Unicode.
  let unicode: Bool
  private let isTerminal: Bool
  private let state: Mutex<State>

  init(
    program: String, json: Bool, verbosity: Verbosity, countsFiles: Bool = true, output: StandardStream = .output,
    error: StandardStream = .error
  ) {
    self.program = program
    isJSON = json
    self.countsFiles = countsFiles
    isTerminal = isatty(output.descriptor) == 1
    self.verbosity = verbosity
    var traits = TerminalTraits(descriptor: error.descriptor)
    unicode = traits.unicode || isatty(error.descriptor) == 0
    if json || verbosity.isQuiet { traits.canRedraw = false }
    hasBar = traits.canRedraw
    state = Mutex(State(output: output, error: error, status: StatusLine(output: error, traits: traits)))
  }

  /// A text of somebody else's, safe to be shown.
  func safe(_ text: String) -> String { displaySafe(text, unicode: unicode) }

  // MARK: Saying

  /// An event, with `--json` only; counted in any case, also where it is not to be written.
  func tell(_ event: Event, isWritten: Bool = true) {
    state.withLock { state in
      switch event {
      case .stored(let stored):
        state.finished.stored += 1
        state.finished.bytes += stored.bytes
      case .present: state.finished.present += 1
      case .skipped:
        state.finished.skipped += 1
        // Somebody's photo is not there, though nothing is wrong.
        state.codes.insert(.localFile)
      case .failed(let failed):
        state.finished.failed += 1
        state.codes.insert(failed.exitCode)
      default: break
      }
      if isJSON, isWritten { state.write(EventLine.text(event)) }
    }
  }

  /// A line of results on standard output, for people and pipes; not with `--json` or `-q`.
  func result(_ line: String, evenIfQuiet: Bool = false) {
    if isJSON || verbosity.isQuiet && !evenIfQuiet { return }
    state.withLock { $0.write(line + "\n") }
  }

  /// A line for programs on standard output, whole with its newline.
  func write(_ line: String) { state.withLock { $0.write(line) } }

  /// A line on standard error, unless `-q`.
  /// - Parameters:
  ///   - detail: how many `-v` it takes.
  ///   - isQuestion: part of a question, which is shown in any case.
  func note(_ line: String, detail: Int = 0, isQuestion: Bool = false) {
    if !isQuestion, verbosity.isQuiet || verbosity.detail < detail { return }
    state.withLock { $0.say(line) }
  }

  /// A line that waits for an answer, at the foot of the terminal; nil when it was answered.
  func setPrompt(_ prompt: String?) {
    state.withLock { state in
      state.status.clear()
      if let prompt {
        state.error.write("\r" + state.fitting(prompt))
      } else if state.prompt != nil {
        // A question that was taken back still stands there; after an answer this line is empty.
        state.error.write("\r\u{1B}[K")
      }
      state.prompt = prompt
    }
  }

  /// What went wrong: a line on standard error, always.
  func problem(_ line: String) { state.withLock { $0.say("\(program): \(line)") } }

  /// The path of a stored file: for a pipe as it is, so that the reader can open it.
  func result(path: String) { result(isTerminal ? safe(path) : path) }

  /// A failure of the whole run, or of a part of it that is no single file.
  func fail(_ word: String, _ message: String, _ code: ExitCode, peer: String? = nil, event: Bool = true) {
    state.withLock { _ = $0.codes.insert(code) }
    if event {
      tell(.failed(Event.Failed(peer: peer, file: nil, reason: word, message: message, exitCode: code)))
    }
    problem(message)
  }

  /// Whether the machine can do what the options ask of Bluetooth; if not, says so.
  func accepts(
    _ options: TransportOptions, address: DialPlace? = nil, on here: @autoclosure () -> BluetoothHere = .current
  ) -> Bool {
    guard options.asksForBluetooth(address), let refusal = here().refusal(of: options, address: address) else {
      return true
    }
    fail(refusal.word, refusal.message, .usage)
    return false
  }

  /// A person has ended the run before all was done, and knows that.
  func interrupted() { state.withLock { _ = $0.codes.insert(.interrupted) } }

  // MARK: The progress bar

  func draw(_ bar: ProgressBar, at now: ContinuousClock.Instant) {
    state.withLock { if $0.prompt == nil { $0.status.draw(bar, at: now) } }
  }

  func clearBar() { state.withLock { $0.status.clear() } }

  // MARK: The end

  /// Tells the last event and gives what to exit with.
  func finish() -> ExitCode {
    state.withLock { state in
      state.status.clear()
      state.finished.exitCode = .worst(state.codes)
      if isJSON, countsFiles { state.write(EventLine.text(.finished(state.finished))) }
      if case .system(let code) = state.output.failure {
        state.say("\(program): standard output: \(SystemError.text(code))")
      }
      return state.output.exitCode(after: state.finished.exitCode)
    }
  }

  /// What has become of the files, where there were several.
  func tellSum() {
    let sum = counts
    guard sum.stored + sum.present + sum.skipped + sum.failed > 1 else { return }
    let parts = [
      (sum.stored, "stored"), (sum.present, "already there"), (sum.skipped, "skipped"), (sum.failed, "failed"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    note(parts.joined(separator: ", "))
  }

  /// Whether nothing has failed so far.
  var isClean: Bool { state.withLock { $0.codes.isEmpty } }

  /// What was counted so far.
  var counts: Event.Finished { state.withLock { $0.finished } }
}

extension Console.State {
  fileprivate mutating func write(_ text: String) {
    above { $0.output.write(text) }
  }

  fileprivate mutating func say(_ line: String) {
    above { $0.error.write(line + "\n") }
  }

  /// The terminal may have another width each time.
  fileprivate func fitting(_ prompt: String) -> String {
    questionLine(prompt, columns: TerminalSize.of(descriptor: error.descriptor).columns)
  }

  /// Takes the foot of the terminal away, and puts the question back after it.
  private mutating func above(_ body: (inout Self) -> Void) {
    status.clear()
    if prompt != nil { error.write("\r\u{1B}[K") }
    body(&self)
    if let prompt { error.write(fitting(prompt)) }
  }
}
