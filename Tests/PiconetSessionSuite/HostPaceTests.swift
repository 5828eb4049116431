import PiconetEngine
import Synchronization
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite("Nodes of one host at a radio's pace", .timeLimit(.minutes(15)))
  struct HostPaceTests {
    /// Eleven seconds of full packets.
    private static let photo = 3_000_000

    @Test(
      "while one sends a photo another one searches, invites and is invited, and is done before the photo is stored",
      arguments: SuiteTransport.paced)
    func together(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let path = try folder.write("a.bin", randomBytes(Self.photo))
      try await SuiteWorld.run(transport, limit: .seconds(400)) { world in
        try world.goAtRadioPace()
        try await world.host(0, "Photos", "Game") { photos, game in
          try await world.node(1, "Album") { album in
            try await world.node(2, "Rival", { $0.sessionID += "-1" }) { rival in
              let round = Round(world: world, photos: photos, album: album, game: game, rival: rival)
              let member = try await round.meet()
              // What the first round leaves behind in bluetoothd is there for the others.
              _ = try await round.play()
              let photoAlone = try await round.send(path, to: member, into: try folder.folder("alone"))
              let gameAlone = try await round.play()
              let order = Mutex<[String]>([])
              let started = Mutex(false)
              async let photoBeside = {
                let duration = try await round.send(path, to: member, into: try folder.folder("beside")) {
                  started.withLock { $0 = true }
                }
                order.withLock { $0.append("stored") }
                return duration
              }()
              try await world.until("the photo is on its way") { started.withLock { $0 } }
              let gameBeside = try await round.play()
              order.withLock { $0.append("played") }
              let photo = try await photoBeside
              #expect(order.withLock { $0 } == ["played", "stored"])
              print("photo: \(photoAlone) alone, \(photo) beside the game, \(photo / photoAlone)")
              print("game: \(gameAlone) alone, \(gameBeside) beside the photo, \(gameBeside.whole / gameAlone.whole)")
            }
          }
        }
      }
    }
  }

  /// How long a game took, and of that how long its searches and its invitations.
  private struct Played: CustomStringConvertible {
    var whole = Duration.zero
    var searches: [Duration] = []
    var invitations: [Duration] = []

    var description: String { "\(whole) (searches \(searches), invitations \(invitations))" }
  }

  /// Four nodes, two of them of one host, and what they do.
  private struct Round: Sendable {
    let world: SuiteWorld
    let photos: Node
    let album: Node
    let game: Node
    let rival: Node
    private let clock = ContinuousClock()

    init(world: SuiteWorld, photos: Node, album: Node, game: Node, rival: Node) {
      (self.world, self.photos, self.album, self.game, self.rival) = (world, photos, album, game, rival)
    }

    func meet() async throws -> Member {
      try await album.setAvailable(true)
      let addresses = try await world.addresses(of: album)
      async let accepted = album.invitations.first()?.accept()
      let member = try await photos.invite(at: addresses, timeout: world.transport.patience)
      _ = try #require(try await accepted)
      return member
    }

    /// - Parameter started: called once bytes of it have come.
    func send(
      _ path: String, to member: Member, into folder: String, _ started: @escaping @Sendable () -> Void = {}
    ) async throws -> Duration {
      let start = clock.now
      async let offered = album.session.offers.first()
      let sending = try await member.startSending(.file(path))
      let offer = try #require(await offered)
      let watching = Task {
        for await progress in offer.changes where progress.stored > 0 { return started() }
      }
      let stored = try await offer.store(in: album.receivingDirectory(at: folder))
      await watching.value
      #expect(try await sending.result.digest == stored.digest)
      return clock.now - start
    }

    /// Both nodes appear, each finds another node and invites it, and both are gone again.
    func play() async throws -> Played {
      let start = clock.now
      var played = Played()
      try await rival.setAvailable(true)
      try await game.setAvailable(true)
      var since = clock.now
      func taken() -> Duration {
        defer { since = clock.now }
        return clock.now - since
      }
      for (inviter, invited) in [(game, rival), (rival, game)] {
        let peer = try #require(await world.sees(inviter, invited))
        played.searches.append(taken())
        async let accepted = invited.invitations.first()?.accept()
        let member = try await inviter.invite(peer, timeout: world.transport.patience)
        let other = try #require(try await accepted)
        played.invitations.append(taken())
        await member.disconnect()
        try await world.until("it has left") { !invited.session.members.contains(other) }
        since = clock.now
      }
      played.whole = clock.now - start
      try await game.setAvailable(false)
      try await rival.setAvailable(false)
      return played
    }
  }
}
