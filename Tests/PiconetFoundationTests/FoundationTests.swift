import PiconetFoundation
import Testing

@Suite("Foundation's types", .timeLimit(.minutes(15)))
struct FoundationTests {
  /// Two nodes that are connected over 127.0.0.1.
  private func connected(_ body: (_ toReceiver: Member, _ receiver: Node) async throws -> Void) async throws {
    func configuration(_ name: String) -> NodeConfiguration {
      var configuration = NodeConfiguration(sessionID: "foundation", name: name)
      configuration.transports = [.tcp]
      configuration.listen = "127.0.0.1:0"
      configuration.discovers = false
      return configuration
    }
    try await Node.run(configuration("receiver")) { receiver in
      try await receiver.setAvailable(true)
      let addresses = await receiver.listeningAddresses
      try await Node.run(configuration("sender")) { sender in
        async let accepted = first(receiver.invitations)?.accept()
        let member = try await sender.invite(at: addresses)
        _ = try await accepted
        try await body(member, receiver)
      }
    }
  }

  private func first<Sequence: AsyncSequence>(_ sequence: Sequence) async -> Sequence.Element?
  where Sequence.Failure == Never {
    for await element in sequence { return element }
    return nil
  }

  @Test("data goes as a message, in a stream and as a resource, and comes as data")
  func data() async throws {
    try await connected { member, receiver in
      let data = Data("Hello".utf8)
      try await member.send(data)
      #expect(await first(receiver.session.messages)?.data == data)
      let stream = try await member.openStream(named: "a")
      try await stream.write(data)
      #expect(try await first(receiver.session.streams)?.read(upTo: 5).map { Data($0) } == data)
      async let received = first(receiver.session.offers)?.read(upTo: 5)
      _ = try await member.send(.bytes(data, named: "greeting"))
      #expect(try await received?.data == data)
    }
  }

  @Test("what an error says of itself is its localized description, too")
  func localizedDescription() {
    let error: any Error = PiconetError(.full, blame: .peer, detail: "two play")
    #expect(error.localizedDescription == "\(error)" && error.localizedDescription.contains("two play"))
  }

  @Test("a file goes from URL to URL, with the date of its last change and its progress")
  func files() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "piconet-\(UUID())", directoryHint: .isDirectory)
    let target = folder.appending(path: "in", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // With characters that a URL escapes.
    let source = folder.appending(path: "ein Bild ü.bin", directoryHint: .notDirectory)
    let content = Data(repeating: 7, count: 300_000)
    try content.write(to: source)
    let date = Date(timeIntervalSince1970: 1_234_567_890.5)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: source.path)
    try await connected { member, receiver in
      let directory = try await receiver.receivingDirectory(at: target)
      let sending = try await member.startSending(.contents(of: source))
      let progress = sending.makeProgress()
      #expect(progress.totalUnitCount == 300_000 && progress.completedUnitCount == 0)
      let offer = try #require(await first(receiver.session.offers))
      #expect(offer.modificationDate == date)
      let stored = try await offer.store(in: directory)
      #expect(stored.url.lastPathComponent == "ein Bild ü.bin" && stored.url.isFileURL)
      #expect(try Data(contentsOf: stored.url) == content)
      _ = try await sending.result
      while !progress.isFinished { await Task.yield() }
      #expect(progress.fractionCompleted == 1)
    }
  }

  @Test("a progress that is cancelled, paused or resumed does that to its transfer, on either side")
  func control() async throws {
    try await connected { member, receiver in
      let sending = try await member.startSending(.bytes(Data(repeating: 7, count: 5_000_000), named: "a"))
      let progress = sending.makeProgress()
      // Foundation calls its handlers on a queue of its own.
      progress.pause()
      for await change in sending.changes where change.isPaused { break }
      progress.resume()
      for await change in sending.changes where !change.isPaused { break }
      let offer = try #require(await first(receiver.session.offers))
      sending.pause()
      let receiving = try await offer.startReading(upTo: .max)
      receiving.makeProgress().cancel()
      await #expect(throws: PiconetError.self) { try await receiving.result }
      let error = await #expect(throws: PiconetError.self) { try await sending.result }
      #expect(error?.code == .cancelled)
    }
  }

  @Test("a URL that is neither a file nor of the web is refused with the rule, and so is one that is no directory")
  func otherURLs() async throws {
    let url = try #require(URL(string: "ftp://example.org/a"))
    let error = #expect(throws: PiconetError.self) { try Resource.contents(of: url) }
    #expect(error?.code == .invalidArgument && error?.detail.contains("file, http or https") == true)
    #expect(try Resource.contents(of: #require(URL(string: "HTTPS://example.org/map.png"))).name == nil)
    try await connected { _, receiver in
      await #expect(throws: PiconetError.self) { try await receiver.receivingDirectory(at: url) }
    }
  }

  @Test("when a peer was taken is a date")
  func dates() throws {
    let id = try #require(PeerID(hexadecimal: String(repeating: "0", count: 64)))
    let peer = KnownPeer(id: id, name: "Anna", since: 1_000_000_000, confirmation: .code)
    #expect(peer.sinceDate == Date(timeIntervalSince1970: 1_000_000_000))
  }
}
