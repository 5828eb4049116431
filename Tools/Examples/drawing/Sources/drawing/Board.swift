import Dispatch
import Glibc
import Piconet

/// One sheet of paper for everybody nearby who runs this. `4 2 #` puts a # at column 4 of line 2; Ctrl-D leaves.
///
///     PICONET_INTERFACES=lo swift run drawing Anna     # in one terminal
///     PICONET_INTERFACES=lo swift run drawing Ben      # in another one of the same machine
@main actor Board {
  private let node: Node
  private var drawing = Drawing()

  init(_ node: Node) { self.node = node }

  static func main() async {
    let name = CommandLine.arguments.dropFirst().first ?? "Somebody"
    var configuration = NodeConfiguration(sessionID: "drawing example", name: name)
    if let names = getenv("PICONET_INTERFACES") {
      configuration.interfaces = Set(String(cString: names).split(separator: ",").map(String.init))
    }
    do {
      try await Node.run(configuration) { node in
        try await node.setAvailable(true)
        await Board(node).run()
      }
    } catch {
      print("drawing: \(error)")
      exit(1)
    }
  }

  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.invite() }
      group.addTask { await self.accept() }
      group.addTask { await self.follow() }
      for await line in typedLines() { await draw(line) }
      group.cancelAll()
    }
  }

  /// If two see each other, the one with the smaller id invites; one that is a member already stays one.
  private func invite() async {
    for await peers in node.peers {
      for peer in peers where node.id < peer.id { _ = try? await node.invite(peer) }
    }
  }

  /// Each in a task of its own: one that answers late keeps nobody waiting.
  private func accept() async {
    await withDiscardingTaskGroup { group in
      for await invitation in node.invitations { group.addTask { _ = try? await invitation.accept() } }
    }
  }

  private func follow() async {
    for await event in node.session.events {
      switch event {
      case .joined(let member):
        // Both sides give each other everything they have, so that each gets what it lacks. After a suspension there is
        // nothing to do: what was sent meanwhile arrives.
        print("* \(node.session.members.count) more at the table")
        try? await member.send(drawing.strokes.compactMap { $0?.line }.joined(separator: "\n").utf8)
      case .message(let message):
        let lines = message.text.split(separator: "\n")
        let news = lines.compactMap(Stroke.init(line:)).filter { drawing.take($0) }
        if !news.isEmpty { print(drawing.text) }
      case .offer(let offer): await offer.decline(.notWanted)
      case .stream(let stream): stream.cancel(.notWanted)
      default: break
      }
    }
  }

  private func draw(_ line: String) async {
    // Ours are taken like anybody's.
    guard let stroke = Stroke(line: "\(drawing.time + 1) \(node.id) \(line)"[...]), drawing.take(stroke) else {
      return print("such as 4 2 #, with columns 0 to \(Drawing.width - 1) and lines 0 to \(Drawing.height - 1)")
    }
    print(drawing.text)
    // A member that leaves meanwhile gets the whole drawing when it is back.
    try? await node.session.send(stroke.line.utf8)
  }
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
