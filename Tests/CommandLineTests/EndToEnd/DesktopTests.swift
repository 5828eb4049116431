#if Bluetooth
  import Foundation
  import PiconetDBusValues
  import TestSupport
  import Testing

  @testable import PiconetBluetooth
  @testable import PiconetCommandLine

  @Suite(
    "Without a terminal imagerecv asks by the desktop's notifications",
    .enabled(if: PrivateBus.isAvailable, "dbus-daemon is not installed"))
  struct DesktopTests {
    private func receiver(_ scene: ToolScene, _ arguments: String..., bus: PrivateBus) async throws -> ToolProcess {
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let receiver = try scene.start(
        "imagerecv", ["--json", "--name", "Kitchen", "--directory", scene.into] + arguments, state: "Kitchen",
        variables: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
      try #require(await receiver.shows("\"listening\""), "\(receiver.error)")
      return receiver
    }

    @Test("accept lets it in this once; who, what and the code stand there, and the sender shows the same code")
    func accept() async throws {
      let bus = try PrivateBus()
      let desktop = try FakeDesktop(on: bus.address)
      try await ToolScene.run { scene in
        let receiver = try await receiver(scene, bus: bus)
        for name in ["a.jpg", "b.jpg"] {
          let sender = try scene.sender("--to", "Kitchen", "--name", "Phone", try scene.photo(name, size: 50_000))
          let shown = try #require(await desktop.next(), "\(receiver.error)")
          #expect(shown.program == "imagerecv" && shown.summary == "Take files from a device nearby?")
          #expect(shown.actions == ["accept", "Accept", "decline", "Decline"])
          #expect(
            shown.body.contains("not known yet, wants to send 1 file, 50 kB, over tcp. ")
              && shown.body.hasSuffix("\n  \(name)  50 kB"), "\(shown.body)")
          #expect(await sender.shows("\"code\""), "\(sender.error)")
          let code = try #require(sender.events("code").first?["code"] as? String)
          #expect(
            shown.body.hasPrefix("Code: \(code)   The other screen must show the same.\nPhone ("), "\(shown.body)")
          #expect(try !scene.received().contains(name), "nothing comes before the answer")
          desktop.choose("accept", of: shown.id)
          #expect(await sender.end() == 0, "\(sender.error)")
          #expect(try scene.received().contains(name))
          #expect(try await scene.trust(state: "Kitchen") == "", "nobody has said that the codes were compared")
        }
      }
      await desktop.stop()
    }

    @Test("decline refuses it; what is put away is not answered; what others on the bus say counts for nothing")
    func decline() async throws {
      let bus = try PrivateBus()
      let desktop = try FakeDesktop(on: bus.address)
      let impostor = try FakeDesktop(on: bus.address, isImpostor: true)
      try await ToolScene.run { scene in
        let receiver = try await receiver(scene, bus: bus)
        let declined = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
        let first = try #require(await desktop.next(), "\(receiver.error)")
        impostor.choose("accept", of: first.id)
        await impostor.stop()
        // Nor do answers to what was never asked.
        desktop.choose("accept", of: first.id + 1)
        desktop.choose("decline", of: first.id)
        #expect(await declined.end() == 4, "\(declined.error)")
        #expect(await receiver.shows("\"declined\""), "\(receiver.error)")
        #expect(receiver.events("declined").first?["reason"] as? String == "declined")
        let ignored = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"))
        let second = try #require(await desktop.next(), "\(receiver.error)")
        desktop.putAway(second.id)
        let end = await ignored.end()
        #expect(end != nil && end != 0, "\(ignored.error)")
        #expect(try scene.received().isEmpty)
      }
      await desktop.stop()
    }

    @Test("a device that may always send waits for no answer to the question about another")
    func besides() async throws {
      let bus = try PrivateBus()
      let desktop = try FakeDesktop(on: bus.address)
      try await ToolScene.run { scene in
        try await scene.trust("add", "Phone", try await scene.fingerprint("sender"), state: "Kitchen")
        try await scene.trust("allow", "Phone", "push", state: "Kitchen")
        let receiver = try await receiver(scene, bus: bus)
        try scene.introduce("Kitchen", as: "Kitchen", to: "other")
        let stranger = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"), state: "other")
        let question = try #require(await desktop.next(), "\(receiver.error)")
        let known = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"))
        #expect(await known.end() == 0, "\(known.error)")
        #expect(stranger.isRunning)
        desktop.choose("decline", of: question.id)
        #expect(await stranger.end() == 4, "\(stranger.error)")
      }
      await desktop.stop()
    }

    @Test("a question is taken back when the sender goes, and when the receiver ends")
    func withdrawn() async throws {
      let bus = try PrivateBus()
      let desktop = try FakeDesktop(on: bus.address)
      try await ToolScene.run { scene in
        let receiver = try await receiver(scene, bus: bus)
        let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
        let first = try #require(await desktop.next(), "\(receiver.error)")
        sender.send(signal: SIGINT)
        #expect(await desktop.nextTakenBack() == first.id)
        _ = await sender.end()
        let other = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"))
        let second = try #require(await desktop.next(), "\(receiver.error)")
        receiver.send(signal: SIGTERM)
        #expect(await desktop.nextTakenBack() == second.id)
        #expect(await receiver.end() == 143, "\(receiver.error)")
        #expect(await other.end() != 0)
      }
      await desktop.stop()
    }

    @Test(
      "names that are markup or control characters show as text, whether or not the desktop takes markup",
      arguments: [true, false])
    func hostile(takesMarkup: Bool) async throws {
      let bus = try PrivateBus()
      let desktop = try FakeDesktop(
        on: bus.address, capabilities: ["actions"] + (takesMarkup ? ["body-markup"] : []))
      try await ToolScene.run { scene in
        let receiver = try await receiver(scene, bus: bus)
        let name = "<b>\u{202E}Eve</b>&lt;"
        let sender = try scene.sender("--to", "Kitchen", "--name", name, try scene.photo("<img src=x>\u{1B}[2J.jpg"))
        let shown = try #require(await desktop.next(), "\(receiver.error)")
        let hostile = ["<b>", "</b>&lt;", "<img src=x>"]
        for text in hostile {
          #expect(shown.body.contains(text) != takesMarkup, "\(shown.body)")
          #expect(shown.body.contains(DesktopNotification.escaped(text)) == takesMarkup, "\(shown.body)")
        }
        #expect(!shown.body.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{1B}" }, "\(shown.body)")
        desktop.choose("decline", of: shown.id)
        #expect(await sender.end() == 4, "\(sender.error)")
      }
      await desktop.stop()
    }

    @Test("imagerecv lets no stranger in if no program shows notifications, or none that a person can answer")
    func nobody() async throws {
      let bus = try PrivateBus()
      try await ToolScene.run { scene in
        let receiver = try await receiver(scene, bus: bus)
        let first = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
        #expect(await first.end() == 4, "\(first.error)")
        #expect(await receiver.shows("was declined: not known; to let it in, "), "\(receiver.error)")
        #expect(receiver.events("code").isEmpty, "a code that nobody can compare is not used up")
        let mute = try FakeDesktop(on: bus.address, capabilities: ["body"])
        let second = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"))
        #expect(await second.end() == 4, "\(second.error)")
        await mute.stop()
        #expect(try scene.received().isEmpty)
      }
    }

    @Test("a desktop that dies while it asks has not answered; the next one that comes is asked")
    func dies() async throws {
      let bus = try PrivateBus()
      let desktop = try FakeDesktop(on: bus.address)
      try await ToolScene.run { scene in
        let receiver = try await receiver(scene, bus: bus)
        let first = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
        _ = try #require(await desktop.next(), "\(receiver.error)")
        await desktop.stop()
        #expect(await first.end() == 4, "\(first.error)")
        let next = try FakeDesktop(on: bus.address)
        let second = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"))
        let shown = try #require(await next.next(), "\(receiver.error)")
        next.choose("accept", of: shown.id)
        #expect(await second.end() == 0, "\(second.error)")
        await next.stop()
        bus.stop()
        let third = try scene.sender("--to", "Kitchen", try scene.photo("c.jpg"))
        #expect(await third.end() == 4, "\(third.error)")
        #expect(try scene.received() == ["b.jpg"])
        #expect(receiver.isRunning)
      }
    }

    @Test(
      "a notification tells what a sender that left has stored, and opens its folder; the next sender's replaces it"
    )
    func stored() async throws {
      let bus = try PrivateBus()
      let desktop = try FakeDesktop(on: bus.address)
      try await ToolScene.run { scene in
        let receiver = try await receiver(scene, bus: bus)
        var last: UInt32?
        for names in [["a b.jpg", "<i>.jpg"], ["c.jpg"]] {
          let photos = try names.map { try scene.photo($0, size: 50_000) }
          let sender = try scene.start(
            "imagesend", ["--json", "--to", "Kitchen", "--name", "<b>Phone"] + photos, state: "sender")
          let question = try #require(await desktop.next(), "\(receiver.error)")
          desktop.choose("accept", of: question.id)
          #expect(await sender.end() == 0, "\(sender.error)")
          let notice = try #require(await desktop.nextNotice(), "\(receiver.error)")
          let key = try await scene.fingerprint("sender").prefix(12)
          #expect(notice.summary == "\(names.count == 2 ? "2 files" : "1 file") from <b>Phone (\(key))")
          #expect(notice.body == "\(names.count == 2 ? "100" : "50") kB in \(scene.into)")
          let open = names.count == 2 ? "Open the first" : "Open"
          #expect(notice.actions == ["open", open, "folder", "Show in folder"])
          if let last { #expect(await desktop.nextTakenBack() == last) }
          last = notice.id
        }
        desktop.choose("folder", of: try #require(last))
        #expect(await desktop.nextSelected() == ["file://\(scene.into)/c.jpg"])
        #expect(receiver.isRunning)
      }
      await desktop.stop()
    }

    @Test(
      "open opens a photo, or shows it in its folder if no program opens files; a file that is no photo stays shut",
      arguments: [true, false])
    func open(opens: Bool) async throws {
      let bus = try PrivateBus()
      let desktop = try FakeDesktop(on: bus.address, opens: opens)
      try await ToolScene.run { scene in
        let receiver = try await receiver(scene, "--any", bus: bus)
        let other = scene.folder.path + "/a.html"
        try FileManager.default.copyItem(atPath: try scene.photo("a.jpg"), toPath: other)
        for (files, actions) in [
          ([other], ["folder", "Show in folder"]),
          ([try scene.photo("b c.jpg")], ["open", "Open", "folder", "Show in folder"]),
        ] {
          let sender = try scene.start("imagesend", ["--json", "--any", "--to", "Kitchen"] + files, state: "sender")
          let question = try #require(await desktop.next(), "\(receiver.error)")
          desktop.choose("accept", of: question.id)
          #expect(await sender.end() == 0, "\(sender.error)")
          let notice = try #require(await desktop.nextNotice(), "\(receiver.error)")
          #expect(notice.actions == actions)
          desktop.choose("open", of: notice.id)
          if actions.count > 2, opens {
            #expect(await desktop.nextOpened() == scene.into + "/b c.jpg")
          } else {
            let name = actions.count > 2 ? "b%20c.jpg" : "a.html"
            #expect(await desktop.nextSelected() == ["file://\(scene.into)/\(name)"])
          }
        }
      }
      await desktop.stop()
    }

    @Test("with --no-notify, and where only known devices are let in, no desktop is asked")
    func off() async throws {
      let bus = try PrivateBus()
      let desktop = try FakeDesktop(on: bus.address)
      try await ToolScene.run { scene in
        for (option, words) in [("--no-notify", "There is no terminal to ask on"), ("--accept=known", "Receiving as")] {
          let receiver = try await receiver(scene, option, bus: bus)
          #expect(await receiver.shows(words), "\(receiver.error)")
          let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
          #expect(await sender.end() == 4, "\(sender.error)")
          #expect(await receiver.shows("\"declined\""), "\(receiver.error)")
          #expect(receiver.events("declined").first?["reason"] as? String == "not-known")
          receiver.send(signal: SIGTERM)
          #expect(await receiver.end() == 143)
        }
      }
      #expect(desktop.count == 0)
      await desktop.stop()
    }
  }

  @Suite("A notification of the desktop")
  struct DesktopNotificationTests {
    @Test("is what the method Notify takes")
    func arguments() {
      let notification = DesktopNotification(
        program: "p", summary: "s", body: "a < b & c > d", actions: [.init(key: "k", label: "l")])
      let arguments = notification.arguments(markup: true)
      #expect(arguments.map(\.typeSignature).joined() == "susssasa{sv}i")
      #expect(arguments[4].text == "a &lt; b &amp; c &gt; d")
      #expect(arguments[5].texts == ["k", "l"])
      #expect(notification.arguments(markup: false)[4].text == "a < b & c > d")
    }

    @Test("a notification of stored files has their number and folder, and a file manager gets URIs of RFC 8089")
    func stored() {
      var files = StoredFiles(name: "Phone")
      files.add("/a b/\u{E4}<%>.jpg", bytes: 1_000)
      #expect(files.uris == ["file:///a%20b/%C3%A4%3C%25%3E.jpg"])
      #expect(files.summary == "1 file from Phone")
      #expect(files.body { $0.uppercased() } == "1.0 kB in /A B")
      for number in 0..<100 { files.add("/\(number)", bytes: .max) }
      #expect(files.summary == "101 files from Phone" && files.uris.count == StoredFiles.pathLimit)
    }

    @Test("a click on accept lets in once, and one on decline is a no")
    func answers() {
      #expect(DesktopQuestion.Choice.accept.answer == .once)
      #expect(DesktopQuestion.Choice.decline.answer == .no)
      let question = DesktopQuestion(words: ["Phone wants to", "  a.jpg"], code: "123 456")
      #expect(question.body == "Code: 123 456   The other screen must show the same.\nPhone wants to\n  a.jpg")
      let long = DesktopQuestion(words: [String(repeating: "x", count: 300)], code: "123 456").body
      #expect(long.hasSuffix("\n\(String(repeating: "x", count: 159))…"))
    }
  }
#endif
