/// A shutdown under way. It is finished when no link and no association is left.
struct Shutdown: Sendable {
  private let command: CommandID
  private var isFinished = false

  init(command: CommandID) { self.command = command }

  mutating func finish(_ links: LinkTable, _ associations: AssociationTable, _ turn: Turn) {
    guard !isFinished, links.isEmpty, associations.isEmpty else { return }
    isFinished = true
    turn.reply(command, .done)
    turn.add(.finished)
  }
}
