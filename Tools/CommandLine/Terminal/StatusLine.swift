/// A line at the foot of the terminal that is drawn over and over: the progress bar. In a pipe, in a file and on a dumb
/// terminal it stays silent.
struct StatusLine {
  private var output: StandardStream
  private let traits: TerminalTraits
  private var throttle = ProgressThrottle()
  private var isShown = false

  /// - Parameters:
  ///   - output: standard error, but for tests.
  ///   - traits: nil: those of the terminal behind `output`.
  init(output: StandardStream = .error, traits: TerminalTraits? = nil) {
    self.output = output
    self.traits = traits ?? TerminalTraits(descriptor: output.descriptor)
  }

  /// Draws `bar`, at most 10 times a second unless `isFinal`.
  mutating func draw(_ bar: ProgressBar, at now: ContinuousClock.Instant, isFinal: Bool = false) {
    guard traits.canRedraw, throttle.admits(at: now) || isFinal else { return }
    let columns = TerminalSize.of(descriptor: output.descriptor).columns
    // The line is overwritten and its rest erased, not erased first: that would flicker.
    output.write("\r" + bar.line(columns: columns, unicode: traits.unicode) + "\u{1B}[K")
    isShown = true
  }

  /// Takes the line away; to be called before anything else is written to the terminal.
  mutating func clear() {
    guard isShown else { return }
    output.write("\r\u{1B}[K")
    isShown = false
  }

  /// Writes a line of text that stays, above the status line.
  mutating func say(_ text: String) {
    clear()
    output.write(text + "\n")
  }

  /// Whether names may be shown in full Unicode.
  var unicode: Bool { traits.unicode }
}
