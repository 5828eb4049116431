import Foundation
import Piconet
import PiconetTLS
import PiconetWire
import Synchronization
import TestSupport
import Testing

@Suite("Members that are introduced to one another", .timeLimit(.minutes(15)))
struct IntroductionTests {
  /// Ada, who has Ben and Cleo as members, while they have only her. They see one another.
  private func run(
    ada: (inout NodeConfiguration) -> Void = { _ in }, ben: (inout NodeConfiguration) -> Void = { _ in },
    cleo: (inout NodeConfiguration) -> Void = { _ in },
    _ body: (_ ada: Node, _ ben: Node, _ cleo: Node) async throws -> Void
  ) async throws {
    let session = UUID().uuidString
    func configuration(_ name: String, _ change: (inout NodeConfiguration) -> Void = { _ in }) -> NodeConfiguration {
      var configuration = NodeConfiguration(sessionID: session, name: name)
      configuration.interfaces = ["lo"]
      configuration.listen = "127.0.0.1:0"
      change(&configuration)
      return configuration
    }
    try await Node.run(configuration("Ada", ada)) { ada in
      try await Node.run(configuration("Ben", ben)) { ben in
        try await Node.run(configuration("Cleo", cleo)) { cleo in
          for node in [ben, cleo] {
            try await node.setAvailable(true)
            async let accepted = node.invitations.first()?.accept()
            let address = try #require(await node.listeningAddresses.first).text
            _ = try await ada.invite(at: address)
            _ = try await accepted
          }
          try await body(ada, ben, cleo)
        }
      }
    }
  }

  /// Why two are not introduced.
  private func refusal(
    by node: Node, of one: Member, _ other: Member, _ timeout: Duration = .seconds(30)
  ) async -> PiconetError? {
    do throws(PiconetError) {
      try await node.session.introduce(one, to: other, timeout: timeout)
      return nil
    } catch { return error }
  }

  private func members(of node: Node, _ others: Node...) throws -> [Member] {
    try others.map { try #require(node.session[$0.id]) }
  }

  @Test("both are asked, both accept, and each is a member of the other on the word of the third")
  func both() async throws {
    try await run { ada, ben, cleo in
      async let cleoOnBen = ben.session.introductions.first()
      async let benOnCleo = cleo.session.introductions.first()
      let two = try members(of: ada, ben, cleo)
      async let introduced: Void = ada.session.introduce(two[0], to: two[1])
      let (toBen, toCleo) = try await (#require(cleoOnBen), #require(benOnCleo))
      #expect(toBen.peer == cleo.id && toBen.name == "Cleo" && toBen.introducer.id == ada.id)
      #expect(toCleo.peer == ben.id && toCleo.name == "Ben" && toCleo.introducer.id == ada.id)
      async let there = toBen.accept()
      let here = try await toCleo.accept()
      #expect(try await there.id == cleo.id && here.id == ben.id)
      #expect(try await there.proven.introducedBy == ada.id && here.proven.introducedBy == ada.id)
      #expect(!here.proven.isKnown && here.proven.shortCode == nil && here.proven.invitationContext == [])
      try await introduced
      try await here.send([7])
      #expect(await ben.session.messages.first()?.bytes == [7])
      // Once more is no work.
      try await ada.session.introduce(two[0], to: two[1])
    }
  }

  @Test("a node that takes members' word is not asked, and its program sees no invitation")
  func takesWord() async throws {
    try await run(
      ben: { $0.introductions = .takeWord }, cleo: { $0.introductions = .takeWord }
    ) { ada, ben, cleo in
      let asked = Task { await cleo.invitations.first() == nil }
      let two = try members(of: ada, ben, cleo)
      try await ada.session.introduce(two[0], to: two[1])
      #expect(ben.session[cleo.id]?.proven.introducedBy == ada.id)
      #expect(cleo.session[ben.id]?.proven.introducedBy == ada.id)
      #expect(cleo.session[ben.id]?.confirmation == .introduced(by: ada.id))
      #expect(two.allSatisfy { $0.confirmation == .none })
      asked.cancel()
      #expect(await asked.value)
    }
  }

  /// What each of two nodes whose members are known by word alone says when it is to compare a code.
  private func compare(
    ben: @escaping @Sendable (String) async -> Bool, cleo: @escaping @Sendable (String) async -> Bool,
    _ body: (_ ben: Node, _ cleo: Node) async throws -> Void
  ) async throws {
    try await run(
      ben: {
        $0.introductions = .takeWord
        $0.compare = { _, code in await ben(code) }
      },
      cleo: {
        $0.introductions = .takeWord
        $0.compare = { _, code in await cleo(code) }
      }
    ) { ada, ben, cleo in
      let two = try members(of: ada, ben, cleo)
      try await ada.session.introduce(two[0], to: two[1])
      #expect(await failure { try await two[0].compareCodes() }?.code == .notSupported)
      try await body(ben, cleo)
    }
  }

  @Test("members by word alone compare a code: both screens show the same, and both are confirmed")
  func comparedLater() async throws {
    let codes = Mutex<[String]>([])
    try await compare(
      ben: { code in
        codes.withLock { $0.append(code) }; return true
      },
      cleo: { code in
        codes.withLock { $0.append(code) }; return true
      }
    ) { ben, cleo in
      let (there, here) = try (#require(ben.session[cleo.id]), #require(cleo.session[ben.id]))
      async let told = ben.session.comparisons.first()
      // Both at once is one comparison.
      async let asked: Void = there.compareCodes()
      try await here.compareCodes()
      try await asked
      let end = try #require(await told)
      #expect(end.member == there && end.failure == nil)
      #expect(there.confirmation == .comparedCode && here.confirmation == .comparedCode)
      let shown = codes.withLock { $0 }
      #expect(shown.count == 2 && Set(shown).count == 1 && shown.allSatisfy { $0.count == 7 })
      #expect(there.proven.introducedBy != nil && there.proven.confirmation != .comparedCode)
    }
  }

  @Test("a no of either, or a question that is taken back, confirms neither, and both learn why", arguments: [0, 1, 2])
  func comparedInVain(refuser: Int) async throws {
    let (shown, showing) = AsyncStream<Void>.makeStream()
    let (bensAnswer, cleosAnswer) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    try await compare(
      ben: { _ in
        showing.yield()
        if refuser == 2 { for await _ in bensAnswer.stream {} }
        return refuser != 0
      },
      cleo: { _ in
        if refuser == 2 { for await _ in cleosAnswer.stream {} }
        return refuser != 1
      }
    ) { ben, cleo in
      let (there, here) = try (#require(ben.session[cleo.id]), #require(cleo.session[ben.id]))
      if refuser == 2 {
        let asking = Task { await failure { try await here.compareCodes() } }
        let limited = await failure { try await there.compareCodes(timeout: .seconds(301)) }
        #expect(limited?.code == .limitExceeded)
        for await _ in shown { break }
        asking.cancel()
        #expect(await asking.value?.code == .cancelled)
      } else {
        #expect(await failure { try await here.compareCodes() }?.code == .codeMismatch)
      }
      // The node that says no has the code on the screen. The other one may learn of it before.
      let (node, member) = refuser == 1 ? (cleo, here) : (ben, there)
      let end = try #require(await node.session.comparisons.first())
      #expect(end.member == member && end.failure?.code == (refuser == 2 ? .cancelled : .codeMismatch))
      #expect(there.confirmation != .comparedCode && here.confirmation != .comparedCode)
    }
  }

  @Test("a node that hides and goes on searching still becomes a member of the introduced one")
  func hidden() async throws {
    try await run(
      ben: { $0.introductions = .takeWord }, cleo: { $0.introductions = .takeWord }
    ) { ada, ben, cleo in
      // It goes on searching, so it is the one that dials.
      try await cleo.setMode(.client)
      let two = try members(of: ada, ben, cleo)
      try await ada.session.introduce(two[0], to: two[1])
      #expect(cleo.session[ben.id] != nil && ben.session[cleo.id] != nil)
    }
  }

  @Test("the error names the node that declines; the other one's question ends with the same error")
  func declined() async throws {
    try await run { ada, ben, cleo in
      async let cleoOnBen = ben.session.introductions.first()
      async let benOnCleo = cleo.session.introductions.first()
      let two = try members(of: ada, ben, cleo)
      let introducing = Task { await refusal(by: ada, of: two[0], two[1]) }
      let (toBen, toCleo) = try await (#require(cleoOnBen), #require(benOnCleo))
      await toBen.decline()
      let error = await introducing.value
      #expect(
        error?.code == .declined && error?.peer == ben.id && error?.blame == .peer, "\(String(describing: error))")
      #expect(error?.removedBy == nil)
      #expect(await toCleo.ended()?.code == .declined)
      #expect(await failure { try await toCleo.accept() }?.code == .declined)
      #expect(await failure { try await toBen.accept() }?.code == .declined)
      #expect(ben.session[cleo.id] == nil && cleo.session[ben.id] == nil)
    }
  }

  @Test("a remembered no also answers another member that introduces the node; any other no is asked for again")
  func declinedOnce() async throws {
    for isRemembered in [true, false] { try await declinedTwice(isRemembered) }
  }

  private func declinedTwice(_ isRemembered: Bool) async throws {
    try await run { ada, ben, cleo in
      let asked = Task { () -> Int in
        var count = 0
        for await introduction in ben.session.introductions {
          count += 1
          await introduction.decline(remembering: isRemembered)
        }
        return count
      }
      let two = try members(of: ada, ben, cleo)
      for _ in 0..<2 {
        let error = await refusal(by: ada, of: two[0], two[1])
        #expect(error?.code == .declined && error?.peer == ben.id, "\(String(describing: error))")
      }
      await ben.stop()
      #expect(await asked.value == (isRemembered ? 1 : 2))
    }
  }

  @Test(
    "one whose name looks like that of a known device of another key is refused, whatever becomes of introductions",
    arguments: [IntroductionPolicy.ask, .show, .takeWord], ["Cleo", "cleo", "CIeo", "Cleo (000000000000)"])
  func lookalike(_ policy: IntroductionPolicy, _ name: String) async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let storage = IdentityStorage.directory(folder.path + "/state")
    let other = try #require(PeerID(bytes: Array(repeating: 7, count: 32)))
    try storage.changeTrust { known throws(StateFailure) in
      try known.take(other, name: "Cleo", at: 1, confirmed: .code, rights: [])
    }
    try await run(
      ben: {
        $0.identity = storage
        $0.introductions = policy
      },
      cleo: {
        $0.name = name
        $0.introductions = .takeWord
      }
    ) { ada, ben, cleo in
      let asked = Task { await ben.session.introductions.first() }
      let two = try members(of: ada, ben, cleo)
      let error = await refusal(by: ada, of: two[0], two[1])
      #expect(error?.code == .declined && error?.peer == ben.id, "\(String(describing: error))")
      asked.cancel()
      #expect(await asked.value == nil)
    }
  }

  @Test("if one of two refuses the other, the member between them is told, and so is the one that wanted the other")
  func told() async throws {
    func takesWord(_ configuration: inout NodeConfiguration) { configuration.introductions = .takeWord }
    try await run(ben: takesWord, cleo: { $0.introductions = .refuse }) { ada, ben, cleo in
      let two = try members(of: ada, ben, cleo)
      #expect(await refusal(by: ada, of: two[0], two[1])?.code == .declined)
      let apart = await ben.session.separations.first()
      #expect(apart?.members == [ben.id, cleo.id] && apart?.standing == .refused, "\(String(describing: apart))")
      #expect(apart?.error.code == .declined, "\(String(describing: apart))")
    }
  }

  @Test("a node that refuses introductions asks no user")
  func refused() async throws {
    try await run(ben: { $0.introductions = .refuse }) { ada, ben, cleo in
      let two = try members(of: ada, ben, cleo)
      let error = await refusal(by: ada, of: two[0], two[1])
      #expect(error?.code == .declined && error?.peer == ben.id, "\(String(describing: error))")
    }
  }

  @Test("an unanswered introduction times out, and the programs' questions are taken back")
  func unanswered() async throws {
    try await run { ada, ben, cleo in
      let asked = Task { await ben.session.introductions.first() }
      let two = try members(of: ada, ben, cleo)
      let error = await refusal(by: ada, of: two[0], two[1], .milliseconds(500))
      #expect(error?.code == .timedOut, "\(String(describing: error))")
      // On a busy machine it may be over before the program looks. Then there is nothing to look at.
      asked.cancel()
      if let introduction = await asked.value { #expect(await introduction.ended()?.code == .timedOut) }
    }
  }

  @Test("a removed node is not introduced again")
  func removed() async throws {
    try await run(
      ada: { $0.removals = .members }, ben: { $0.introductions = .takeWord }, cleo: { $0.introductions = .takeWord }
    ) { ada, ben, cleo in
      let two = try members(of: ada, ben, cleo)
      try await ada.session.introduce(two[0], to: two[1])
      let onBen = try #require(ben.session[cleo.id])
      try await ben.session.remove(onBen)
      // Ada disconnects it by Ben's wish, and invites it anew.
      for await change in ada.session.membership {
        if case .left(let member, _) = change, member.id == cleo.id { break }
      }
      async let accepted = cleo.invitations.first()?.accept()
      let again = try await ada.invite(at: #require(await cleo.listeningAddresses.first).text)
      _ = try await accepted
      let error = await refusal(by: ada, of: two[0], again)
      #expect(error?.code == .removed && error?.peer == ben.id, "\(String(describing: error))")
    }
  }

  @Test("only members are introduced, for a time within the limits")
  func rules() async throws {
    try await run { ada, ben, cleo in
      let two = try members(of: ada, ben, cleo)
      #expect(await refusal(by: ada, of: two[0], two[0])?.code == .notConnected)
      for timeout in [Duration.zero, .seconds(301)] {
        let error = await refusal(by: ada, of: two[0], two[1], timeout)
        #expect(error?.code == .limitExceeded && error?.detail.contains("300 s") == true)
      }
      await two[0].disconnect()
      #expect(await refusal(by: ada, of: two[0], two[1])?.code == .notConnected)
    }
  }

  // MARK: - Groups

  private static func group(_ configuration: inout NodeConfiguration) {
    configuration.membership = .group
    configuration.introductions = .takeWord
  }

  @Test("in a group who joins one joins all, without a word of the program")
  func group() async throws {
    try await run(ada: Self.group, ben: Self.group, cleo: Self.group) { ada, ben, cleo in
      for (node, other) in [(ben, cleo), (cleo, ben)] where node.session[other.id] == nil {
        for await case .joined(let member) in node.session.membership where member.id == other.id { break }
      }
      #expect(ben.session[cleo.id]?.proven.introducedBy == ada.id)
      #expect(cleo.session[ben.id]?.proven.introducedBy == ada.id)
    }
  }

  @Test("a member that is in no group is not introduced; one that refuses introductions is told of as apart")
  func notAll() async throws {
    try await run(
      ada: Self.group, ben: Self.group,
      cleo: {
        Self.group(&$0)
        $0.introductions = .refuse
      }
    ) { ada, ben, cleo in
      let apart = await ada.session.separations.first()
      #expect(apart?.members == [ben.id, cleo.id] && apart?.standing == .refused)
      #expect(apart?.error.code == .declined && apart?.error.peer == cleo.id, "\(String(describing: apart))")
      #expect(ben.session[cleo.id] == nil)
    }
    try await run(ada: Self.group, ben: Self.group) { ada, ben, cleo in
      // A node would ask about an introduction. A ping arrives after all frames sent before it.
      _ = try await ada.session.ping(try members(of: ada, cleo)[0])
      _ = try await ada.session.ping(try members(of: ada, ben)[0])
      #expect(ben.session[cleo.id] == nil && cleo.session[ben.id] == nil)
    }
  }
}
