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
        let words = wary.unbrokenError
        #expect(words.contains("expected 'Kitchen' (\(key.prefix(12))), but "), "\(wary.error)")
        #expect(words.contains("give its fingerprint with --fingerprint"), "\(wary.error)")
      }
      let ping = try scene.start("piconet", ["ping", address], state: "sender")
      #expect(await ping.end() == 7, "\(ping.error)")
      #expect(try !scene.received().contains("c.jpg"))
    }
  }

  @Test("imagesend asks about a known device at an address where it has not met it, without codes to compare")
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

  @Test("no, and codes that differ, end with 2 and 7; the receiver gets nothing, and no device is remembered")
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
      #expect(!interrupted.error.contains("Kitchen: interrupted"), "\(interrupted.error)")
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

  @Test("a person may say no as often as it takes: no device is locked out, and a yes counts afterwards")
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
    "three differing codes lock a key out for 1 hour, but no other key of its address; forgiving lifts it at once"
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
      let words = "no longer waits for your answer: "
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
      let wrong = try scene.start(
        "imagesend", ["--to", "Dad", "--address", address, try scene.photo("x.jpg")], state: "sender")
      #expect(await wrong.end() == 7, "\(wrong.error)")
      let both = "expected 'Dad' (cdcdcdcdcdcd), but 'Mum' (\(key.prefix(12))) answers there"
      #expect(wrong.unbrokenError.contains(both + "; if 'Mum' is meant, give its name with --to"), "\(wrong.error)")
      let before = try scene.received()
      for way in [["--to", "Dad"], ["--to", "Scanner"], ["--to", String(repeating: "cd", count: 32)]] {
        let sender = try scene.start(
          "imagesend", way + ["--address", address, try scene.photo("x.jpg")], state: "sender")
        #expect(await sender.end() == 7, "\(way): \(sender.error)")
      }
      // Even at a terminal, imagesend does not ask about another device than the named one.
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
      // The person at the receiver does not answer.
      #expect(await slow.end() == 5, "no answer is none: \(slow.error)")
      for (side, words) in [
        (slow, "Kitchen: no answer in time: "), (receiver, " no longer waits for your answer: cancelled: "),
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

  @Test("a known device with a new name is still found by both names; a stranger with the former name gets nothing")
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
    "a stranger with a known device's petname, named by fingerprint, is told from it by its digits, once"
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
}
