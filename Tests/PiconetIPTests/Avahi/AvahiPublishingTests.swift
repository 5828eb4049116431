#if Bluetooth
  import PiconetDBusValues
  import PiconetDNSSD
  import Testing

  @testable import PiconetAvahi

  @Suite("Publishing through Avahi")
  struct AvahiPublishingTests {
    private let ipv4 = ResponderErrand(families: [false], services: [1: AvahiScene.service()])

    @Test("only the family whose port Avahi has is published there, on all interfaces, and proven before it is told")
    func publishes() throws {
      var scene = AvahiScene()
      scene.tell(.errand(ipv4))
      #expect(scene.connections == 1 && scene.calls.isEmpty)
      scene.avahiComes()
      let path = scene.newPath()
      scene.answer("EntryGroupNew", [.path(path)])
      #expect(scene.members() == ["AddService", "Commit"])
      let entry = try #require(scene.calls.first)
      #expect(
        entry.arguments == [
          .int32(-1), .int32(0), .uint32(32), .string("Anna (3f2a9c)"), .string("_piconet._tcp"), .string("local"),
          .string(""), .uint16(4000), .array(of: "ay", [.bytes(Array("v=1".utf8)), .bytes(Array("n=A".utf8))]),
        ])
      #expect(entry.path == path)
      scene.answer("AddService")
      scene.answer("Commit")
      scene.groupState(1, path)
      #expect(scene.labels.isEmpty)
      scene.groupState(2, path)
      #expect(scene.labels.isEmpty)
      scene.answer("ResolveService")
      #expect(scene.labels == ["Anna (3f2a9c)"])
      #expect(scene.statuses == [.serving(lacking: [:])])
      #expect(scene.machine.nextDeadline == nil)
    }

    @Test("chosen interfaces have an entry each, for one family or both, and no more than Avahi takes")
    func interfaces() {
      var scene = AvahiScene()
      var errand = ipv4
      errand.families = [false, true]
      errand.interfaces = [3, 2]
      scene.tell(.errand(errand))
      scene.avahiComes()
      scene.answer("EntryGroupNew", [.path("/g")])
      let places = scene.calls.filter { $0.member == "AddService" }.map { Array($0.arguments.prefix(2)) }
      #expect(places == [[.int32(2), .int32(-1)], [.int32(3), .int32(-1)]])
      errand.families = [true]
      errand.interfaces = Set(1...100)
      #expect(AvahiPlace.all(of: errand).allSatisfy { $0.proto == 1 })
      #expect(AvahiPlace.all(of: errand).count == 32)
      errand.interfaces = []
      scene.tell(.errand(errand))
      #expect(scene.machine.publications.isEmpty && scene.calls.last?.member == "Free")
    }

    @Test("Avahi gets a new text as an update; a new port or name means new entries")
    func changes() {
      var scene = AvahiScene()
      scene.tell(.errand(ipv4))
      scene.avahiComes()
      let path = scene.takeEntries()
      var errand = ipv4
      errand.services[1] = AvahiScene.service(text: "v=2")
      scene.tell(.errand(errand))
      #expect(scene.members() == ["UpdateServiceTxt"])
      #expect(scene.calls[0].arguments[6] == .array(of: "ay", [.bytes(Array("v=2".utf8)), .bytes(Array("n=A".utf8))]))
      scene.answer("UpdateServiceTxt")
      errand.services[1] = AvahiScene.service(port: 4001, text: "v=2")
      scene.tell(.errand(errand))
      #expect(scene.members() == ["Reset", "AddService", "Commit"])
      scene.answer("Reset")
      scene.finishEntries(path)
      errand.services[1] = AvahiScene.service("Berta", port: 4001, text: "v=2")
      scene.tell(.errand(errand))
      #expect(scene.members() == ["Reset", "AddService", "Commit"])
      scene.answer("Reset")
      scene.finishEntries(path)
      #expect(scene.labels.last == "Berta")
    }

    @Test("a name that belongs to another host is changed, by error or signal; repeated changes have pauses")
    func collisions() {
      var scene = AvahiScene()
      scene.tell(.errand(ipv4))
      scene.avahiComes()
      let path = scene.newPath()
      scene.answer("EntryGroupNew", [.path(path)])
      scene.refuse("AddService", AvahiNames.collision)
      // The answers to the first entries no longer count.
      scene.refuse("Commit", "org.freedesktop.Avahi.BadStateError")
      #expect(scene.calls.first { $0.member == "AddService" }?.arguments[3] == .string("Anna (3f2a9c) (2)"))
      scene.answer("Reset")
      scene.finishEntries(path, established: false)
      scene.groupState(3, path)
      #expect(scene.calls.first { $0.member == "AddService" }?.arguments[3] == .string("Anna (3f2a9c) (3)"))
      scene.answer("Reset")
      scene.finishEntries(path)
      #expect(scene.labels == ["Anna (3f2a9c) (3)"])
      scene.groupState(3, path)
      scene.answer("Reset")
      scene.finishEntries(path, established: false)
      scene.groupState(3, path)
      #expect(!scene.members().contains("AddService"))
      scene.pass(.seconds(11))
      #expect(scene.calls.first { $0.member == "AddService" }?.arguments[3] == .string("Anna (3f2a9c) (5)"))
    }

    @Test("once Avahi is back everything is published again, and answers of its former life change nothing")
    func restart() throws {
      var scene = AvahiScene()
      scene.tell(.errand(ipv4))
      scene.avahiComes()
      scene.answer("EntryGroupNew", [.path("/g1")])
      let late = try #require(scene.calls.first { $0.member == "Commit" })
      scene.finishEntries("/g1")
      scene.tell(.owner(nil))
      #expect(scene.labels == ["Anna (3f2a9c)", nil] && scene.statuses.last == .trying)
      scene.pass(.seconds(4))
      #expect(scene.statuses.last == .failing(.notOnBus))
      #expect(scene.isConnected && scene.machine.nextDeadline == nil)
      scene.avahiComes(":1.9")
      scene.tell(.answer(late, .failure(DBusFailure(AvahiNames.collision))))
      scene.takeEntries()
      #expect(scene.labels == ["Anna (3f2a9c)", nil, "Anna (3f2a9c)"])
      #expect(scene.statuses.last == .serving(lacking: [:]))
    }

    @Test("while Avahi looks for a name of its own it has none of our services, and afterwards all")
    func serverCollision() {
      var scene = AvahiScene()
      scene.tell(.errand(ipv4))
      scene.avahiComes()
      let path = scene.takeEntries()
      let server = { (state: Int32) in
        AvahiFact.signal(
          path: "/", interface: AvahiNames.server, member: "StateChanged", arguments: [.int32(state), .string("")])
      }
      scene.tell(server(3))
      #expect(scene.members() == ["Reset"] && scene.labels.last == .some(nil))
      scene.tell(server(1))
      scene.tell(server(2))
      scene.answer("Reset")
      scene.finishEntries(path)
      #expect(scene.labels.last == "Anna (3f2a9c)" && scene.statuses == [.serving(lacking: [:])])
    }

    @Test("a bus that can't be reached, one that is silent, and a silent Avahi each end an attempt, and others follow")
    func noBus() {
      var scene = AvahiScene()
      scene.tell(.errand(ipv4))
      scene.tell(.busFailed(DBusFailure(DBusFailure.disconnected, "No such file\u{1B}")))
      #expect(scene.statuses == [.failing(.noBus("No such file\u{FFFD}"))] && !scene.isConnected)
      scene.pass(.seconds(29))
      #expect(!scene.isConnected)
      scene.passUntilConnected()
      scene.pass(.seconds(4))
      #expect(scene.statuses.last == .failing(.silent) && !scene.isConnected)
      scene.passUntilConnected()
      scene.tell(.owner(":1.5"))
      scene.pass(.seconds(4))
      #expect(scene.statuses.last == .failing(.silent) && !scene.isConnected)
      scene.passUntilConnected()
      scene.tell(.owner(nil))
      #expect(scene.statuses.last == .failing(.notOnBus) && scene.isConnected && scene.connections == 4)
      scene.avahiComes()
      scene.takeEntries()
      #expect(scene.statuses.last == .serving(lacking: [:]))
    }

    @Test("refusals by Avahi, and a family that it does not serve, are reported and tried again")
    func lacking() {
      var scene = AvahiScene()
      var errand = ipv4
      errand.families = [false, true]
      scene.tell(.errand(errand))
      scene.avahiComes()
      scene.refuse("EntryGroupNew", "org.freedesktop.Avahi.NotPermittedError", "no")
      #expect(scene.statuses.last == .serving(lacking: [false: .refused("no"), true: .refused("no")]))
      scene.pass(.seconds(31))
      let path = scene.takeEntries(established: false)
      scene.groupState(2, path)
      scene.answer("ResolveService")
      #expect(scene.statuses.last == .serving(lacking: [true: .refused("no")]))
      scene.refuse("ResolveService", AvahiNames.timeout)
      #expect(scene.statuses.last == .serving(lacking: [true: .unpublished]))
      scene.pass(.seconds(31))
      #expect(scene.members() == ["ResolveService"])
      scene.answer("ResolveService")
      #expect(scene.statuses.last == .serving(lacking: [:]))
    }

    @Test("an unwanted entry group is freed, also if it comes late; at the end nothing is left")
    func withdraws() {
      var scene = AvahiScene()
      var errand = ipv4
      errand.services[2] = AvahiScene.service("Other")
      scene.tell(.errand(errand))
      scene.avahiComes()
      let path = scene.newPath()
      scene.answer("EntryGroupNew", [.path(path)])
      errand.services = [3: AvahiScene.service("Third")]
      scene.tell(.errand(errand))
      #expect(scene.calls.last { $0.member == "Free" }?.path == path)
      scene.answer("EntryGroupNew", [.path("/late")])
      #expect(scene.calls.last { $0.member == "Free" }?.path == "/late")
      scene.tell(.errand(ResponderErrand()))
      #expect(!scene.isConnected && scene.machine.nextDeadline == nil && scene.machine.publications.isEmpty)
      scene.tell(.errand(errand))
      #expect(scene.isConnected)
    }
  }
#endif
