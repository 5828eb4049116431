import Foundation
import Piconet
import TestSupport
import Testing

@Suite("The article about invitations and trust", .timeLimit(.minutes(15)))
struct InvitationsAndTrustTests {
  /// Anna invites Ben, whose program answers. Both ask their users, who answer `says`.
  private func meet(in folder: TemporaryFolder, session: String, says: Bool = true) async throws -> (
    questions: [String], error: PiconetError?
  ) {
    let questions = Told()
    let ask: @Sendable (String) async -> Bool = {
      questions.add($0)
      return says
    }
    let ben = letterConfiguration(name: "Ben", folder: folder.path + "/ben", ask: ask)
    let anna = letterConfiguration(name: "Anna", folder: folder.path + "/anna", ask: ask)
    var error: PiconetError?
    try await Players.run(ben, anna, session: session) { players in
      let answering = Task { await answerInvitations(of: players.server, ask: ask) }
      let peer = try await players.serverInSight()
      error = await failure { try await invite(peer, from: players.client) { questions.add($0) } }
      // Ben's program hears a moment later that it is admitted, and then remembers the confirmed device.
      while try error == nil && !remembers("anna", in: folder.path + "/ben") { await Task.yield() }
      await players.server.stop()
      await answering.value
    }
    return (questions.all, error)
  }

  private func remembers(_ name: String, in state: String) throws -> Bool {
    let fingerprint = try IdentityStorage.directory(state + "/../" + name).fingerprint()
    return try IdentityStorage.directory(state).knownPeers().contains { $0.id == fingerprint }
  }

  @Test("at the first meeting both persons are asked with the same code, and never again")
  func firstMeeting() async throws {
    let folder = try TemporaryFolder()
    let session = UUID().uuidString
    let first = try await meet(in: folder, session: session)
    #expect(first.error == nil)
    let codes = first.questions.compactMap { $0.firstMatch(of: /[0-9]{3} [0-9]{3}/)?.output }
    #expect(first.questions.count == 2 && codes.count == 2 && Set(codes).count == 1, "\(first.questions)")
    #expect(first.questions.contains { $0.contains("Anna") } && first.questions.contains { $0.contains("Ben") })
    let second = try await meet(in: folder, session: session)
    #expect(second.error == nil && second.questions.isEmpty, "\(second.questions)")
  }

  @Test("two members of a third are not each other's, until all accept and invite one another")
  func everybodyWithEverybody() async throws {
    let session = UUID().uuidString
    func run(_ name: String, _ body: (Node) async throws -> Void) async throws {
      try await Node.run(Players.keep(NodeConfiguration(sessionID: "", name: name), session: session, .peer)) { node in
        try await body(node)
      }
    }
    try await run("Anna") { anna in
      try await run("Ben") { ben in
        try await run("Cleo") { cleo in
          for node in [anna, ben, cleo] { try await node.setAvailable(true) }
          for other in [ben, cleo] {
            let address = try #require(await other.listeningAddresses.first).text
            async let invited = anna.invite(at: address)
            for await invitation in other.invitations.prefix(1) { _ = try await invitation.accept() }
            _ = try await invited
          }
          #expect(anna.session.members.map(\.name) == ["Ben", "Cleo"])
          #expect(ben.session.members.map(\.name) == ["Anna"] && cleo.session.members.map(\.name) == ["Anna"])
          let meeting = [anna, ben, cleo].map { node in Task { await meetEverybody(on: node) } }
          for (node, other) in [(ben, "Cleo"), (cleo, "Ben")] {
            for await case .joined(let member) in node.session.membership where member.name == other { break }
          }
          for task in meeting { task.cancel() }
          for task in meeting { await task.value }
          #expect(ben.session.members.map(\.name) == ["Anna", "Cleo"])
        }
      }
    }
  }

  @Test("a device that has forgotten us asks its person alone, and ours sees the code")
  func forgotten() async throws {
    let folder = try TemporaryFolder()
    let session = UUID().uuidString
    #expect(try await meet(in: folder, session: session).error == nil)
    let anna = try IdentityStorage.directory(folder.path + "/anna").fingerprint()
    try IdentityStorage.directory(folder.path + "/ben").changeTrust { known throws(StateFailure) in
      try known.forget(anna)
    }
    let meeting = try await meet(in: folder, session: session)
    #expect(meeting.error == nil)
    let codes = meeting.questions.compactMap { $0.firstMatch(of: /[0-9]{3} [0-9]{3}/)?.output }
    #expect(codes.count == 2 && Set(codes).count == 1, "\(meeting.questions)")
    #expect(
      meeting.questions.contains { $0.contains("Ben compares") }
        && meeting.questions.contains { $0.contains("Anna wants") })
    #expect(try await meet(in: folder, session: session).questions.isEmpty)
  }

  @Test("devices of a company let each other in, and no other device")
  func company() async throws {
    let folder = try TemporaryFolder()
    let authority = try certify("ca", in: folder)
    let (anna, ben) = (try certify("anna", by: "ca", in: folder), try certify("ben", by: "ca", in: folder))
    let server = try companyConfiguration(name: "Anna", identity: anna, authorities: authority)
    let client = try companyConfiguration(name: "Ben", identity: ben, authorities: authority)
    try await Players.run(server, client) { players in
      async let accepted = players.server.invitations.first { _ in true }?.accept()
      let member = try await players.client.invite(try await players.serverInSight())
      let onServer = try #require(try await accepted)
      #expect(member.proven.certificates.count == 1 && onServer.proven.certificates.count == 1)
      #expect(member.proven.certificates != onServer.proven.certificates)
    }
    try await Players.run(server) { players in
      let peer = try await players.serverInSight()
      #expect(await failure { _ = try await players.client.invite(peer) } != nil)
      #expect(players.server.session.members.isEmpty)
    }
  }

  /// A key and a certificate in PEM, self-signed or issued by that authority.
  private func certify(_ name: String, by authority: String? = nil, in folder: TemporaryFolder) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.arguments =
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)"]
      + ["-keyout", "\(name).key", "-out", "\(name).pem", "-days", "2"]
      + (authority.map { ["-CA", "\($0).pem", "-CAkey", "\($0).key", "-addext", "basicConstraints=CA:FALSE"] } ?? [])
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return try TemporaryFolder.bytes(folder.path + "/\(name).key") + TemporaryFolder.bytes(folder.path + "/\(name).pem")
  }

  @Test("after a no neither device is a member or remembered, and the question comes again")
  func refusal() async throws {
    let folder = try TemporaryFolder()
    let session = UUID().uuidString
    for _ in 0..<2 {
      let meeting = try await meet(in: folder, session: session, says: false)
      #expect([.declined, .codeMismatch].contains(meeting.error?.code), "\(String(describing: meeting.error))")
      #expect(!meeting.questions.isEmpty)
    }
    #expect(try IdentityStorage.directory(folder.path + "/ben").knownPeers().isEmpty)
  }

  @Test("a guest that is expected comes to a node that hides, where it was told")
  func guest() async throws {
    try await Players.run { players in
      try await players.server.setAvailable(false)
      #expect(await players.server.listeningAddresses.isEmpty)
      let addresses = try await awaitGuest(players.client.id.peer, on: players.server)
      async let accepted = players.server.invitations.first { _ in true }?.accept()
      #expect(try await players.client.invite(at: addresses).id == players.server.id)
      #expect(try await accepted?.id == players.client.id)
    }
  }

  @Test("a typed code lets in the device that has it, and no other")
  func typedCode() async throws {
    try await Players.run { players in
      let code = try await showNewCode(of: players.server)
      let peer = try await players.serverInSight()
      let none = await failure { try await invite(peer, typed: "12", from: players.client) }
      #expect(none?.code == .invalidArgument)
      let member = try await invite(peer, typed: code, from: players.client)
      #expect(member.proven.hasProvenCode)
      await member.disconnect()
      let wrong = await failure { try await invite(peer, typed: "1234567", from: players.client) }
      #expect(wrong?.code == .wrongCode)
    }
  }

  @Test("a pinned program talks to the device with the fingerprint, and to no other")
  func pinned() async throws {
    let folder = try TemporaryFolder()
    let friend = try IdentityStorage.directory(folder.path + "/friend").fingerprint()
    let configuration = pinnedConfiguration(
      name: "Server", folder: folder.path + "/server", fingerprints: ["\(friend)"])
    var client = NodeConfiguration(sessionID: "", name: "Client")
    client.identity = .directory(folder.path + "/friend")
    try await Players.run(configuration, client) { _ = try await $0.connect() }
    client.identity = .ephemeral
    try await Players.run(configuration, client) { players in
      let peer = try await players.serverInSight()
      #expect(await failure { try await players.client.invite(peer) }?.code == .identity)
    }
  }

  @Test("a program that asks no person lets in every device that comes, until its task is cancelled")
  func everybody() async throws {
    try await Players.run { players in
      let accepting = Task { await acceptEverybody(on: players.server) }
      for _ in 0..<2 {
        let member = try await players.client.invite(players.serverInSight())
        await member.disconnect()
      }
      accepting.cancel()
      await accepting.value
    }
  }

  @Test("names lose their control characters")
  func printableNames() {
    #expect(printable("A\u{1B}[31m\u{202E}n\nna") == "A[31mnna")
  }

  @Test("the accepting node knows what the inviter proposes, before and after, and has proposed nothing itself")
  func proposal() async throws {
    try await Players.run { players in
      async let accepted: Member? = {
        for await invitation in players.server.invitations {
          #expect(invitation.context == Array("chess".utf8))
          return try await invitation.accept()
        }
        return nil
      }()
      let (_, theirs) = try await join(players.serverInSight(), from: players.client, proposing: "chess")
      #expect(theirs == nil)
      #expect(try await accepted?.proven.invitationContext == Array("chess".utf8))
    }
  }
}
