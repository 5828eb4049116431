import CPiconetSystem
import Glibc

/// Shows the peer list on a terminal and lets a person pick. Meanwhile the terminal is in raw mode, and its previous
/// state is restored in every case: on return, on exit(3) and on a signal that ends the process.
///
/// The list uses the terminal's alternate screen, if there is one: when a terminal gets narrower it wraps the lines of
/// the main screen in its own way, and there would be no telling where the list is.
package struct PeerPickerTerminal {
  package enum Outcome: Hashable, Sendable {
    case picked(ids: [String])
    case finished
    case quit
    /// Ctrl-C: the caller should end as SIGINT would end it.
    case interrupted
    /// `PeerListUpdates.Update.cancelled` was posted.
    case cancelled
    /// The terminal was closed without an answer.
    case hungUp
    /// The terminal failed, with this errno.
    case failed(Int32)
  }

  /// How long to wait for an Escape to become an arrow key.
  private static let escapeWait = Duration.milliseconds(50)
  /// How often the window's size is checked while nothing happens.
  private static let idleWait = Duration.milliseconds(500)

  /// For this long after a question has come up, keys count as typed before it: no one reads faster.
  package static let usualReadingTime = Duration.milliseconds(500)

  /// In milliseconds.
  private static let stopWait: Int32 = 50

  private let input: Int32
  private var output: StandardStream
  private let updates: PeerListUpdates
  private let traits: TerminalTraits
  private var picker: PeerPicker
  private var keys = PickerKeyDecoder()
  private var linesShown = 0
  private var isStale = true
  private var isSuspended = false
  private var sizeShown: TerminalSize?
  private var throttle = ProgressThrottle()
  /// The question on the screen, and the time since when it is shown.
  private var asked: (id: String, since: ContinuousClock.Instant)?
  private let tell: (PeerPicker.Action) -> Void
  private let readingTime: Duration

  package init(
    updates: PeerListUpdates, picker: PeerPicker = PeerPicker(), input: Int32 = STDIN_FILENO,
    output: StandardStream = .error, traits: TerminalTraits? = nil,
    readingTime: Duration = usualReadingTime, tell: @escaping (PeerPicker.Action) -> Void = { _ in }
  ) {
    self.readingTime = readingTime
    self.tell = tell
    self.picker = picker
    self.updates = updates
    self.input = input
    self.output = output
    self.traits = traits ?? TerminalTraits(descriptor: output.descriptor)
  }

  /// Whether a person can be asked: input and output are a terminal that can redraw.
  package static var isPossible: Bool {
    isatty(STDIN_FILENO) == 1 && TerminalTraits(descriptor: STDERR_FILENO).canRedraw
  }

  /// Blocks the calling thread until there is an outcome; call it on a separate thread (`onItsOwnThread`).
  package mutating func run() -> Outcome {
    guard begin() else { return failure(errno) }
    defer { end() }
    while true {
      let wait = drawIfDue()
      var entries = [
        pollfd(fd: input, events: Int16(POLLIN), revents: 0),
        pollfd(fd: updates.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let timeout = keys.isWaiting ? min(wait, Self.escapeWait) : wait
      let ready = poll(&entries, nfds_t(entries.count), Int32(timeout / .milliseconds(1)) + 1)
      if ready < 0 {
        if errno == EINTR { continue }
        return failure(errno)
      }
      if ready == 0, keys.isWaiting { press(keys.flush()) }
      if entries[0].revents != 0, let failure = readKeys() { return failure }
      if entries[1].revents != 0 {
        if apply(updates.drain()) { return .cancelled }
        isStale = true
      }
      for action in picker.takeActions() { tell(action) }
      if isSuspended, !suspend() { return failure(errno) }
      switch picker.outcome {
      case .picked(let ids): return .picked(ids: ids)
      case .finished: return .finished
      case .quit: return .quit
      case .interrupted: return .interrupted
      case nil: break
      }
    }
  }

  private func failure(_ number: Int32) -> Outcome { isHungUp(input) ? .hungUp : .failed(number) }

  private func begin() -> Bool {
    piconet_terminal_raw(input, output.descriptor, traits.hasOtherScreen ? 1 : 0) == 0
  }

  private mutating func end() {
    erase()
    piconet_terminal_restore()
  }

  /// Stops the process as Ctrl-Z does elsewhere, and shows the list again when it continues. If no process could
  /// continue it, the system ignores the signal.
  private mutating func suspend() -> Bool {
    isSuspended = false
    end()
    // As the terminal would do it: all processes of a pipeline or a script stop.
    kill(0, SIGTSTP)
    // Another thread may see the signal first; nothing must be drawn before that.
    _ = poll(nil, 0, Self.stopWait)
    isStale = true
    sizeShown = nil
    return begin()
  }

  /// Returns true if the person no longer needs to be asked.
  private mutating func apply(_ updates: [PeerListUpdates.Update]) -> Bool {
    for update in updates {
      switch update {
      case .appeared(let peer): picker.appeared(peer)
      case .vanished(let id): picker.vanished(id: id)
      case .asked(let question): picker.ask(question)
      case .withdrawn(let question): picker.withdraw(question: question)
      case .remark(let remark): picker.remark = remark
      case .completion(let isComplete): picker.isComplete = isComplete
      case .cancelled: return true
      }
    }
    return false
  }

  /// A key shows its effect at once.
  private mutating func press(_ keys: [PickerKey]) {
    guard !keys.isEmpty else { return }
    for key in keys where isMeant(key, at: .now) { picker.press(key) }
    isSuspended = keys.contains(.suspend)
    throttle = ProgressThrottle()
    isStale = true
  }

  /// Returns whether the person can have read the question before pressing the key.
  private func isMeant(_ key: PickerKey, at now: ContinuousClock.Instant) -> Bool {
    guard let question = picker.questions.first, key != .interrupt, key != .suspend else { return true }
    guard let asked, asked.id == question.id else { return false }
    return now - asked.since >= readingTime
  }

  private mutating func readKeys() -> Outcome? {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(input, &buffer, buffer.count)
    if count > 0 {
      press(keys.decode(buffer.prefix(count)))
    } else if count == 0 || errno != EINTR && errno != EAGAIN {
      return failure(errno)
    }
    return nil
  }

  /// Draws changes, but no more than 10 times a second: peers may come in floods. Returns how long to wait at most
  /// before the next look.
  private mutating func drawIfDue() -> Duration {
    let size = TerminalSize.of(descriptor: output.descriptor)
    guard isStale || size != sizeShown else { return Self.idleWait }
    guard throttle.admits(at: .now) else { return throttle.interval }
    isStale = false
    // After a change of size the old lines may be anywhere.
    let start = traits.hasOtherScreen ? (size == sizeShown ? "\u{1B}[H" : "\u{1B}[H\u{1B}[2J") : nil
    sizeShown = size
    draw(size, at: start)
    return Self.idleWait
  }

  /// - Parameter start: the sequence that moves to the first line; nil: to its former place.
  private mutating func draw(_ size: TerminalSize, at start: String?) {
    let lines = picker.lines(size: size, unicode: traits.unicode)
    var text = start ?? (linesShown > 0 ? "\u{1B}[\(linesShown)A\r" : "\r")
    // Each line is erased after its text, and what was below is erased at the end, so that nothing flickers.
    for line in lines { text += line + "\u{1B}[K\n" }
    output.write(text + "\u{1B}[J")
    linesShown = lines.count
    let question = picker.questions.first?.id
    if question != asked?.id { asked = question.map { ($0, .now) } }
  }

  private mutating func erase() {
    if linesShown > 0 { output.write("\u{1B}[\(linesShown)A\r\u{1B}[J") }
    linesShown = 0
  }
}
