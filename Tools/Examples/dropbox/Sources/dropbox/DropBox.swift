import Glibc
import Piconet

/// Takes files from anybody who knows the code that it shows, and from nobody else.
///
///     PICONET_INTERFACES=lo swift run dropbox open ~/Downloads         # in one terminal; shows a code
///     PICONET_INTERFACES=lo swift run dropbox put 042917 sunset.jpg    # in another one of the same machine
@main struct DropBox {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      switch arguments.first {
      case "open" where arguments.count == 2: try await open(arguments[1])
      case "put" where arguments.count > 2: try await put(arguments[2...], code: arguments[1])
      default:
        print("usage: dropbox open DIRECTORY\n       dropbox put CODE FILE...")
        exit(2)
      }
    } catch {
      print("dropbox: \(printable("\(error)"))")
      exit(1)
    }
  }

  private static func configuration(_ name: String, _ mode: SessionMode) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: "drop box example", name: name)
    configuration.mode = mode
    if let names = getenv("PICONET_INTERFACES") {
      configuration.interfaces = Set(String(cString: names).split(separator: ",").map(String.init))
    }
    return configuration
  }

  // MARK: The box

  /// Takes files until the process is ended.
  private static func open(_ path: String) async throws {
    try await Node.run(configuration("Drop box", .server)) { node in
      let directory = try await node.receivingDirectory(at: path, maximumFileSize: 1 << 30)
      try await showNewCode(node)
      try await node.setAvailable(true)
      try await withThrowingDiscardingTaskGroup { group in
        group.addTask { try await replaceSpentCodes(node) }
        // Several at once: each in a task of its own.
        for await offer in node.session.offers { group.addTask { await store(offer, in: directory) } }
      }
    }
  }

  /// As long as a code is set, nobody gets in without it: `Node.invitations` stays empty.
  private static func showNewCode(_ node: Node) async throws {
    let code = try TypedCode.made()
    try await node.setCode(code)
    print("code \(code.grouped)")
  }

  /// Three wrong tries, by anybody, end a code.
  private static func replaceSpentCodes(_ node: Node) async throws {
    for await failed in node.failedCodes {
      print("wrong code from \(printable(failed.name)) at \(failed.remoteAddress)")
      if failed.triesLeft == 0 { try await showNewCode(node) }
    }
  }

  /// Returns once the file is on the disk, verified, under its name. An unsafe name is refused, and one that is taken
  /// gets a number.
  private static func store(_ offer: IncomingOffer, in directory: ReceivingDirectory) async {
    do throws(PiconetError) {
      let file = try await offer.store(in: directory)
      print("\(file.name): \(file.size) bytes, \(file.wasAlreadyPresent ? "was there already" : "stored")")
    } catch {
      print("\(offer.displayName): \(printable("\(error)"))")
    }
  }

  // MARK: The sender

  private static func put(_ files: ArraySlice<String>, code: String) async throws {
    guard let code = TypedCode(code) else {
      print("a code has \(TypedCode.lengths.lowerBound) to \(TypedCode.lengths.upperBound) digits")
      exit(2)
    }
    try await Node.run(configuration("Somebody", .client)) { node in
      try await node.setAvailable(true)
      for await peers in node.peers {
        guard let box = peers.first else { continue }
        // Both prove to each other that they have the same code: a box that doesn't know it gets nothing.
        let member = try await node.invite(box, proving: code)
        for file in files {
          let sent = try await member.send(.file(file))
          print("\(sent.storedName): \(sent.size) bytes, \(sent.wasAlreadyPresent ? "was there already" : "stored")")
        }
        return
      }
    }
  }
}

/// What others have written could hold anything: without control characters it can't take over the terminal.
func printable(_ text: String) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.filter { ![.control, .format].contains($0.properties.generalCategory) }))
}
