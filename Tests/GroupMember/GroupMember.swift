import Foundation
import Piconet

/// The node: tells what happens to it, and does what lines say.
///
/// The lines are `invite ADDRESS`, `introduce NODE NODE`, `remove NODE`, `compare NODE`, `send NODE TEXT` and
/// `disconnect NODE`. Each is answered by an event of the same name, with the words and with the code of the error, or
/// `none`.
struct GroupMember: Sendable {
  let node: Node
  let acceptsInvitations: Bool

  func follow() async {
    let addresses = await node.listeningAddresses.map(\.text)
    say("listening", ["addresses": addresses, "peer": "\(node.id.peer)", "node": node.id.text])
    await withDiscardingTaskGroup { group in
      group.addTask { await tellMembers() }
      group.addTask { for await message in node.session.messages { tell(message) } }
      group.addTask { for await end in node.session.comparisons { tell(end) } }
      group.addTask { for await separation in node.session.separations { tell(separation) } }
      group.addTask {
        for await invitation in node.invitations {
          Task { if acceptsInvitations { _ = try? await invitation.accept() } else { await invitation.decline() } }
        }
      }
      for await line in Self.lines {
        let words = line.split(separator: " ").map(String.init)
        group.addTask { await perform(words) }
      }
      group.cancelAll()
    }
  }

  /// The lines of standard input, which a thread of its own waits for.
  private static var lines: AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    Thread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }.start()
    return lines
  }

  private func perform(_ words: [String]) async {
    do throws(PiconetError) {
      switch words.first {
      case "invite" where words.count == 2: _ = try await node.invite(at: words[1])
      case "introduce" where words.count == 3:
        try await node.session.introduce(member(words[1]), to: member(words[2]))
      case "remove" where words.count == 2: try await node.session.remove(member(words[1]))
      case "compare" where words.count == 2: try await member(words[1]).compareCodes()
      case "send" where words.count == 3: try await member(words[1]).send(words[2].utf8)
      case "disconnect" where words.count == 2: await member(words[1]).disconnect()
      default: exit(4)
      }
      say(words[0], ["words": words], nil)
    } catch {
      say(words[0], ["words": words], error)
    }
  }

  private func member(_ text: String) -> Member {
    guard let id = NodeID(text: text), let member = node.session[id] else { exit(5) }
    return member
  }

  // MARK: What happens

  private func tellMembers() async {
    for await change in node.session.membership {
      switch change {
      case .joined(let member):
        let introducer = member.proven.introducedBy?.text ?? ""
        say("joined", ["member": member.id.text, "introducedBy": introducer])
      case .suspended(let member, let error):
        say("suspended", ["member": member.id.text], error)
      case .moved(let member, _): say("moved", ["member": member.id.text])
      case .resumed(let member, _): say("resumed", ["member": member.id.text])
      case .left(let member, let error): say("left", ["member": member.id.text], error)
      }
      say("members", ["members": node.session.members.map(\.id.text).sorted()])
    }
  }

  private func tell(_ message: Message) {
    say("message", ["member": message.sender.text, "text": String(decoding: message.bytes, as: UTF8.self)])
  }

  private func tell(_ end: CodeComparison) {
    let isConfirmed = end.member.confirmation == .comparedCode
    say("compared", ["member": end.member.id.text, "isConfirmed": isConfirmed], end.failure)
  }

  private func tell(_ separation: Separation) {
    let members = separation.members.map(\.text).sorted()
    say("separation", ["members": members, "standing": "\(separation.standing)"], separation.error)
  }
}
