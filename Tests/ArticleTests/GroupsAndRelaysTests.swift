import Foundation
import Piconet
import TestSupport
import Testing

@Suite("The article about groups and relays", .timeLimit(.minutes(15)))
struct GroupsAndRelaysTests {
  /// A node that others can invite, which meets those of this session alone.
  private func run(
    _ configuration: NodeConfiguration, _ session: String, _ body: (Node) async throws -> Void
  ) async throws {
    try await Node.run(Players.keep(configuration, session: session, .peer)) { node in
      try await node.setAvailable(true)
      try await body(node)
    }
  }

  /// Waits until each of the two has the other as a member.
  private func untilMembers(_ one: Node, _ other: Node) async {
    for (node, other) in [(one, other), (other, one)] where node.session[other.id] == nil {
      for await case .joined(let member) in node.session.membership where member.id == other.id { break }
    }
  }

  @Test("two members of a third become each other's if they take its word; another member's word is declined")
  func broughtTogether() async throws {
    let session = UUID().uuidString
    func pairs(_ name: String) -> NodeConfiguration { NodeConfiguration(sessionID: "", name: name) }
    try await run(pairs("Anna"), session) { anna in
      try await run(pairs("Ben"), session) { ben in
        try await run(pairs("Cleo"), session) { cleo in
          for other in [ben, cleo] {
            let address = try #require(await other.listeningAddresses.first).text
            async let invited = anna.invite(at: address)
            for await invitation in other.invitations.prefix(1) { _ = try await invitation.accept() }
            _ = try await invited
          }
          let host = try #require(cleo.session[anna.id])
          let newcomer = try #require(anna.session[cleo.id])
          let cleos = Task { await followIntroductions(of: host, in: cleo.session) }
          // Ben takes no member's word.
          let bens = Task { await followIntroductions(of: host, in: ben.session) }
          let refusals = await introduce(newcomer, in: anna.session)
          #expect(refusals.map(\.code) == [.declined] && refusals.first?.peer == ben.id)
          bens.cancel()
          await bens.value
          let others = Task {
            try await followIntroductions(of: #require(ben.session[anna.id]), in: ben.session)
          }
          #expect(await introduce(newcomer, in: anna.session).isEmpty)
          #expect(ben.session[cleo.id]?.proven.introducedBy == anna.id)
          #expect(cleo.session[ben.id]?.proven.introducedBy == anna.id)
          for task in [cleos] { task.cancel() }
          others.cancel()
        }
      }
    }
  }

  @Test("in a group the third member invites only one, and has both")
  func groups() async throws {
    let session = UUID().uuidString
    try await run(groupConfiguration(name: "Anna"), session) { anna in
      let address = try #require(await anna.listeningAddresses.first).text
      let accepting = Task { await acceptEverybody(on: anna) }
      defer { accepting.cancel() }
      try await run(groupConfiguration(name: "Ben"), session) { ben in
        _ = try await ben.invite(at: address)
        try await run(groupConfiguration(name: "Cleo"), session) { cleo in
          _ = try await cleo.invite(at: address)
          await untilMembers(ben, cleo)
          #expect(cleo.session.members.map(\.name) == ["Anna", "Ben"])
        }
      }
    }
  }

  @Test("every member is told which member another one declines, with both names")
  func apart() async throws {
    let session = UUID().uuidString
    var refusing = groupConfiguration(name: "Ben")
    refusing.introductions = .refuse
    try await run(groupConfiguration(name: "Anna"), session) { anna in
      let address = try #require(await anna.listeningAddresses.first).text
      let told = Told()
      let following = Task { await followSeparations(of: anna) { told.add($0) } }
      let accepting = Task { await acceptEverybody(on: anna) }
      try await run(refusing, session) { ben in
        _ = try await ben.invite(at: address)
        try await run(groupConfiguration(name: "Cleo"), session) { cleo in
          _ = try await cleo.invite(at: address)
          await told.until("Ben and Cleo do not want each other (declined)")
        }
      }
      for task in [following, accepting] {
        task.cancel()
        await task.value
      }
    }
  }

  @Test("two members without a common transport reach each other over the third, and each is told so by name")
  func relayed() async throws {
    let session = UUID().uuidString
    // No node discovers an address of this very device, and members tell one another of none.
    func undiscovered(_ configuration: NodeConfiguration) -> NodeConfiguration {
      var configuration = configuration
      configuration.discovers = false
      return configuration
    }
    try await run(undiscovered(relayConfiguration(name: "Anna")), session) { anna in
      let address = try #require(await anna.listeningAddresses.first).text
      let accepting = Task { await acceptEverybody(on: anna) }
      try await run(undiscovered(relayedConfiguration(name: "Ben")), session) { ben in
        _ = try await ben.invite(at: address)
        try await run(undiscovered(relayedConfiguration(name: "Cleo")), session) { cleo in
          let direct = try await cleo.invite(at: address)
          #expect(way(to: direct, of: cleo) == "directly")
          await untilMembers(ben, cleo)
          for (node, other) in [(ben, cleo), (cleo, ben)] {
            #expect(way(to: try #require(node.session[other.id]), of: node) == "over Anna")
          }
        }
      }
      accepting.cancel()
      await accepting.value
    }
  }

  @Test("members that came by one's word compare the same code, at the wish of either, and are confirmed on both sides")
  func compares() async throws {
    let session = UUID().uuidString
    let questions = Told()
    func asking(_ name: String) -> NodeConfiguration {
      comparingConfiguration(name: name) { question in
        questions.add(question)
        return true
      }
    }
    try await run(asking("Anna"), session) { anna in
      let address = try #require(await anna.listeningAddresses.first).text
      let accepting = Task { await acceptEverybody(on: anna) }
      try await run(asking("Ben"), session) { ben in
        _ = try await ben.invite(at: address)
        try await run(asking("Cleo"), session) { cleo in
          _ = try await cleo.invite(at: address)
          await untilMembers(ben, cleo)
          let (bens, cleos) = (try #require(cleo.session[ben.id]), try #require(ben.session[cleo.id]))
          #expect(bens.confirmation == .introduced(by: anna.id) && cleos.confirmation == .introduced(by: anna.id))
          try await confirm(bens)
          for await comparison in ben.session.comparisons.prefix(1) { #expect(comparison.failure == nil) }
          #expect(bens.confirmation == .comparedCode && cleos.confirmation == .comparedCode)
          // There is nothing left to ask.
          try await confirm(cleos)
          let codes = questions.all.compactMap { $0.firstMatch(of: /[0-9]{3} [0-9]{3}/)?.output }
          #expect(codes.count == 2 && Set(codes).count == 1, "\(questions.all)")
          #expect(questions.all.contains { $0.contains("Ben") } && questions.all.contains { $0.contains("Cleo") })
        }
      }
      accepting.cancel()
      await accepting.value
    }
  }
}
