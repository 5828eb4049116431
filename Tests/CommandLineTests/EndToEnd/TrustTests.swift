import Foundation
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("Trust in keys, as people meet it")
struct TrustTests {
  @Test("a person who has compared the codes is not asked again: neither by name, nor at that address")
  func remembered() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--listen", "127.0.0.1:\(scene.port)", knownTo: [])
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      let first = try scene.start(
        "imagesend", ["--address", address, try scene.photo("a.jpg")], state: "sender", onTerminal: true)
      #expect(await first.shows(FirstContact.prompt), "\(first.error)")
      #expect(first.error.contains("is not known yet.") && first.error.contains("Code: "))
      #expect(try scene.received().isEmpty, "nothing goes before the answer")
      first.type("y\n")
      #expect(await first.end() == 0, "\(first.error)")
      let key = try await scene.fingerprint("Kitchen")
      let line = try await scene.trust(state: "sender")
      #expect(line.hasPrefix("Kitchen  code  send:images  since "), "\(line)")
      #expect(line.hasSuffix("  at \(address)  \(key)\n"), "\(line)")
      // A device that was sent to may not send because of that.
      #expect(!line.contains("push"))
      for whom in [["--address", address], ["--to", "Kitchen"]] {
        let again = try scene.start(
          "imagesend", whom + [try scene.photo("b.jpg")], state: "sender", onTerminal: true)
        #expect(await again.end() == 0, "\(again.error)")
        #expect(!again.error.contains(FirstContact.prompt))
      }
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
      // Another key at that address, though under another name.
      _ = try await scene.receiver("--listen", "127.0.0.1:\(scene.port)", name: "Other", state: "impostor", knownTo: [])
      for onTerminal in [true, false] {
        let wary = try scene.start(
          "imagesend", ["--address", address, try scene.photo("c.jpg")], state: "sender", onTerminal: onTerminal)
        #expect(await wary.end() == 7, "\(wary.error)")
        #expect(wary.error.contains("expected \(key.prefix(12)), but "), "\(wary.error)")
        #expect(wary.error.contains("give its fingerprint with --fingerprint"), "\(wary.error)")
      }
      let ping = try scene.start("piconet", ["ping", address], state: "sender")
      #expect(await ping.end() == 7, "\(ping.error)")
      #expect(try !scene.received().contains("c.jpg"))
    }
  }

  @Test("a known device at an address where nobody has met it is asked about, without codes to compare")
  func knownElsewhere() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(knownTo: [])
      try await scene.trust("add", "Kitchen", try await scene.fingerprint("Kitchen"), state: "sender")
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      for (answers, code, isRemembered) in [("d\nn\n", 2, false), ("o\n", 0, false), ("y\n", 0, true)]
        as [(String, Int32, Bool)]
      {
        let sender = try scene.start(
          "imagesend", ["--address", address, try scene.photo("a.jpg")], state: "sender", onTerminal: true)
        #expect(await sender.shows("[n]o: "), "\(sender.error)")
        #expect(sender.unbrokenError.contains("known, but not from this address"), "\(sender.error)")
        #expect(!sender.error.contains("[d]iffer"))
        sender.type(answers)
        #expect(await sender.end() == code, "\(answers): \(sender.error)")
        #expect(try await scene.trust(state: "sender").contains("  at \(address)  ") == isRemembered, "\(answers)")
      }
    }
  }

  @Test("no, and codes that differ, end with 2 and 7; the receiver gets nothing, and nobody is remembered")
  func notRemembered() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver(knownTo: [])
      func answer(_ key: String, _ code: Int32) async throws {
        let sender = try scene.start(
          "imagesend", ["--to", "Kitchen", try scene.photo("a.jpg")], state: "sender", onTerminal: true)
        #expect(await sender.shows(FirstContact.prompt), "\(sender.error)")
        sender.type("\(key)\n")
        #expect(await sender.end() == code, "\(sender.error)")
      }
      try await answer("n", 2)
      try await answer("d", 7)
      let interrupted = try scene.start(
        "imagesend", ["--to", "Kitchen", try scene.photo("a.jpg")], state: "sender", onTerminal: true)
      #expect(await interrupted.shows(FirstContact.prompt), "\(interrupted.error)")
      interrupted.send(signal: SIGINT)
      #expect(await interrupted.end() == 130, "\(interrupted.error)")
      #expect(try await scene.trust(state: "sender") == "")
      #expect(try scene.received().isEmpty)
      // A key may have three codes that differ.
      try await answer("d", 7)
      try await answer("d", 7)
      let blocked = try scene.start(
        "imagesend", ["--to", "Kitchen", try scene.photo("a.jpg")], state: "sender", onTerminal: true)
      #expect(await blocked.end() == 4, "\(blocked.error)")
      #expect(
        blocked.unbrokenError.contains(
          "Kitchen: too many codes were wrong or broke off: it is listened to again in 1 hour; at once after 'piconet trust forgive' there"
        ), "\(blocked.error)")
    }
  }

  @Test("a person may say no as often as it takes: nobody is locked out, and a yes counts afterwards")
  func noIsNoWrongCode() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1", accept: "ask", json: false, onTerminal: true)
      for number in 1...4 {
        let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
        #expect(await receiver.errorShows { Self.questions($0) == number }, "\(number): \(receiver.error)")
        receiver.type("n\n")
        #expect(await sender.end() == 4, "\(sender.error)")
        #expect(sender.events("failed").first?["reason"] as? String == "declined", "\(sender.error)")
      }
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await receiver.errorShows { Self.questions($0) == 5 }, "\(receiver.error)")
      receiver.type("y\n")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(!receiver.error.contains("were wrong"), "\(receiver.error)")
    }
  }

  /// How many questions a receiver has shown.
  private static func questions(_ error: String) -> Int {
    // Its last words: what is typed before the prompt is there answers nothing.
    error.components(separatedBy: "codes [d]iffer: ").count - 1
  }

  @Test(
    "three codes that differ lock a key out for 1 hour, as is told with what lifts it; others of its address are asked about, and forgiving lifts it at once"
  )
  func forgiven() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(
        "--count", "2", accept: "ask", json: false, onTerminal: true, knownTo: ["sender", "other"])
      for number in 1...3 {
        let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
        #expect(await receiver.errorShows { Self.questions($0) == number }, "\(number): \(receiver.error)")
        receiver.type("d\n")
        #expect(await sender.end() == 7, "\(sender.error)")
      }
      let key = try await scene.fingerprint("sender").prefix(12)
      let words =
        "3 codes were wrong or broke off: it is not listened to for 1 hour; to lift it, say 'piconet trust forgive \(key)'"
      #expect(await receiver.shows(words), "\(receiver.error)")
      let blocked = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await blocked.end() == 4, "\(blocked.error)")
      #expect(
        (blocked.events("failed").first?["message"] as? String)?.contains("it is listened to again in 1 hour") == true)
      // Another device of the household.
      let other = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"), state: "other")
      #expect(await receiver.errorShows { Self.questions($0) == 4 }, "\(receiver.error)")
      receiver.type("o\n")
      #expect(await other.end() == 0, "\(other.error)")
      try await scene.trust("forgive", "Stranger (\(key))", state: "Kitchen")
      let again = try scene.sender("--to", "Kitchen", try scene.photo("c.jpg"))
      #expect(await receiver.errorShows { Self.questions($0) == 5 }, "\(receiver.error)")
      receiver.type("y\n")
      #expect(await again.end() == 0, "\(again.error)")
      #expect(try scene.received() == ["b.jpg", "c.jpg"])
    }
  }

  @Test("a sender that goes takes the question with it, in words below it, and a late y answers nothing")
  func goneWithItsQuestion() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1", accept: "ask", json: false, onTerminal: true)
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await receiver.shows("Accept?"), "\(receiver.error)")
      sender.send(signal: SIGINT)
      #expect(await sender.end() == 130, "\(sender.error)")
      let words = "has gone, and the question with it: "
      #expect(await receiver.shows(words), "\(receiver.error)")
      let behind = try #require(receiver.error.components(separatedBy: words).last)
      #expect(!behind.contains("Accept?"), "the question is shown again: \(receiver.error)")
      receiver.type("y\n")
      let next = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"))
      #expect(await receiver.shows("Accept?", behind: words), "\(receiver.error)")
      // Nothing counts as an answer for a second after a question that was taken back.
      while await next.end(within: .milliseconds(500)) == nil { receiver.type("n\n") }
      #expect(await next.end() == 4, "\(next.error)")
      #expect(try scene.received().isEmpty)
    }
  }

  @Test("a device that is known already is not offered to be remembered")
  func knownAsks() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1", accept: "ask", json: false, onTerminal: true)
      try await scene.trust("add", "Phone", try await scene.fingerprint("sender"), state: "Kitchen")
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await receiver.shows("Accept?"), "\(receiver.error)")
      #expect(receiver.unbrokenError.contains("The other screen must show the same."), "\(receiver.error)")
      #expect(!receiver.error.contains("remembers"), "\(receiver.error)")
      #expect(receiver.error.contains("'always' takes its files unasked from then on."), "\(receiver.error)")
      receiver.type("y\n")
      #expect(await sender.end() == 0, "\(sender.error)")
    }
  }

  @Test("in a script, --address sends to a known device that answers there, with --to only to the one that was named")
  func knownAtAddress() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(name: "Printer", state: "Kitchen", knownTo: [])
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      try await scene.trust("add", "Mum", try await scene.fingerprint("Kitchen"), state: "sender")
      try await scene.trust("add", "Dad", String(repeating: "cd", count: 32), state: "sender")
      let key = try await scene.fingerprint("Kitchen")
      let ways = [
        [], ["--yes"], ["--to", "Mum"], ["--to", "MUM"], ["--to", key], ["--to", String(key.prefix(12))],
        ["--to", "Printer"],
      ]
      for (number, way) in ways.enumerated() {
        let sender = try scene.start(
          "imagesend", ["--json"] + way + ["--address", address, try scene.photo("\(number).jpg")], state: "sender")
        #expect(await sender.end() == 0, "\(way): \(sender.error)")
        #expect(sender.events("stored").count == 1, "\(way)")
      }
      let before = try scene.received()
      for way in [["--to", "Dad"], ["--to", "Scanner"], ["--to", String(repeating: "cd", count: 32)]] {
        let sender = try scene.start(
          "imagesend", way + ["--address", address, try scene.photo("x.jpg")], state: "sender")
        #expect(await sender.end() == 7, "\(way): \(sender.error)")
      }
      // Not even a person at a terminal is asked about another one than the one that was named.
      let asked = try scene.start(
        "imagesend", ["--to", "Scanner", "--address", address, try scene.photo("x.jpg")], state: "other",
        onTerminal: true)
      #expect(await asked.end() == 7, "\(asked.error)")
      #expect(asked.unbrokenError.contains("expected 'Scanner', but Printer"), "\(asked.error)")
      // A stranger, and a known device that may not be sent to.
      for (words, why) in [
        (["forget", "Mum"], "nobody has confirmed whose key this address has"),
        (["add", "Mum", key], ""), (["deny", "Mum", "send"], "it is known, and may not be sent to"),
        (["block", "Mum"], "blocked"),
      ] {
        _ = try await scene.start("piconet", ["trust"] + words, state: "sender").end()
        if why.isEmpty { continue }
        let sender = try scene.start("imagesend", ["--address", address, try scene.photo("x.jpg")], state: "sender")
        #expect(await sender.end() == 7, "\(words): \(sender.error)")
        #expect(sender.unbrokenError.contains(why), "\(words): \(sender.error)")
      }
      #expect(try scene.received() == before && before.count == ways.count)
      // With a fingerprint it becomes known under the name.
      let named = try scene.start(
        "imagesend", ["--to", "Granny", "--fingerprint", key, "--address", address, try scene.photo("y.jpg")],
        state: "third")
      #expect(await named.end() == 0, "\(named.error)")
      #expect(try await scene.trust(state: "third").hasPrefix("Granny  fingerprint  send:images  "))
    }
  }

  @Test("a person who thinks for longer than --timeout loses nothing; the peer has it anew from the answer on")
  func thinksForLong() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(accept: nil, json: false, onTerminal: true, knownTo: [])
      let slow = try scene.start(
        "imagesend", ["--to", "Kitchen", "--timeout", "6", try scene.photo("a.jpg")], state: "sender", onTerminal: true)
      #expect(await slow.shows(FirstContact.prompt), "\(slow.error)")
      // As good as a clock: this sender looks around for longer than that.
      let other = try scene.sender("--to", "Nobody", "--timeout", "12", try scene.photo("b.jpg"), state: "other")
      #expect(await other.end() == 3, "\(other.error)")
      #expect(!slow.error.contains("no answer in time"), "\(slow.error)")
      slow.type("y\n")
      #expect(await slow.shows("Waiting for Kitchen to accept..."), "\(slow.error)")
      // Nobody answers at the receiver.
      #expect(await slow.end() == 5, "no answer is none: \(slow.error)")
      for (side, words) in [
        (slow, "Kitchen: no answer in time: "), (receiver, " has gone, and the question with it: cancelled: "),
      ] {
        #expect(
          await side.shows(words + "the attempt broke off before both sides had compared the code"), "\(side.error)")
      }
      #expect(try await scene.trust(state: "sender") == "")
      #expect(try scene.received().isEmpty)
    }
  }

  @Test(
    "without a terminal, and with --yes, an address needs --fingerprint: 7 before anything is dialled, and after another key"
  )
  func firstContact() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(knownTo: [])
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      for (options, onTerminal) in [([], false), (["--yes"], false), (["--yes"], true)] as [([String], Bool)] {
        let sender = try scene.start(
          "imagesend", options + ["--address", address, try scene.photo("a.jpg")], state: "sender",
          onTerminal: onTerminal)
        #expect(await sender.end() == 7, "\(sender.error)")
        #expect(sender.error.contains("nobody has confirmed whose key this address has"), "\(sender.error)")
      }
      let wrong = try scene.sender(
        "--address", address, "--fingerprint", String(repeating: "0f", count: 32), try scene.photo("a.jpg"))
      #expect(await wrong.end() == 7, "\(wrong.error)")
      #expect(receiver.events("connected").isEmpty)
      let nobody = try scene.sender(
        "--to", "Kitchen", "--fingerprint", String(repeating: "0f", count: 32), "--timeout", "2",
        try scene.photo("a.jpg"))
      #expect(await nobody.end() == 7, "\(nobody.error)")
      #expect(nobody.error.contains("expected the key 0f0f"), "\(nobody.error)")
      let shown = try scene.start("imagerecv", ["--fingerprint"], state: "Kitchen")
      #expect(await shown.end() == 0)
      let key = shown.output.trimmingCharacters(in: .newlines)
      #expect(try await scene.fingerprint("Kitchen") == key)
      let right = try scene.sender("--address", address, "--fingerprint", key.uppercased(), try scene.photo("a.jpg"))
      #expect(await right.end() == 0, "\(right.error)")
      #expect(try await scene.trust(state: "sender").hasPrefix("Kitchen  fingerprint  send:images  since "))
    }
  }

  @Test("a known device that calls itself otherwise is the one it was; its former name is nobody else's")
  func renamed() async throws {
    try await ToolScene.run { scene in
      let key = try await scene.fingerprint("Kitchen")
      try await scene.trust("add", "Mum", key, state: "sender")
      let receiver = try await scene.receiver(name: "Printer", state: "Kitchen", knownTo: [])
      for name in ["Mum", "Printer"] {
        let sender = try scene.sender("--to", name, try scene.photo("\(name).jpg"))
        #expect(await sender.end() == 0, "\(sender.error)")
        #expect(
          sender.error.contains("Connected to Mum (\(key.prefix(12)), calls itself 'Printer')"), "\(sender.error)")
      }
      #expect(try await scene.trust(state: "sender").hasPrefix("Mum  "))
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
      _ = try await scene.receiver(name: "Mum", state: "impostor", knownTo: [])
      let wary = try scene.sender("--to", "Mum", "--timeout", "10", try scene.photo("b.jpg"))
      #expect(await wary.end() == 7, "\(wary.error)")
      #expect(try scene.received() == ["Mum.jpg", "Printer.jpg"])
    }
  }

  @Test(
    "a stranger with the petname of a known device, whose fingerprint was given, is said not to be that one; then digits tell them apart, once"
  )
  func namesakeByFingerprint() async throws {
    try await ToolScene.run { scene in
      try scene.introduce("mum", as: "Mum", to: "sender")
      let receiver = try await scene.receiver(name: "Mum", knownTo: [])
      let key = try #require(receiver.fingerprint)
      let digits = key.prefix(12)
      let first = try scene.sender("--fingerprint", key, try scene.photo("a.jpg"))
      #expect(await first.end() == 0, "\(first.error)")
      #expect(
        first.error.contains("Connected to Mum (\(digits)), which is not the known 'Mum', over"), "\(first.error)")
      #expect(first.error.contains("Remembered as 'Mum (\(digits))'"), "\(first.error)")
      let second = try scene.sender("--to", "Mum (\(digits))", try scene.photo("b.jpg"))
      #expect(await second.end() == 0, "\(second.error)")
      #expect(second.error.contains("Connected to Mum (\(digits)) over"), "\(second.error)")
    }
  }

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

  @Test("a stranger that sends again and again what is there already fills no log, and `finished` counts it all")
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

  @Test("a full table is said, with its limit; the files are taken all the same, and nobody is forgotten")
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

  @Test("a right is one program's: who may push photos may not come to cat; and a blocked key is asked about nowhere")
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

  @Test("who may not be sent to, and who is blocked, gets nothing from a script: 7")
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
      // By name it is not even looked for, and nobody else who calls himself so is meant.
      _ = try await scene.receiver(name: "Kitchen", state: "impostor", knownTo: [])
      let named = try scene.sender("--to", "Kitchen", "--timeout", "60", try scene.photo("a.jpg"))
      #expect(await named.end() == 7, "\(named.error)")
      #expect(
        named.error.contains("Kitchen: it is blocked; lift that with: piconet trust unblock "), "\(named.error)")
      #expect(try scene.received().isEmpty)
    }
  }

  @Test(
    "a receiver that is visible to known devices only is found by those, and by nobody else; a stranger hears nothing of it"
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
      // A receiver that everybody sees, and that came later.
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
      // Both mean Bob, who is not there; only the second is a name that somebody else has taken.
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
    }
  }

  @Test("a table of a newer version ends every program with 6 at once: nobody could say who is blocked")
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

  @Test("who looks for a name is told what the device in sight is called here, and where an address goes")
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
