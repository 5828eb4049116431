import Glibc
import PiconetTerminal

/// Shows a question's pictures on the terminal, as far as that can.
struct ThumbnailDisplay: Sendable {
  let choice: ThumbnailChoice
  let decoder: PictureDecoder
  let chafa: ChafaProgram?
  /// A variable of the environment.
  let variable: @Sendable (String) -> String?
  /// What was found out about the terminal; the outer nil: nothing so far.
  private let form = Guarded<ThumbnailForm??>(nil)

  /// nil where no pictures are wanted, or none can be decoded.
  init?(
    _ choice: ThumbnailChoice, decoder: PictureDecoder? = .installed(),
    variable: @escaping @Sendable (String) -> String?
  ) {
    guard choice != .off, let decoder else { return nil }
    self.choice = choice
    self.decoder = decoder
    self.variable = variable
    chafa = ChafaProgram.installed(searchPath: variable("PATH"))
  }

  /// Lines to show before the question; none if there is nothing to show.
  /// - Parameter safe: makes a peer's words safe to show.
  func lines(of announced: AnnouncedFiles, unicode: Bool, safe: (String) -> String) async -> [String] {
    guard let sheet = announced.sheet, let form = await terminalForm() else { return [] }
    let names = sheet.places.map { safe(LocalPath(announced.first[$0].name).lastComponent.readable) }
    guard let squares = await decoder.squares(of: sheet),
      let row = ThumbnailRow(
        squares, names: names, columns: TerminalSize.of(descriptor: STDERR_FILENO).columns)
    else { return [] }
    if let chafa {
      let drawn = await onItsOwnThread { chafa.lines(of: row.strip, form, columns: row.columns, rows: row.rows) }
      if let drawn = drawn ?? nil { return row.lines(drawn: drawn, unicode: unicode, isAligned: form != .sixel) }
    }
    return row.lines(form, unicode: unicode)
  }

  /// The terminal is asked once, and only where there is something to show.
  private func terminalForm() async -> ThumbnailForm? {
    if let known = form.value { return known }
    let found =
      await onItsOwnThread {
        ThumbnailForm(choice, traits: TerminalTraits(descriptor: STDERR_FILENO), environment: variable) {
          TerminalAttributes.asked(input: STDIN_FILENO, output: STDERR_FILENO)?.hasSixel ?? false
        }
      } ?? nil
    form.change { $0 = .some(found) }
    return found
  }
}
