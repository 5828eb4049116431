import Glibc
import PiconetTerminal
import Synchronization

/// All output of a tool: events or lines on standard output; notes, problems and the progress bar on standard error;
/// and its exit code. Any thread may use it; calls are serialized, so lines never mix.
final class Console: Sendable {
  fileprivate struct State {
    var output: StandardStream
    var error: StandardStream
    var status: StatusLines
    /// The line that waits for an answer, and the text before it.
    var prompt: String?
    var question: [String] = []
    /// The columns of the prompt and of the terminal when it was shown last; nil: a person has ended its line.
    var promptShown: (width: Int, columns: Int)?
    /// Whether the last lines above it are those of the question.
    var isQuestionAbove = false
    static let questionLimit = 16
    var codes: Set<ExitCode> = []
    var finished = ProgramEvent.Finished(stored: 0, skipped: 0, failed: 0, bytes: 0, exitCode: .stored)
    var summary = TransferSummary()
  }

  let program: String
  /// The history of what has been received; nil: none is kept.
  let history: History?
  let isJSON: Bool
  let verbosity: Verbosity
  /// Whether the last event counts files.
  private let countsFiles: Bool
  /// Whether a progress bar is shown.
  let hasBar: Bool
  /// Whether each file has a line on standard output, however many there are: a program that reads them may rely on it.
  var listsFiles: Bool { listsFailures || !isTerminal }
  /// Whether each failure has a line on standard error.
  var listsFailures: Bool { !hasBar || verbosity.detail > 0 }
  /// Whether names may be shown in full Unicode.
  let unicode: Bool
  private let isTerminal: Bool
  private let state: Mutex<State>
  /// Tells which files are under way, once a board shows them.
  private let board = Guarded<(@Sendable () -> [String])?>(nil)

  /// The names of the files under way.
  var filesUnderWay: [String] { board.value?() ?? [] }

  /// - Parameter names: gives those of the files under way.
  func follow(files names: @escaping @Sendable () -> [String]) { board.change { $0 = names } }

  init(
    program: String, json: Bool, verbosity: Verbosity, countsFiles: Bool = true, history: History? = nil,
    output: StandardStream = .output, error: StandardStream = .error, traits: TerminalTraits? = nil
  ) {
    self.program = program
    self.history = history
    isJSON = json
    self.countsFiles = countsFiles
    isTerminal = isatty(output.descriptor) == 1
    self.verbosity = verbosity
    var traits = traits ?? TerminalTraits(descriptor: error.descriptor)
    unicode = traits.unicode || isatty(error.descriptor) == 0
    if json || verbosity.isQuiet { traits.canRedraw = false }
    hasBar = traits.canRedraw
    state = Mutex(State(output: output, error: error, status: StatusLines(output: error, traits: traits)))
  }

  /// Text of others, made safe to show.
  func safe(_ text: String) -> String { displaySafe(text, unicode: unicode) }

  // MARK: Saying

  /// Writes an event, only with `--json`; it is counted in any case, even if it is not written.
  func tell(_ event: ProgramEvent, isWritten: Bool = true, at now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      state.summary.record(event, at: now)
      switch event {
      case .stored(let stored):
        state.finished.stored += 1
        state.finished.bytes.add(bytes: stored.bytes)
        state.finished.transferred.add(bytes: stored.transferred ?? stored.bytes)
      case .present(let present):
        state.finished.present += 1
        state.finished.transferred.add(bytes: present.transferred)
      case .skipped:
        state.finished.skipped += 1
        // A photo did not arrive, although nothing is wrong.
        state.codes.insert(.localFile)
      case .failed(let failed):
        state.finished.failed += 1
        state.finished.transferred.add(bytes: failed.transferred)
        state.codes.insert(failed.exitCode)
      case .listening, .identity, .found, .changed, .lost, .connecting, .code, .codeSet, .codeFailed, .connected,
        .suspended, .resumed, .declined, .offered, .progress, .warning, .finished:
        break
      }
      if isJSON, isWritten { state.write(EventLine.text(event)) }
    }
    if let failure = history?.record(event) { problem("warning: \(safe(failure))") }
  }

  /// A sentence on standard output, as `result`, which a terminal does not break within a word.
  func result(sentence: String) {
    guard isTerminal else { return result(sentence) }
    let columns = state.withLock { TerminalSize.of(descriptor: $0.output.descriptor).columns }
    result(wrapped(sentence, toColumns: columns).joined(separator: "\n"))
  }

  /// A line of results on standard output, for terminals and pipes; not with `--json` or `-q`.
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
    if isQuestion { return question([line]) }
    if verbosity.isQuiet || verbosity.detail < detail { return }
    state.withLock { $0.say(line) }
  }

  /// What a person reads before they answer: at once, and so that a narrow terminal breaks no line within a word.
  /// - Parameter pictures: lines that show what files look like, written as they are between the words and the rest.
  func question(_ words: [String], pictures: [String] = [], _ rest: [String] = []) {
    state.withLock { state in
      state.say(lines: state.wrapped(words) + pictures + state.wrapped(rest))
      state.question = (state.question + words + rest).suffix(State.questionLimit)
      state.isQuestionAbove = true
    }
  }

  /// Shows a line that waits for an answer, at the foot of the terminal; nil once it is answered.
  func setPrompt(_ prompt: String?) {
    state.withLock { state in
      state.status.clear()
      // A question that was withdrawn is still on this line; after an answer the line is empty.
      if state.prompt != nil { state.erasePrompt() }
      if let prompt { state.show(prompt) }
      state.prompt = prompt
      if prompt == nil { state.question = [] }
    }
  }

  /// A person has ended the line of the prompt, which stays.
  func promptWasEnded() {
    state.withLock { state in
      state.promptShown = nil
      state.isQuestionAbove = false
    }
  }

  /// Shows a line that waits for an answer until one is typed, or none is needed any more. Blocks its thread.
  /// - Parameter read: returns the answer in a line; nil if the line is not an answer.
  func answer<Answer>(
    to prompt: String, from lines: TerminalLines, _ read: (String) -> Answer?
  ) -> TerminalLines.Outcome<Answer> {
    setPrompt(prompt)
    defer { setPrompt(nil) }
    return lines.first { line in
      promptWasEnded()
      if let answer = read(line) { return answer }
      setPrompt(prompt)
      return nil
    }
  }

  /// Shows the line that waits for an answer again, below the shell's output, since the process was stopped and goes
  /// on.
  func goesOn() {
    state.withLock { state in
      guard state.prompt != nil else { return }
      state.error.write("\r\u{1B}[K")
      state.showQuestion()
    }
  }

  /// Calls a person to a terminal that asks a question: by its bell.
  func ring() {
    if isatty(state.withLock({ $0.error.descriptor })) == 1 { state.withLock { $0.error.write("\u{07}") } }
  }

  /// Reports a problem: a line on standard error, always.
  func problem(_ line: String) { state.withLock { $0.say("\(program): \(line)") } }

  /// Writes a line of a peer's words: to a terminal made safe, to a pipe unchanged.
  func write(peersLine line: String) { write((isTerminal ? safe(line) : line) + "\n") }

  /// Writes the path of a stored file: to a pipe unchanged, so that the reader can open it.
  func result(path: String) { result(isTerminal ? safe(path) : path) }

  /// Writes the path of a file with a remark: a terminal shows both in one line, a pipe gets the path alone.
  /// - Parameter note: goes to standard error where the remark is not shown.
  func result(path: String, remark: String, note: String) {
    if isTerminal, !isJSON { return result("\(safe(path)): \(remark)") }
    result(path: path)
    self.note(note)
  }

  /// Reports a failure of the whole run, or of a part of it other than a single file.
  func fail(_ word: String, _ message: String, _ code: ExitCode, peer: String? = nil, event: Bool = true) {
    state.withLock { _ = $0.codes.insert(code) }
    if event {
      tell(.failed(ProgramEvent.Failed(peer: peer, file: nil, reason: word, message: message, exitCode: code)))
    }
    problem(message)
  }

  /// Whether the machine has the Bluetooth that the options ask for; if not, says so.
  func accepts(
    _ options: TransportOptions, address: DialPlace? = nil, on here: @autoclosure () -> BluetoothHere = .current
  ) -> Bool {
    guard options.asksForBluetooth(address), let refusal = here().refusal(of: options, address: address) else {
      return true
    }
    fail(refusal.word, refusal.message, .usage)
    return false
  }

  /// A person has ended the run before everything was done, and knows it.
  func interrupted() { state.withLock { _ = $0.codes.insert(.interrupted) } }

  /// An interruption came before so many files had begun: they have no events.
  /// - Parameter isWhole: whether there are no more of them than these.
  func untried(_ count: Int, isWhole: Bool) {
    guard count > 0 || !isWhole else { return }
    state.withLock { state in
      state.codes.insert(.interrupted)
      state.summary.leaveUntried(count, isWhole: isWhole)
      state.finished.untried = (state.finished.untried ?? 0) + Int64(count)
    }
  }

  // MARK: The progress bar

  func draw(_ bars: [ProgressBar], at now: ContinuousClock.Instant) {
    state.withLock { if $0.prompt == nil { $0.status.draw(bars, at: now) } }
  }

  func clearBars() { state.withLock { $0.status.clear() } }

  // MARK: The end

  /// Writes the last event and returns the exit code.
  func finish() -> ExitCode {
    state.withLock { state in
      state.status.clear()
      state.finished.exitCode = .worst(state.codes)
      if isJSON, countsFiles { state.write(EventLine.text(.finished(state.finished))) }
      if case .system(let code) = state.output.failure {
        state.say("\(program): standard output: \(ErrorNumber.text(code))")
      }
      return state.output.exitCode(after: state.finished.exitCode)
    }
  }

  /// These files in directories were left out.
  func leftOut(_ files: LeftOutFiles) {
    state.withLock { state in
      state.summary.leftOut = files
      state.finished.leftOut = files.count > 0 ? Int64(files.count) : nil
      state.finished.leftOutHidden = files.hidden > 0 ? Int64(files.hidden) : nil
    }
  }

  /// Says what became of the files, if there were several, and what was left out.
  func tellSum() { for line in state.withLock({ $0.summary }).lines(safe: safe) { note(line) } }

  /// Whether nothing has failed so far.
  var isClean: Bool { state.withLock { $0.codes.isEmpty } }

  /// What has been counted so far.
  var counts: ProgramEvent.Finished { state.withLock { $0.finished } }
}

extension Console.State {
  fileprivate mutating func write(_ text: String) {
    above { $0.output.write(text) }
  }

  /// A line for a person: no terminal breaks it within a word.
  fileprivate mutating func say(_ line: String) { say(lines: wrapped([line])) }

  fileprivate mutating func say(lines: [String]) {
    above { $0.error.write(lines.joined(separator: "\n") + "\n") }
  }

  /// Texts of one or more lines, broken at spaces where standard error is a terminal.
  fileprivate func wrapped(_ texts: [String]) -> [String] {
    let lines = texts.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: false) }
    guard isatty(error.descriptor) == 1 else { return lines.map(String.init) }
    let columns = TerminalSize.of(descriptor: error.descriptor).columns
    return lines.flatMap { PiconetTerminal.wrapped(String($0), toColumns: columns) }
  }

  /// Shows the prompt cut to the terminal, whose width may be different each time.
  fileprivate mutating func show(_ prompt: String) {
    let columns = TerminalSize.of(descriptor: error.descriptor).columns
    let line = questionLine(prompt, columns: columns)
    error.write("\r" + line)
    promptShown = (displayWidth(line), columns)
  }

  /// Shows the prompt, and before it what was said.
  fileprivate mutating func showQuestion() {
    error.write(wrapped(question).map { $0 + "\n" }.joined())
    isQuestionAbove = true
    if let prompt { show(prompt) }
  }

  /// Removes the prompt. Most terminals have wrapped its line if their window has got narrower, others have cut it, and
  /// the two can't be told apart. So its first rows are removed only if no lines but those of the question can go with
  /// them; otherwise it stays.
  /// - Returns: whether lines of the question may have gone.
  @discardableResult
  fileprivate mutating func erasePrompt() -> Bool {
    let columns = TerminalSize.of(descriptor: error.descriptor).columns
    let shown = promptShown ?? (0, 0)
    promptShown = nil
    let rowsAbove = columns < shown.columns ? shown.width / columns : 0
    guard rowsAbove > 0, rowsAbove <= question.count, isQuestionAbove else {
      error.write(rowsAbove > 0 ? "\n" : "\r\u{1B}[K")
      return false
    }
    error.write("\r\u{1B}[\(rowsAbove)A\u{1B}[J")
    return true
  }

  /// Removes the foot of the terminal for `body`, and puts the question back afterwards.
  private mutating func above(_ body: (inout Self) -> Void) {
    status.clear()
    let wasWrapped = prompt != nil && erasePrompt()
    body(&self)
    isQuestionAbove = false
    if wasWrapped { showQuestion() } else if let prompt { show(prompt) }
  }
}
