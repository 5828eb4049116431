import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("imagerecv asks a person")
struct AskingTests {
  private let question = AcceptQuestion.Wording.acceptFiles.prompt

  @Test("yes, no, and codes that differ; both sides show the same code before the answer")
  func answers() async throws {
    try await ToolScene.run { scene in
      for (key, code, word) in [("y", 0, "stored"), ("n", 4, "declined"), ("d", 7, "code-mismatch")]
        as [(String, Int32, String)]
      {
        let receiver = try await scene.receiver(
          name: "Kitchen \(key)", accept: nil, json: false, onTerminal: true, state: "Kitchen")
        let sender = try scene.sender("--to", "Kitchen \(key)", try scene.photo("\(key).jpg"))
        #expect(await receiver.shows(question), "\(receiver.error)")
        #expect(await sender.shows("\"code\""))
        let shown = try #require(sender.events("code").first?["code"] as? String)
        #expect(receiver.error.contains("Code: \(shown)"))
        // The question is repeated until there is an answer to it.
        receiver.type("perhaps\n")
        receiver.type("\(key)\n")
        #expect(await sender.end() == code, "\(sender.error)")
        #expect(sender.output.contains("\"\(word)\""))
        receiver.send(signal: SIGINT)
        #expect(await receiver.end() == 130)
      }
      #expect(try scene.received() == ["y.jpg"])
    }
  }

  @Test(
    "before the answer a person sees how many files come, how large, and which; of some that are chosen only those are taken"
  )
  func some() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(accept: nil, json: false, onTerminal: true)
      let photos = try ["a.jpg", "b.jpg", "c.jpg", "d.png"].map { try scene.photo($0, size: 50_000) }
      let sender = try scene.start("imagesend", ["--json", "--to", "Kitchen"] + photos, state: "sender")
      #expect(await receiver.shows(question), "\(receiver.error)")
      #expect(receiver.error.contains("wants to send 4 files, 200 kB, over tcp. "), "\(receiver.error)")
      #expect(receiver.error.contains(" are free here.\r\n  a.jpg  50 kB\r\n  b.jpg  50 kB\r\n"), "\(receiver.error)")
      #expect(receiver.error.contains("\u{07}"), "the bell")
      receiver.type("s\n")
      #expect(await receiver.shows("  3  c.jpg  50 kB"), "\(receiver.error)")
      #expect(await receiver.shows("Which? "))
      receiver.type("5\n")
      #expect(await receiver.shows("the numbers are 1 to 4"), "\(receiver.error)")
      receiver.type("1 *.PNG\n")
      #expect(await sender.end() == 4, "\(sender.error)")
      #expect(try scene.received() == ["a.jpg", "d.png"])
      #expect(sender.error.contains("b.jpg: Kitchen: "), "\(sender.error)")
      #expect(sender.error.contains("not among the files that were chosen there"), "\(sender.error)")
      #expect(await receiver.shows("2 stored, 2 not chosen"), "\(receiver.error)")
    }
  }

  @Test("after a yes the receiver says that it waits while the sender's person still compares")
  func waits() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(accept: nil, json: false, onTerminal: true, knownTo: [])
      let sender = try scene.start(
        "imagesend", ["--name", "Tablet", "--to", "Kitchen", try scene.photo("a.jpg")], state: "sender",
        onTerminal: true)
      #expect(await sender.shows("Send?"), "\(sender.error)")
      #expect(await receiver.shows(AcceptQuestion.Wording.accept.prompt), "\(receiver.error)")
      receiver.type("y\n")
      #expect(await receiver.shows("Waiting for Tablet"), "\(receiver.error)")
      #expect(await receiver.shows(" to confirm..."), "\(receiver.error)")
      sender.type("y\n")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try scene.received() == ["a.jpg"])
    }
  }

  @Test("on a terminal a photo that is there already has one line, with its path")
  func present() async throws {
    try await ToolScene.run { scene in
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let receiver = try scene.start(
        "imagerecv", ["--name", "Kitchen", "--directory", scene.into, "--accept", "all"], state: "Kitchen",
        onTerminal: true, outputOnTerminal: true)
      #expect(await receiver.shows("listening on"), "\(receiver.error)")
      let photo = try scene.photo("a.jpg")
      for _ in 1...2 {
        let sender = try scene.sender("--to", "Kitchen", photo)
        #expect(await sender.end() == 0, "\(sender.error)")
      }
      #expect(await receiver.shows("\(scene.into)/a.jpg: already there"), "\(receiver.error)")
      let text = receiver.output + receiver.error
      #expect(text.components(separatedBy: "already there").count == 2, "\(text)")
      #expect(text.components(separatedBy: "/a.jpg").count == 3, "\(text)")
    }
  }

  @Test("a device that the sender's person has not confirmed learns how many files there are, and no name of one")
  func firstContact() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(accept: nil, json: false, onTerminal: true, knownTo: [])
      let sender = try scene.start(
        "imagesend", ["--to", "Kitchen", try scene.photo("secret.jpg", size: 50_000), try scene.photo("b.jpg")],
        state: "sender", onTerminal: true)
      #expect(await receiver.shows(AcceptQuestion.Wording.accept.prompt), "\(receiver.error)")
      #expect(receiver.error.contains("wants to send 2 files, "), "\(receiver.error)")
      #expect(!receiver.error.contains("secret"), "\(receiver.error)")
      #expect(await sender.shows("Send?"), "\(sender.error)")
      sender.type("n\n")
      #expect(await sender.end() == 2, "\(sender.error)")
      #expect(!receiver.error.contains("secret"), "\(receiver.error)")
    }
  }

  @Test("imagerecv no longer asks about a device that may always send, and still asks about every other device")
  func always() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(accept: nil, json: false, onTerminal: true, knownTo: ["sender", "other"])
      let first = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await receiver.shows(question), "\(receiver.error)")
      receiver.type("always\n")
      #expect(await first.end() == 0, "\(first.error)")
      let key = try await scene.fingerprint("sender")
      #expect(try await scene.isRemembered(key, in: scene.knownPeers("Kitchen")), "\(receiver.error)")
      let second = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"))
      #expect(await second.end() == 0, "\(second.error)")
      #expect(receiver.error.components(separatedBy: "wants to send").count == 2, "\(receiver.error)")
      let stranger = try scene.sender(
        "--to", "Kitchen", "--name", "Tablet", try scene.photo("c.jpg"), state: "other")
      #expect(await stranger.shows("\"code\""))
      let code = try #require(stranger.events("code").first?["code"] as? String)
      #expect(await receiver.shows(question, behind: code), "\(receiver.error)")
      receiver.type("n\n")
      #expect(await stranger.end() == 4, "\(stranger.error)")
      #expect(try scene.received() == ["a.jpg", "b.jpg"])
    }
  }

  @Test("imagerecv tells each of the person's answers, however soon it follows another one")
  func toldEachTime() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(accept: nil, json: false, onTerminal: true)
      var lastCode = "listening on"
      for _ in 0..<2 {
        let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
        #expect(await sender.shows("\"code\""), "\(sender.error)")
        lastCode = try #require(sender.events("code").first?["code"] as? String)
        #expect(await receiver.shows(question, behind: lastCode), "\(receiver.error)")
        receiver.type("d\n")
        #expect(await receiver.shows("was declined: the codes differ", behind: lastCode), "\(receiver.error)")
        #expect(await sender.end() == 7, "\(sender.error)")
      }
    }
  }

  @Test("a sender whose person says no does not count as a wrong code; a known device is not offered 'once'")
  func saidNoThere() async throws {
    try await ToolScene.run { scene in
      try await scene.trust("add", "Phone", try await scene.fingerprint("sender"), state: "Kitchen")
      let receiver = try await scene.receiver(accept: nil, json: false, onTerminal: true, knownTo: [])
      let sender = try scene.start(
        "imagesend", ["--to", "Kitchen", try scene.photo("a.jpg")], state: "sender", onTerminal: true)
      #expect(await receiver.shows(AcceptQuestion.Wording.accept.prompt), "\(receiver.error)")
      #expect(!receiver.error.contains("'once' does not"), "it is remembered already: \(receiver.error)")
      #expect(await sender.shows(FirstContact.prompt), "\(sender.error)")
      sender.type("n\n")
      #expect(await sender.end() == 2, "\(sender.error)")
      #expect(await receiver.shows("no longer waits for your answer"), "\(receiver.error)")
      #expect(!receiver.unbrokenError.contains("were wrong"), "\(receiver.error)")
    }
  }

  @Test("a name that looks like that of a device accepted in the same run is told apart")
  func looksLikeTheFormer() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(
        accept: nil, json: false, onTerminal: true, knownTo: ["mum", "other"])
      for (name, state) in [("Mum", "mum"), ("Мum", "other")] {
        let sender = try scene.sender("--to", "Kitchen", "--name", name, try scene.photo("a.jpg"), state: state)
        #expect(await receiver.shows(question, behind: "\(name) ("), "\(receiver.error)")
        receiver.type("y\n")
        #expect(await sender.end() == 0, "\(sender.error)")
      }
      #expect(receiver.error.contains("), which is not the known 'Mum', not known yet"), "\(receiver.error)")
    }
  }

  @Test("a sender that gives up while the person thinks ends with 5, and the question is taken back")
  func withdrawn() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(accept: "ask", json: false, onTerminal: true)
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "10", try scene.photo("a.jpg"))
      #expect(await receiver.shows(question))
      #expect(await sender.end() == 5, "\(sender.error)")
      #expect(await receiver.shows("no longer waits for your answer"), "\(receiver.error)")
      // And the next invitation is asked about.
      let next = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"))
      #expect(await next.shows("\"code\""))
      let code = try #require(next.events("code").first?["code"] as? String)
      #expect(await receiver.shows(question, behind: code))
      receiver.type("y\n")
      // What is typed at the moment when this question replaces the former one is not its answer, and then the question
      // is shown again. How much later this test types depends on the machine.
      let shownAgain = "y\r\n\r\u{1B}[K\r" + question
      if await receiver.shows(oneOf: [shownAgain, "Connected to"]) == shownAgain { receiver.type("y\n") }
      #expect(await next.end() == 0, "\(next.error)")
    }
  }

  /// A sender that shows the list, and its photo's name. On a busy machine, one that sees a receiver long before the
  /// others takes that one; then another sender has its turn, with another photo.
  private func list(_ scene: ToolScene) async throws -> (ToolProcess, String) {
    for attempt in 1...8 {
      let photo = "\(attempt).jpg"
      let sender = try scene.start("imagesend", [try scene.photo(photo)], state: "sender", onTerminal: true)
      if await sender.shows(oneOf: ["Enter sends", "The only peer in sight"]) == "Enter sends" {
        return (sender, photo)
      }
      sender.terminate()
      #expect(await sender.end() != nil)
    }
    throw POSIXError(.ETIMEDOUT)
  }

  @Test("several in sight on a terminal: the person picks one")
  func picks() async throws {
    try await ToolScene.run { scene in
      for name in ["Attic", "Cellar"] { _ = try await scene.receiver(name: name, knownTo: []) }
      let (sender, photo) = try await list(scene)
      for name in ["Attic", "Cellar"] { #expect(await sender.shows("  \(name)"), "\(sender.error)") }
      sender.type("\u{1B}[B\r")
      #expect(await sender.shows(FirstContact.prompt), "\(sender.error)")
      sender.type("once\n")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try await scene.trust(state: "sender") == "", "once is once")
      #expect(sender.output.contains("stored on"))
      #expect(try scene.received() == [photo])
    }
  }

  @Test("several are marked on a terminal, found by what is typed, and each gets the files")
  func picksSeveral() async throws {
    try await ToolScene.run { scene in
      for name in ["Attic", "Cellar", "Hall"] {
        _ = try await scene.receiver(name: name, into: try scene.folder.folder(name))
      }
      let (sender, photo) = try await list(scene)
      for name in ["Attic", "Cellar", "Hall"] { #expect(await sender.shows("  \(name)"), "\(sender.error)") }
      sender.type("CELL")
      #expect(await sender.shows("Send to: CELL_ (1 of 3)"), "\(sender.error)")
      sender.type(" \u{15}hal ")
      #expect(await sender.shows("Send to 2: hal_ (1 of 3)"), "\(sender.error)")
      sender.type("\r")
      #expect(await sender.end() == 0, "\(sender.error)")
      for (name, isPicked) in [("Attic", false), ("Cellar", true), ("Hall", true)] {
        #expect(try scene.received("\(scene.folder.path)/\(name)").contains(photo) == isPicked)
      }
    }
  }
}
