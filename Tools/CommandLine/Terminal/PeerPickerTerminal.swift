import CPiconetSystem
import Glibc

/// Shows the peer list on a terminal and lets a person pick. The terminal is in raw mode meanwhile and gets its former
/// state back in every case: on return, on exit(3) and on a signal that ends the process.
struct PeerPickerTerminal {
  enum Outcome: Hashable, Sendable {
    case picked(id: String)
    case quit
    /// Ctrl-C: the caller should end as SIGINT would end it.
    case interrupted
    /// `PeerListUpdates.Update.cancelled` was posted.
    case cancelled
    /// The terminal failed, with this errno.
    case failed(Int32)
  }

  /// How long an Escape is waited on to become an arrow key.
  private static let escapeWait = Duration.milliseconds(50)
  /// How often the window's size is looked at while nothing happens.
  private static let idleWait = Duration.milliseconds(500)

  private let input: Int32
  private var output: StandardStream
  private let updates: PeerListUpdates
  private let traits: TerminalTraits
  private var picker = PeerPicker()
  private var keys = PickerKeyDecoder()
  private var linesShown = 0
  private var isStale = true
  private var sizeShown: TerminalSize?
  private var throttle = ProgressThrottle()

  init(
    updates: PeerListUpdates, input: Int32 = STDIN_FILENO, output: StandardStream = .error,
    traits: TerminalTraits? = nil
  ) {
    self.updates = updates
    self.input = input
    self.output = output
    self.traits = traits ?? TerminalTraits(descriptor: output.descriptor)
  }

  /// Whether a person can be asked: both ends are a terminal that redraws.
  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && TerminalTraits(descriptor: STDERR_FILENO).canRedraw }

  /// Blocks the calling thread until there is an outcome; call it on a thread of its own (`onItsOwnThread`).
  mutating func run() -> Outcome {
    guard piconet_terminal_raw(input, output.descriptor) == 0 else { return .failed(errno) }
    defer {
      erase()
      piconet_terminal_restore()
    }
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
        return .failed(errno)
      }
      if ready == 0, keys.isWaiting { press(keys.flush()) }
      if entries[0].revents != 0, let failure = readKeys() { return failure }
      if entries[1].revents != 0 {
        if apply(updates.drain()) { return .cancelled }
        isStale = true
      }
      switch picker.outcome {
      case .picked(let id): return .picked(id: id)
      case .quit: return .quit
      case .interrupted: return .interrupted
      case nil: break
      }
    }
  }

  /// True if the person need not be asked any more.
  private mutating func apply(_ updates: [PeerListUpdates.Update]) -> Bool {
    for update in updates {
      switch update {
      case .appeared(let peer): picker.appeared(peer)
      case .vanished(let id): picker.vanished(id: id)
      case .cancelled: return true
      }
    }
    return false
  }

  /// A key shows its effect at once.
  private mutating func press(_ keys: [PickerKey]) {
    guard !keys.isEmpty else { return }
    for key in keys { picker.press(key) }
    throttle = ProgressThrottle()
    isStale = true
  }

  private mutating func readKeys() -> Outcome? {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(input, &buffer, buffer.count)
    if count > 0 {
      press(keys.decode(buffer.prefix(count)))
    } else if count == 0 || errno == EIO {
      // The terminal was hung up.
      press([.quit])
    } else if errno != EINTR, errno != EAGAIN {
      return .failed(errno)
    }
    return nil
  }

  /// Draws what changed, though not more than 10 times a second: peers may come in floods. Returns how long to wait at
  /// most before the next look.
  private mutating func drawIfDue() -> Duration {
    let size = TerminalSize.of(descriptor: output.descriptor)
    guard isStale || size != sizeShown else { return Self.idleWait }
    guard throttle.admits(at: .now) else { return throttle.interval }
    isStale = false
    sizeShown = size
    draw(size)
    return Self.idleWait
  }

  private mutating func draw(_ size: TerminalSize) {
    let lines = picker.lines(size: size, unicode: traits.unicode)
    var text = linesShown > 0 ? "\u{1B}[\(linesShown)A\r" : "\r"
    // Each line is erased behind its text and what was below is erased at the end: no flicker.
    for line in lines { text += line + "\u{1B}[K\n" }
    output.write(text + "\u{1B}[J")
    linesShown = lines.count
  }

  private mutating func erase() {
    if linesShown > 0 { output.write("\u{1B}[\(linesShown)A\r\u{1B}[J") }
    linesShown = 0
  }
}
