import Foundation
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

/// Which devices are in the table of known devices, and what a program does with that.
@Suite("The table of known devices, as people meet it")
struct KnownDeviceTests {
  @Test("strangers leave nothing in the table of one that accepts all, however many come")
  func strangers() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      for number in 0..<40 {
        var configuration = NodeConfiguration(sessionID: scene.session, name: "Stranger \(number)")
        configuration.mode = .client
        configuration.discovers = false
        configuration.transports = [.tcp]
        try await Node.run(configuration) { node in
          let member = try await node.invite(at: address)
          await member.disconnect()
        }
      }
      #expect(try await scene.trust(state: "Kitchen") == "")
      #expect(!FileManager.default.fileExists(atPath: scene.knownPeers("Kitchen")))
    }
  }

  @Test("a stranger that repeats files that are already stored fills no log, and `finished` counts them all")
  func repeats() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--any")
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      var configuration = NodeConfiguration(sessionID: scene.session, name: "Stranger")
      configuration.mode = .client
      configuration.discovers = false
      configuration.transports = [.tcp]
      configuration.disconnectTimeout = ToolProcess.patience
      let count = NoticeBudget.repeatBurst + 100
      let began = ContinuousClock.now
      try await Node.run(configuration) { node in
        let member = try await node.invite(at: address)
        _ = try await member.send(.bytes([1], named: "a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<4 {
            group.addTask {
              for _ in 0..<count / 4 {
                let wasPresent = try await member.send(.bytes([1], named: "a")).wasAlreadyPresent
                #expect(wasPresent)
              }
            }
          }
          try await group.waitForAll()
        }
      }
      // The sender hears of the last one before the receiver has counted it: the sum comes when all are counted.
      #expect(await receiver.shows("From Stranger"), "\(receiver.error)")
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() != nil)
      let told = receiver.events("present").count
      // One more may be told every ten seconds.
      let more = Int((ContinuousClock.now - began) / NoticeBudget.interval) + 1
      #expect(told >= NoticeBudget.repeatBurst && told <= NoticeBudget.repeatBurst + more, "\(told)")
      #expect(receiver.events("offered").count < told + 50)
      #expect(receiver.events("finished").first?["present"] as? Int == count)
    }
  }

  @Test("imagerecv reports a full table with its limit, still takes the files, and forgets no device")
  func full() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.fingerprint("Kitchen")
      let lines = (0..<KnownPeers.entryLimit).map { number in
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits + "\tdevice \(number)\t0\tcode\t-\t-\n"
      }
      let path = scene.knownPeers("Kitchen")
      let end = "piconet-known-peers end \(lines.count)\n"
      let text = Data(("piconet-known-peers 3\n" + lines.joined() + end).utf8)
      #expect(
        FileManager.default.createFile(atPath: path, contents: text, attributes: [.posixPermissions: 0o600]))
      let receiver = try await scene.receiver(
        "--count", "1", accept: "ask", json: false, onTerminal: true)
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await receiver.shows("Accept?"), "\(receiver.error)")
      receiver.type("y\n")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(
        receiver.unbrokenError.contains("is not remembered: \(path): 1024 devices are known, no more fit"),
        "\(receiver.error)")
      #expect(try Data(contentsOf: URL(filePath: path)) == text)
      #expect(try scene.received() == ["a.jpg"])
    }
  }

  @Test("a right is one program's: a device that may push photos may not use cat; a blocked key is never asked about")
  func rights() async throws {
    try await ToolScene.run { scene in
      try await scene.trust("add", "Phone", try await scene.fingerprint("sender"), state: "Kitchen")
      try await scene.trust("allow", "Phone", "push", state: "Kitchen")
      let receiver = try await scene.receiver(accept: "known")
      let photo = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await photo.end() == 0, "\(photo.error)")
      let cat = try scene.start(
        "piconet", ["cat", "--listen", "--name", "Cat", "--accept", "known"], state: "Kitchen")
      #expect(await cat.shows("Listening"), "\(cat.error)")
      let refused = try scene.start("piconet", ["cat", "Cat"], state: "sender")
      #expect(await refused.end() == 4, "\(refused.error)")
      #expect(await cat.shows("it may not push: piconet trust allow"), "\(cat.error)")
      #expect(cat.error.contains(" push:cat"), "\(cat.error)")
      try await scene.trust("block", "Phone", state: "Kitchen")
      let blocked = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"))
      #expect(await blocked.end() == 7, "\(blocked.error)")
      #expect(await receiver.shows("this device is blocked"), "\(receiver.error)")
      // The event is on standard output before the line is on standard error.
      #expect(await receiver.shows("imagerecv: Phone ("), "by its petname: \(receiver.error)")
      #expect(!blocked.error.contains("blocked"), "the other side is not told")
      #expect(try scene.received() == ["a.jpg"])
    }
  }

  @Test("with -v a receiver names a device that has left, not only its digits")
  func nameOfWhoHasLeft() async throws {
    try await ToolScene.run { scene in
      let key = try await scene.fingerprint("sender")
      try await scene.trust("add", "Phone", key, state: "Kitchen")
      let receiver = try await scene.receiver("-v")
      let sender = try scene.sender("--name", "Phone", "--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.shows("Phone (\(key.prefix(12))) has left: "), "\(receiver.error)")
    }
  }

  @Test("a script sends nothing to a blocked device, or to one that it may not send to: 7")
  func denied() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver(knownTo: [])
      try await scene.trust("add", "Kitchen", try await scene.fingerprint("Kitchen"), state: "sender")
      try await scene.trust("deny", "Kitchen", "send", state: "sender")
      let denied = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await denied.end() == 7, "\(denied.error)")
      #expect(denied.error.contains("may not be sent to: piconet trust allow "))
      try await scene.trust("block", "Kitchen", state: "sender")
      let blocked = try scene.sender(try scene.photo("a.jpg"))
      #expect(await blocked.end() == 7, "\(blocked.error)")
      #expect(blocked.error.contains("Kitchen (") && blocked.error.contains(", blocked)"))
      // A device that was shut out does not spoil what goes to all others.
      _ = try await scene.receiver(name: "Hall", into: try scene.folder.folder("hall"))
      let all = try scene.sender("--to", "all", try scene.photo("b.jpg"))
      #expect(await all.end() == 0, "\(all.error)")
      #expect(all.events("stored").count == 1)
      // By name, imagesend does not even search for it, and does not send to another device of that name.
      _ = try await scene.receiver(name: "Kitchen", state: "impostor", knownTo: [])
      let named = try scene.sender("--to", "Kitchen", "--timeout", "60", try scene.photo("a.jpg"))
      #expect(await named.end() == 7, "\(named.error)")
      #expect(
        named.error.contains("Kitchen: it is blocked; lift that with: piconet trust unblock "), "\(named.error)")
      #expect(try scene.received().isEmpty)
    }
  }

  @Test(
    "only known devices find a receiver that is visible to known devices; a stranger hears nothing of it"
  )
  func visibleToKnown() async throws {
    try await ToolScene.run { scene in
      let key = try await scene.fingerprint("Kitchen")
      for state in ["sender", "scanner"] { try await scene.trust("add", "My kitchen", key, state: state) }
      try await scene.trust("add", "Phone", try await scene.fingerprint("sender"), state: "Kitchen")
      try await scene.trust("allow", "Phone", "push", state: "Kitchen")
      let receiver = try await scene.receiver(
        "--visible", "known", name: "Secret", accept: "known", state: "Kitchen", knownTo: [])
      let seeing = try scene.start("piconet", ["scan"], state: "scanner")
      let blind = try scene.start("piconet", ["scan"], state: "stranger")
      #expect(await seeing.shows("My kitchen (\(key.prefix(12)), known)"), "\(seeing.output)")
      // A receiver that all devices see, and that came later.
      _ = try await scene.receiver(name: "Hall")
      #expect(await blind.shows("Hall ("))
      #expect(blind.output.split(separator: "\n").count == 1, "\(blind.output)")
      let known = try scene.sender("--to", "My kitchen", try scene.photo("a.jpg"))
      #expect(await known.end() == 0, "\(known.error)")
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      let stranger = try scene.sender(
        "--address", address, "--fingerprint", key, try scene.photo("b.jpg"), state: "stranger")
      #expect(await stranger.end() == 7, "\(stranger.error)")
      #expect(!stranger.error.contains("Secret") && !stranger.output.contains("Secret"))
      #expect(try scene.received() == ["a.jpg"])
    }
  }

  @Test("names that look alike are told apart: in the scan, in the question, in what is remembered")
  func lookalikes() async throws {
    try await ToolScene.run { scene in
      let mum = try await scene.fingerprint("mum")
      let other = try await scene.fingerprint("other")
      try await scene.trust("add", "Mum", mum, state: "Kitchen")
      _ = try await scene.receiver(name: "Mum", state: "mum")
      _ = try await scene.receiver(name: "Мum", state: "other")
      let scan = try scene.start("piconet", ["scan"], state: "Kitchen")
      #expect(await scan.shows("Mum (\(mum.prefix(12)), known)"), "\(scan.output)")
      #expect(await scan.shows("Мum (\(other.prefix(12)), not the known 'Mum')"), "\(scan.output)")
      let sender = try scene.start(
        "imagesend", ["--to", "Мum", try scene.photo("a.jpg")], state: "Kitchen", onTerminal: true)
      #expect(await sender.shows(FirstContact.prompt), "\(sender.error)")
      #expect(sender.error.contains("not known, and not the device that is known as 'Mum'"), "\(sender.error)")
      sender.type("y\n")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try await scene.trust(state: "Kitchen").contains("Мum (\(other.prefix(12)))  code  "))
    }
  }

  @Test("a name with the digits of a known device gets its own digits, and the person is told")
  func digitsInAName() async throws {
    try await ToolScene.run { scene in
      let bob = try await scene.fingerprint("bob")
      let other = try await scene.fingerprint("other")
      let name = "Bob (\(bob.prefix(12)))"
      try await scene.trust("add", "Bob", bob, state: "sender")
      let adding = try scene.start("piconet", ["trust", "add", name, other], state: "sender")
      #expect(await adding.end() == 0, "\(adding.error)")
      #expect(adding.error.contains("would pass for another device: here it is '\(name) (\(other.prefix(12)))'"))
      _ = try await scene.receiver(name: name, state: "other")
      // Both mean Bob, whose device is not there; only the second is a name that another device has taken.
      for (whom, code) in [(String(bob.prefix(12)), ExitCode.noSuchPeer), (name, .identity)] {
        let sender = try scene.sender("--to", whom, "--timeout", "3", try scene.photo("a.jpg"))
        #expect(await sender.end() == code.rawValue, "\(sender.error)")
        #expect(!sender.error.contains("did you mean"), "\(sender.error)")
      }
      #expect(try scene.received().isEmpty)
    }
  }

  @Test("a name in sight with another key than --fingerprint says ends with 7, and names both")
  func otherKeyThanGiven() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      let key = try await scene.fingerprint("Kitchen")
      let sender = try scene.sender(
        "--to", "Kitchen", "--fingerprint", String(repeating: "0f", count: 32), "--timeout", "3",
        try scene.photo("a.jpg"))
      #expect(await sender.end() == 7, "\(sender.error)")
      #expect(
        sender.error.contains("expected the key 0f0f0f0f0f0f, but 'Kitchen' in sight has the key \(key.prefix(12))"),
        "\(sender.error)")
      try await scene.trust("add", "Hall", String(repeating: "0f", count: 32), state: "sender")
      let known = try scene.sender(
        "--to", "Kitchen", "--fingerprint", String(repeating: "0f", count: 32), "--timeout", "3",
        try scene.photo("a.jpg"))
      #expect(await known.end() == 7, "\(known.error)")
      #expect(known.error.contains("expected the key 0f0f0f0f0f0f of 'Hall', but 'Kitchen'"), "\(known.error)")
    }
  }

  @Test("a table of a newer version ends every program with 6 at once, since it may name blocked devices")
  func unreadable() async throws {
    try await ToolScene.run { scene in
      for state in ["Kitchen", "sender"] {
        try await scene.trust("add", "Mum", String(repeating: "ab", count: 32), state: state)
        try Data("piconet-known-peers 9\n".utf8).write(to: URL(filePath: scene.knownPeers(state)))
      }
      let receiver = try scene.start("imagerecv", ["--directory", scene.into, "--accept", "all"], state: "Kitchen")
      let sender = try scene.start("imagesend", ["--timeout", "2", try scene.photo("a.jpg")], state: "sender")
      for program in [receiver, sender] {
        #expect(await program.end() == 6, "\(program.error)")
        #expect(program.error.contains("was written by a newer version"), "\(program.error)")
      }
      // Once, though each session has a node of its own.
      let scan = try scene.start("piconet", ["scan", "--timeout", "2"], state: "sender")
      #expect(await scan.end() == 6, "\(scan.error)")
      #expect(scan.error.components(separatedBy: "was written by a newer version").count == 2, "\(scan.error)")
    }
  }

  @Test("a search for a name tells what the device in sight is called here, and where an address goes")
  func knownOtherwise() async throws {
    try await ToolScene.run { scene in
      let kitchen = try await scene.fingerprint("Kitchen")
      try await scene.trust("add", "Kitchen", String(repeating: "ab", count: 32), state: "sender")
      try await scene.trust("add", "New kitchen", kitchen, state: "sender")
      let receiver = try await scene.receiver(knownTo: [])
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "10", try scene.photo("a.jpg"))
      #expect(await sender.end() == 7, "\(sender.error)")
      #expect(sender.error.contains("it is known here as 'New kitchen'"), "\(sender.error)")
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      let other = try scene.sender("--to", address, "--timeout", "2", try scene.photo("a.jpg"))
      #expect(await other.end() == 3, "\(other.error)")
      #expect(other.error.contains("give an address with --address"), "\(other.error)")
    }
  }
}
