import Dispatch
import Glibc
import Piconet

/// Noughts and crosses with the first one nearby who runs this. A digit from 1 to 9 is a move; Ctrl-D gives up.
///
///     PICONET_INTERFACES=lo swift run game Anna     # in one terminal
///     PICONET_INTERFACES=lo swift run game Ben      # in another one of the same machine
@main actor Game {
  private let node: Node
  private var board = Board()
  private var opponent: (member: Member, mark: Board.Mark, own: Board.Mark)?

  init(_ node: Node) { self.node = node }

  static func main() async {
    let name = CommandLine.arguments.dropFirst().first ?? "Somebody"
    var configuration = NodeConfiguration(sessionID: "game example", name: name)
    // Two play: a third one is told that the session is full.
    configuration.capacity = 2
    if let names = getenv("PICONET_INTERFACES") {
      configuration.interfaces = Set(String(cString: names).split(separator: ",").map(String.init))
    }
    do {
      try await Node.run(configuration) { node in
        try await node.setAvailable(true)
        await Game(node).run()
      }
    } catch {
      print("game: \(error)")
      exit(1)
    }
  }

  /// Runs until somebody has won or left, or the input ends.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.invite() }
      group.addTask { await self.accept() }
      group.addTask {
        for await line in typedLines() { await self.move(line) }
        await self.node.stop()
      }
      await follow()
      group.cancelAll()
    }
  }

  /// If two see each other, the one with the smaller id invites. One that is already playing declines because its
  /// session is full.
  private func invite() async {
    for await peers in node.peers {
      for peer in peers where node.id < peer.id && node.session.members.isEmpty { _ = try? await node.invite(peer) }
    }
  }

  /// Each in a task of its own: one that answers late keeps nobody waiting.
  private func accept() async {
    await withDiscardingTaskGroup { group in
      for await invitation in node.invitations { group.addTask { _ = try? await invitation.accept() } }
    }
  }

  /// One loop for all that happens: a move comes after the opponent has joined, and never after it has left.
  private func follow() async {
    for await event in node.session.events {
      switch event {
      case .joined(let member):
        opponent = node.id < member.id ? (member, .nought, .cross) : (member, .cross, .nought)
        print("* you play \(opponent?.own.rawValue ?? " ")\n\(board.text)")
      case .message(let message):
        // It may come from any program: a move that the rules do not allow ends the game.
        guard let mark = opponent?.mark, let square = message.bytes.first, board.put(mark, on: Int(square)) else {
          return print("* that is no move: the game is over")
        }
        show()
        if board.isOver { return }
      // While the opponent is out of reach moves wait, and arrive when it is back.
      case .suspended, .resumed, .moved: break
      case .left:
        if !board.isOver { print("* the other one has given up") }
        return
      case .offer(let offer): await offer.decline()
      case .stream(let stream): stream.cancel()
      @unknown default: break
      }
    }
  }

  private func move(_ line: String) async {
    guard let opponent else { return print("* nobody is here yet") }
    guard let square = Int(line), board.put(opponent.own, on: square) else {
      return print("* \(board.turn == opponent.own ? "a free square, please" : "it is not your turn")")
    }
    show()
    // It arrives before we leave, or the opponent has left, which `follow` is told.
    try? await opponent.member.send([UInt8(square)])
    if board.isOver { await opponent.member.disconnect() }
  }

  private func show() { print(board.text + (board.isOver ? "\n* \(board.winner?.rawValue ?? "-") has won" : "")) }
}

/// The lines that are typed. Reading them blocks a thread, so it is done on one that nothing else waits for.
func typedLines() -> AsyncStream<String> {
  AsyncStream { lines in
    DispatchQueue.global().async {
      while let line = readLine() { lines.yield(line) }
      lines.finish()
    }
  }
}
