import Foundation
import Piconet
import TestSupport
import Testing

@Suite("The article about invitations and trust", .timeLimit(.minutes(15)))
struct InvitationsAndTrustTests {
  /// Anna invites Ben, whose program answers; both ask their persons, who say what `says` does.
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
      await players.server.stop()
      await answering.value
    }
    return (questions.all, error)
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

  @Test("devices of a company let each other in, and nobody else")
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

  /// A key and a certificate in PEM, of its own or issued by that authority.
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

  @Test("after a no nobody is a member, nobody is remembered, and the question comes again")
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

  @Test("a typed code lets in who has it, and nobody else")
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

  @Test("names lose their control characters")
  func printableNames() {
    #expect(printable("A\u{1B}[31m\u{202E}n\nna") == "A[31mnna")
  }

  @Test("who accepts knows what the inviter proposes, before and after, and has proposed nothing itself")
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
