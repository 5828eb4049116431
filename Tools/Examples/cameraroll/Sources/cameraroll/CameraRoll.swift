import Glibc
import Piconet

/// Keeps a directory of pictures the same for everybody nearby who runs this: a device that comes gets what it lacks.
///
///     PICONET_INTERFACES=lo swift run cameraroll Anna anna     # in one terminal
///     PICONET_INTERFACES=lo swift run cameraroll Ben ben       # in another one of the same machine
@main struct CameraRoll: Sendable {
  let node: Node
  let directory: String

  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, let name = arguments.first, let directory = arguments.last else {
      print("usage: cameraroll NAME DIRECTORY")
      exit(2)
    }
    var configuration = NodeConfiguration(sessionID: "camera roll example", name: name)
    if let names = getenv("PICONET_INTERFACES") {
      configuration.interfaces = Set(String(cString: names).split(separator: ",").map(String.init))
    }
    do {
      try await Node.run(configuration) { node in
        let roll = try await node.receivingDirectory(at: directory, maximumFileSize: 100 << 20)
        try await node.setAvailable(true)
        await CameraRoll(node: node, directory: directory).run(storingIn: roll)
      }
    } catch {
      print("cameraroll: \(printable("\(error)"))")
      exit(1)
    }
  }

  /// Runs until the process is ended.
  func run(storingIn roll: ReceivingDirectory) async {
    await withDiscardingTaskGroup { group in
      group.addTask { await invite() }
      group.addTask { await accept() }
      for await event in node.session.events {
        switch event {
        // In tasks of their own: several members, and several pictures of each, at once.
        case .joined(let member): group.addTask { await give(to: member) }
        case .offer(let offer): group.addTask { await take(offer, into: roll) }
        case .left(let member, let error): print("* \(printable(member.name)) has gone: \(error.code)")
        case .message: break
        case .stream(let stream): stream.cancel()
        // What is under way goes on automatically when the member is back.
        case .suspended, .moved, .resumed: break
        @unknown default: break
        }
      }
    }
  }

  /// If two see each other, the one with the smaller id invites.
  private func invite() async {
    for await peers in node.peers {
      for peer in peers where node.id < peer.id && node.session[peer.id] == nil { _ = try? await node.invite(peer) }
    }
  }

  /// Each in a task of its own: one that answers late keeps nobody waiting.
  private func accept() async {
    await withDiscardingTaskGroup { group in
      for await invitation in node.invitations { group.addTask { _ = try? await invitation.accept() } }
    }
  }

  /// Sends everything that is there, including pictures from others. What the member already has is not sent again.
  private func give(to member: Member) async {
    print("* \(printable(member.name)) is here")
    for path in pictures() {
      do {
        let sent = try await member.send(.file(path))
        if !sent.wasAlreadyPresent { print("\(sent.storedName): to \(printable(member.name))") }
      } catch {
        print("\(printable(path)): \(printable("\(error)"))")
      }
    }
  }

  /// Returns when the picture is on the disk, verified, under its name. Anything that does not begin like a JPEG is not
  /// accepted.
  private func take(_ offer: IncomingOffer, into roll: ReceivingDirectory) async {
    do throws(PiconetError) {
      let picture = try await offer.store(in: roll) { $0.starts(with: [0xFF, 0xD8, 0xFF]) }
      if !picture.wasAlreadyPresent { print("\(picture.name): from \(printable(offer.member.name))") }
    } catch {
      print("\(offer.displayName): \(printable("\(error)"))")
    }
  }

  private func pictures() -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(directory + "/*.jpg", 0, nil, &found) == 0 else { return [] }
    return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
  }
}

/// What others have written could hold anything: without control characters it can't take over the terminal.
func printable(_ text: String) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.filter { ![.control, .format].contains($0.properties.generalCategory) }))
}
