import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("Stopped, resized and hung up at a terminal")
struct JobControlTests {
  private let settings = "stty -a"

  @Test("after Ctrl-Z and fg a question is shown again with its code, and answered; the terminal is as before")
  func question() async throws {
    try await ToolScene.run { scene in
      let shell = try await scene.shell(state: "Kitchen")
      let before = await shell.run(settings)
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      shell.type("imagerecv $session --name Kitchen --directory \(scene.into) --count 1\n")
      #expect(await shell.shows("listening on"), "\(shell.text)")
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await shell.shows(AcceptQuestion.Wording.acceptFiles.prompt), "\(shell.text)")
      #expect(await sender.shows("\"code\""))
      let code = try #require(sender.events("code").first?["code"] as? String)
      shell.type("\u{1A}")
      #expect(await shell.isStopped(), "\(shell.text)")
      #expect(await shell.run(settings) == before)
      shell.resize(columns: 60)
      shell.type("fg\n")
      #expect(await shell.shows("Accept? [y/a/s/o/n/d]: "), "\(shell.text)")
      #expect(shell.text.contains("Code: \(code)"), "\(shell.text)")
      shell.resize(columns: 250)
      shell.type("y\n")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await shell.shows("ready> "), "\(shell.text)")
      #expect(await shell.run("echo status=$?") == "status=0")
      #expect(await shell.run(settings) == before)
    }
  }

  @Test("after Ctrl-Z and fg the list of peers is shown again; the terminal is as before, then and at the end")
  func list() async throws {
    try await ToolScene.run { scene in
      for name in ["Attic", "Cellar"] { _ = try await scene.receiver(name: name) }
      let shell = try await scene.shell(state: "sender")
      let before = await shell.run(settings)
      let photo = try scene.photo("a.jpg")
      // One that sees a receiver long before the other takes that one: on a busy machine it is tried again.
      var isList = false
      for _ in 0..<8 where !isList {
        shell.type("imagesend $session \(photo)\n")
        #expect(await shell.shows(photo))
        isList = await shell.shows("Enter sends", or: "ready> ")
      }
      try #require(isList, "\(shell.text)")
      shell.type("\u{1A}")
      #expect(await shell.isStopped(), "\(shell.text)")
      #expect(shell.text.contains("\u{1B}[?25h\u{1B}[?1049l"), "\(shell.text)")
      #expect(await shell.run(settings) == before)
      shell.resize(columns: 40)
      shell.type("fg\n")
      #expect(await shell.shows("Esc leaves"), "\(shell.text)")
      shell.type("\u{3}")
      #expect(await shell.shows("ready> "), "\(shell.text)")
      #expect(await shell.run("echo status=$?") == "status=130")
      shell.resize(columns: 250)
      #expect(await shell.run(settings) == before)
    }
  }

  @Test("after Ctrl-Z and fg of either side a transfer goes on", arguments: ["sender", "receiver"])
  func transfer(side: String) async throws {
    try await ToolScene.run { scene in
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let receiver = try await scene.shell(state: "Kitchen")
      let sender = try await scene.shell(state: "sender")
      let stopped = side == "sender" ? sender : receiver
      var photos: [String] = []
      var isStopped = false
      // On a busy machine the transfer may be over before the key is typed: then another one is stopped.
      while !isStopped, photos.count < 8 {
        photos.append("\(photos.count).jpg")
        let photo = try scene.sparse(photos[photos.count - 1], size: 400 << 20)
        receiver.type("imagerecv $session --name Kitchen --directory \(scene.into) --accept all --count 1\n")
        #expect(await receiver.shows("listening on"), "\(receiver.text)")
        sender.type("imagesend $session --to Kitchen \(photo)\n")
        #expect(await stopped.shows("% of 419 MB"), "\(stopped.text)")
        stopped.press("\u{1A}")
        isStopped = await stopped.shows("Stopped", or: "ready> ")
        if !isStopped { for shell in [sender, receiver] { #expect(await shell.shows("ready> "), "\(shell.text)") } }
      }
      try #require(isStopped, "\(stopped.text)")
      #expect(await stopped.shows("ready> "), "\(stopped.text)")
      stopped.resize(columns: 40)
      #expect(await stopped.run("echo here") == "here")
      stopped.resize(columns: 250)
      stopped.type("fg\n")
      for shell in [sender, receiver] {
        #expect(await shell.shows("ready> "), "\(shell.text)")
        #expect(await shell.run("echo status=$?") == "status=0")
      }
      #expect(try scene.received() == photos)
    }
  }

  @Test(
    "a receiver whose terminal is closed while it asks has said nothing: the sender is not told that it was declined")
  func closedWhileAsking() async throws {
    try await ToolScene.run { scene in
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let shell = try await scene.shell(state: "Kitchen")
      shell.type("imagerecv $session --name Kitchen --directory \(scene.into)\n")
      #expect(await shell.shows("listening on"), "\(shell.text)")
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "5", try scene.photo("a.jpg"))
      #expect(await shell.shows(AcceptQuestion.Wording.acceptFiles.prompt), "\(shell.text)")
      #expect(await shell.hangUp())
      #expect(await sender.end() == 4, "\(sender.error)")
      #expect(sender.error.contains("the other side has cancelled it"), "\(sender.error)")
      let history = try scene.start("imagerecv", ["--history"], state: "Kitchen")
      #expect(await history.end() == 0)
      #expect(!history.output.contains("you said no"), "\(history.output)")
    }
  }

  @Test("a sender whose terminal is closed while it asks, lists or sends is gone, and the receiver takes the next one")
  func closedSender() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(knownTo: ["sender", "next"])
      _ = try await scene.receiver(name: "Attic", into: try scene.folder.folder("attic"), knownTo: [])
      let photo = try scene.sparse("a.jpg", size: 400 << 20)
      for (words, sign) in [
        ("--to Attic", "Send? "), ("--to Nobody", "Looking for"), ("--to Kitchen", "% of 419 MB"),
      ] {
        let shell = try await scene.shell(state: "sender")
        shell.type("imagesend $session \(words) \(photo)\n")
        #expect(await shell.shows(sign), "\(shell.text)")
        #expect(await shell.hangUp(), "\(words)")
      }
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"), state: "next")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(receiver.isRunning)
    }
  }

  @Test(
    "a sender that asks ends by SIGHUP when its terminal is closed, although the signal itself comes late or never",
    arguments: ["list", "codes", "typed code"])
  func closedAheadOfTheSignal(question: String) async throws {
    try await ToolScene.run { scene in
      let hasCode = question == "typed code"
      _ = try await scene.receiver(
        hasCode ? ["--code=12345678"] : [], name: "Attic", accept: hasCode ? nil : "all", knownTo: [])
      if question == "list" { _ = try await scene.receiver(name: "Cellar", knownTo: []) }
      let (words, sign) =
        switch question {
        case "list": ("", "Enter sends")
        case "codes": ("--to Attic", "Send? ")
        default: ("--to Attic --code", CodeQuestion.prompt)
        }
      let shell = try await scene.shell(state: "sender")
      let (photo, status) = (try scene.photo("a.jpg"), scene.folder.path + "/status")
      // One that sees a receiver long before the other takes that one: on a busy machine it is tried again.
      var isAsking = false
      for _ in 0..<8 where !isAsking {
        shell.typeSheltered("imagesend $session \(words) \(photo)", status: status)
        #expect(await shell.shows(photo))
        isAsking = await shell.shows(sign, or: "ready> ")
      }
      try #require(isAsking, "\(shell.text)")
      #expect(await shell.hangUp())
      #expect(try String(contentsOfFile: status, encoding: .utf8).split(separator: "\n").last == "129")
    }
  }

  @Test("a receiver whose terminal is closed asks no more, and ends by SIGHUP once that comes; what it has is kept")
  func receiverAheadOfTheSignal() async throws {
    try await ToolScene.run { scene in
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let (photo, status) = (try scene.sparse("a.jpg", size: 400 << 20), scene.folder.path + "/status")
      for accept in ["ask", "all"] {
        let shell = try await scene.shell(state: "Kitchen")
        shell.typeSheltered(
          "imagerecv $session --name Kitchen --directory \(scene.into) --accept \(accept)", status: status)
        #expect(await shell.shows("listening on"), "\(shell.text)")
        let sender = try scene.sender("--to", "Kitchen", "--timeout", "5", photo)
        if accept == "ask" {
          #expect(await shell.shows(AcceptQuestion.Wording.acceptFiles.prompt), "\(shell.text)")
        } else {
          try await waitForPart(in: scene)
        }
        shell.close()
        // The end of the input is seen, and the signal has not come.
        if accept == "ask" { #expect(await sender.end() == 4, "\(sender.error)") }
        let receiver = try #require(pid_t(try String(contentsOfFile: status, encoding: .utf8).dropLast()))
        kill(receiver, SIGHUP)
        #expect(await shell.hasEnded())
        #expect(try String(contentsOfFile: status, encoding: .utf8).split(separator: "\n").last == "129")
        if accept == "all" {
          #expect(await sender.end() == 5, "\(sender.error)")
          let kept = try scene.received()
          #expect(kept.contains { $0.hasPrefix(".piconet-resume-") && $0.hasSuffix(".part") }, "\(kept)")
        }
      }
    }
  }

  /// Waits until more of a file has come than is thrown away.
  private func waitForPart(in scene: ToolScene) async throws {
    let end = ContinuousClock.now + ToolProcess.patience
    while true {
      try #require(.now < end, "nothing comes")
      var status = stat()
      let parts = try scene.received().filter { $0.hasSuffix(".part") }
      if parts.contains(where: { stat("\(scene.into)/\($0)", &status) == 0 && status.st_size > 8 << 20 }) { return }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  @Test(
    "a sender whose terminal is closed while it asks leaves in good order, and is not told to have found other codes")
  func closedWhileBothAsk() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(accept: nil, json: false, onTerminal: true, knownTo: [])
      let shell = try await scene.shell(state: "sender")
      shell.type("imagesend $session --to Kitchen \(try scene.photo("a.jpg"))\n")
      #expect(await shell.shows("Send? "), "\(shell.text)")
      #expect(await receiver.shows(AcceptQuestion.Wording.accept.prompt), "\(receiver.error)")
      #expect(await shell.hangUp())
      #expect(await receiver.shows("no longer waits for your answer: "), "\(receiver.error)")
      for words in ["codes differ, or", "connection was lost"] {
        #expect(!receiver.unbrokenError.contains(words), "\(receiver.error)")
      }
    }
  }

  @Test(
    "a receiver whose terminal is closed in mid-file is gone, and a sender that waits sends the rest to the next one")
  func closedReceiver() async throws {
    try await ToolScene.run { scene in
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let photo = try scene.sparse("a.jpg", size: 400 << 20)
      let shell = try await scene.shell(state: "Kitchen")
      shell.type("imagerecv $session --name Kitchen --directory \(scene.into) --accept all\n")
      #expect(await shell.shows("listening on"), "\(shell.text)")
      let sender = try scene.sender("--wait", "--to", "Kitchen", photo)
      #expect(await shell.shows("% of 419 MB"), "\(shell.text)")
      #expect(await shell.hangUp())
      _ = try await scene.receiver("--count", "1")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try scene.received() == ["a.jpg"])
    }
  }
}
