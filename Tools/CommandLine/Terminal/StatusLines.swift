import PiconetTerminal

/// Lines at the foot of the terminal that are redrawn again and again, for progress. Nothing is drawn in a pipe, in a
/// file and on a dumb terminal.
struct StatusLines {
  private var output: StandardStream
  private let traits: TerminalTraits
  private var throttle = ProgressThrottle()
  private var isShown = false

  /// - Parameters:
  ///   - output: standard error, except in tests.
  ///   - traits: nil: those of the terminal behind `output`.
  init(output: StandardStream = .error, traits: TerminalTraits? = nil) {
    self.output = output
    self.traits = traits ?? TerminalTraits(descriptor: output.descriptor)
  }

  /// Draws `bars`, at most 10 times a second unless `isFinal`.
  mutating func draw(_ bars: [ProgressBar], at now: ContinuousClock.Instant, isFinal: Bool = false) {
    guard traits.canRedraw, throttle.admits(at: now) || isFinal else { return }
    let size = TerminalSize.of(descriptor: output.descriptor)
    let lines = ProgressBar.lines(of: bars, size: size, unicode: traits.unicode)
    guard !lines.isEmpty else { return }
    // Old text is overwritten and its rest erased, rather than erased first, which would flicker. The cursor waits at
    // the beginning of the first line. It stays there when the window gets narrower and the terminal wraps what was
    // drawn, so the next drawing, or `clear`, finds all of it below.
    let back = lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""
    // Terminals differ in how wide they draw some emoji. With DECAWM off such a name is cut off and not wrapped.
    output.write(
      "\u{1B}[?7l\r" + lines.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[J\r" + back + "\u{1B}[?7h")
    isShown = true
  }

  /// Removes the lines; call it before anything else is written to the terminal.
  mutating func clear() {
    guard isShown else { return }
    output.write("\r\u{1B}[J")
    isShown = false
  }

  /// Writes a line of text that stays, above the status lines.
  mutating func say(_ text: String) {
    clear()
    output.write(text + "\n")
  }

  /// Whether names may be shown in full Unicode.
  var unicode: Bool { traits.unicode }
}
