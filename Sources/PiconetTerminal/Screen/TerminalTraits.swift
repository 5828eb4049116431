import CPiconetSystem
import Glibc

/// The capabilities of the terminal behind a descriptor.
package struct TerminalTraits: Hashable, Sendable {
  /// Whether lines may be redrawn: it is a terminal, and not a dumb one.
  package var canRedraw: Bool
  /// Whether it shows more than ASCII.
  package var unicode: Bool
  /// Whether it has an alternate screen for temporary content, as all terminals in windows have.
  package var hasOtherScreen: Bool

  /// - Parameter environment: a variable's value, or nil.
  package init(isTerminal: Bool, environment: (String) -> String?) {
    let kind = environment("TERM") ?? ""
    canRedraw = isTerminal && !kind.isEmpty && kind != "dumb"
    hasOtherScreen = canRedraw && !["linux", "vt", "ansi", "cons"].contains(where: kind.hasPrefix)
    // POSIX, section 8.2: the first of these that is set and not empty decides.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? "C"
    let encoding = locale.uppercased()
    unicode = encoding.contains("UTF-8") || encoding.contains("UTF8")
  }

  package init(descriptor: Int32) {
    self.init(isTerminal: isatty(descriptor) == 1) { name in getenv(name).map { String(cString: $0) } }
  }
}

/// The size of a terminal, read at each drawing: cheaper than handling SIGWINCH, and never out of date.
package struct TerminalSize: Hashable, Sendable {
  package var columns: Int
  package var rows: Int

  package init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// The size assumed if the terminal does not say.
  package static let usual = TerminalSize(columns: 80, rows: 24)

  package static func of(descriptor: Int32) -> TerminalSize {
    var columns: UInt16 = 0
    var rows: UInt16 = 0
    guard piconet_terminal_size(descriptor, &columns, &rows) == 0, columns > 0, rows > 0 else { return .usual }
    return TerminalSize(columns: Int(columns), rows: Int(rows))
  }
}
