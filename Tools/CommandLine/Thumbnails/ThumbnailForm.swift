import PiconetTerminal

/// What `imagerecv --thumbnails` may be.
enum ThumbnailChoice: String, OptionWord {
  case auto, kitty, sixel, symbols, off
}

/// How a terminal shows pictures.
enum ThumbnailForm: Hashable, Sendable {
  /// Kitty's graphics protocol.
  case kitty
  /// DEC's sixel graphics.
  case sixel
  /// Block characters in colours: of 24 bits, or of the 256 that xterm has.
  case symbols(isFull: Bool)

  /// nil: not at all.
  /// - Parameters:
  ///   - environment: a variable's value.
  ///   - hasSixel: asks the terminal, where nothing else tells.
  init?(
    _ choice: ThumbnailChoice, traits: TerminalTraits, environment: (String) -> String?, hasSixel: () -> Bool
  ) {
    func value(_ name: String) -> String { environment(name) ?? "" }
    let kind = value("TERM")
    guard choice != .off, traits.canRedraw else { return nil }
    let isFull = ["truecolor", "24bit"].contains(value("COLORTERM")) || kind.hasSuffix("-direct")
    switch choice {
    case .off: return nil
    case .kitty: self = .kitty
    case .sixel: self = .sixel
    case .symbols: self = .symbols(isFull: isFull)
    case .auto:
      // no-color.org.
      guard value("NO_COLOR").isEmpty else { return nil }
      // A multiplexer draws itself what it shows, and may have been started from another terminal.
      let isMultiplexed =
        ["screen", "tmux"].contains(where: kind.hasPrefix) || ["TMUX", "STY"].contains { !value($0).isEmpty }
      if !isMultiplexed, Self.isKitty(kind: kind, program: value("TERM_PROGRAM"), window: value("KITTY_WINDOW_ID")) {
        self = .kitty
        return
      }
      // The answer might come late through a network, and be taken for what a person types.
      let isNear = ["SSH_CONNECTION", "SSH_TTY"].allSatisfy { value($0).isEmpty }
      if isNear, hasSixel() {
        self = .sixel
        return
      }
      let hasColours = isFull || kind.contains("256color") || ["xterm-kitty", "xterm-ghostty"].contains(kind)
      guard hasColours, traits.unicode else { return nil }
      self = .symbols(isFull: isFull)
    }
  }

  private static func isKitty(kind: String, program: String, window: String) -> Bool {
    !window.isEmpty || ["xterm-kitty", "xterm-ghostty"].contains(kind) || ["WezTerm", "ghostty"].contains(program)
  }
}
