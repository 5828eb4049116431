import Dispatch
import Glibc
import Piconet

/// A conversation of everybody nearby who runs this. What is typed goes to all the others; Ctrl-D leaves.
///
///     PICONET_INTERFACES=lo swift run chat Anna     # in one terminal
///     PICONET_INTERFACES=lo swift run chat Ben      # in another one of the same machine
///
/// Between two machines leave the variable out.
@main actor Chat {
  private let node: Node

  init(_ node: Node) { self.node = node }

  static func main() async {
    guard let name = CommandLine.arguments.dropFirst().first else {
      print("usage: chat NAME")
      exit(2)
    }
    // Only nodes with the same session id see each other.
    var configuration = NodeConfiguration(sessionID: "chat example", name: name)
    if let names = getenv("PICONET_INTERFACES") {
      configuration.interfaces = Set(String(cString: names).split(separator: ",").map(String.init))
    }
    do {
      try await Node.run(configuration) { node in
        try await node.setAvailable(true)
        await Chat(node).run()
      }
    } catch {
      print("chat: \(error)")
      exit(1)
    }
  }

  /// Returns at the end of what is typed. What was said before still arrives: `Node.run` leaves everybody in good
  /// order.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.invite() }
      group.addTask { await self.accept() }
      group.addTask { await self.follow() }
      for await line in typedLines() where !line.isEmpty { await say(line) }
      group.cancelAll()
    }
  }

  /// If two see each other, the one with the smaller id invites.
  private func invite() async {
    for await peers in node.peers {
      let members = Set(node.session.members.map(\.id))
      for peer in peers where node.id < peer.id && !members.contains(peer.id) {
        do {
          _ = try await node.invite(peer, timeout: .seconds(10))
        } catch {
          print("* \(printable(peer.name)) is not reached: \(printable("\(error)"))")
        }
      }
    }
  }

  /// Everyone in the session is welcome. A program for more than play asks its user here, and shows the code: see
  /// "Invitations and Trust" in Piconet's documentation. Each is accepted in a task of its own: one that answers late
  /// keeps nobody waiting.
  private func accept() async {
    await withDiscardingTaskGroup { group in
      for await invitation in node.invitations { group.addTask { _ = try? await invitation.accept() } }
    }
  }

  /// Everything that happens, in order: nobody says a word before we have shown that they are here.
  private func follow() async {
    for await event in node.session.events {
      switch event {
      case .joined(let member): print("* \(printable(member.name)) is here")
      case .message(let message):
        print("\(printable(message.member.name)): \(printable(message.text))")
      case .suspended(let member, _): print("* \(printable(member.name)) is out of reach; what you say waits")
      case .resumed(let member, _): print("* \(printable(member.name)) is back")
      case .left(let member, let error): print("* \(printable(member.name)) has gone: \(error.code)")
      case .offer(let offer): await offer.decline()
      case .stream(let stream): stream.cancel()
      case .moved: break
      @unknown default: break
      }
    }
  }

  private func say(_ line: String) async {
    do {
      try await node.session.send(line.utf8)
    } catch {
      print("* not everybody has got that: \(printable("\(error)"))")
    }
  }
}

/// What others have written could hold anything: without control characters it can't take over the terminal.
func printable(_ text: String) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.filter { ![.control, .format].contains($0.properties.generalCategory) }))
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
