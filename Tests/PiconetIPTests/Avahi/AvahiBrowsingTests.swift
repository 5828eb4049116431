#if Bluetooth
  import PiconetDBusValues
  import PiconetDNSSD
  import Testing

  @testable import PiconetAvahi

  @Suite("Browsing through Avahi")
  struct AvahiBrowsingTests {
    private let errand = ResponderErrand(families: [false], searches: true)

    private func browsing(_ errand: ResponderErrand? = nil) -> AvahiScene {
      var scene = AvahiScene()
      scene.tell(.errand(errand ?? self.errand))
      scene.avahiComes()
      scene.answer("ServiceBrowserNew", [.path("/b")])
      return scene
    }

    @Test("an instance is resolved on its interface, told with what is changed, and freed when it is gone")
    func finds() throws {
      var scene = browsing()
      scene.item("Berta's phone", browser: "/b")
      let call = try #require(scene.calls.first)
      #expect(
        call.arguments == [
          .int32(2), .int32(0), .string("Berta's phone"), .string("_piconet._tcp"), .string("local"), .int32(0),
          .uint32(0),
        ])
      scene.answer("ServiceResolverNew", [.path("/r")])
      scene.resolved("/r")
      let found = try #require(scene.found.first)
      #expect(found.label == Array("Berta's phone".utf8))
      // Avahi tells the strings in reverse.
      #expect(found.text == [Array("v=1".utf8), Array("n=B".utf8)])
      #expect(
        found.endpoints == [
          .init(interface: InterfaceID(index: 2, isIPv6: false), address: .v4(0x0A00_0007), port: 4000)
        ])
      scene.resolved("/r", AvahiScene.finding(port: 4001))
      #expect(scene.found.last?.endpoints.first?.port == 4001)
      scene.item("Berta's phone", browser: "/b", member: "ItemRemove")
      guard case .browsed(.removed(let name))? = scene.reports.last else {
        Issue.record("not removed")
        return
      }
      #expect(name == found.name && scene.resolvers.isEmpty)
    }

    @Test("this host is the origin of what its programs publish, and of nothing else")
    func local() {
      var scene = browsing()
      scene.item("near", isLocal: true, browser: "/b")
      scene.item("far", browser: "/b")
      scene.resolveAll { _ in AvahiScene.finding("10.0.0.1") }
      #expect(scene.found.map { $0.endpoints.first?.origin } == [.v4(0x0A00_0001), nil])
    }

    @Test("one name on two interfaces is one instance, with the texts of both")
    func severalInterfaces() {
      var scene = browsing()
      scene.item("x", on: 2, browser: "/b")
      scene.item("x", on: 3, browser: "/b")
      var count: UInt8 = 0
      scene.resolveAll { _ in
        count += 1
        return AvahiScene.finding(text: [[count]])
      }
      #expect(scene.found.last?.endpoints.map(\.interface.index) == [2, 3])
      #expect(scene.found.last?.text == [[1]] && scene.found.last?.otherTexts == [[[2]]])
    }

    @Test("items that can't be ours are not resolved, and findings that can't be used are not told")
    func hostile() {
      var scene = browsing()
      scene.item("", browser: "/b")
      scene.item(String(repeating: "x", count: 64), browser: "/b")
      scene.item("x", on: 0, browser: "/b")
      scene.item("x", on: -1, browser: "/b")
      scene.item("x", proto: 1, browser: "/b")
      scene.item("x", type: "_other._tcp", browser: "/b")
      scene.item("x", domain: "example.org", browser: "/b")
      scene.item("x", browser: "/other")
      for arguments in [[], [.string("x")], Array(repeating: DBusValue.bool(true), count: 6)] as [[DBusValue]] {
        scene.tell(
          .signal(path: "/b", interface: AvahiNames.browser, member: "ItemNew", arguments: arguments))
        scene.tell(.signal(path: "/r", interface: AvahiNames.resolver, member: "Found", arguments: arguments))
      }
      #expect(scene.calls.isEmpty)
      let long = [UInt8](repeating: 0x78, count: 256)
      let bad: [[DBusValue]] = [
        AvahiScene.finding("", port: 4000), AvahiScene.finding("name.local"), AvahiScene.finding("10.0.0.7/8"),
        AvahiScene.finding(port: 22), AvahiScene.finding(port: 0), AvahiScene.finding(text: [long]),
        AvahiScene.finding(text: Array(repeating: Array(long.prefix(255)), count: 100)),
        Array(AvahiScene.finding().dropLast()), [],
      ]
      for (number, arguments) in bad.enumerated() {
        scene.item("bad \(number)", browser: "/b")
        scene.resolveAll { _ in arguments }
      }
      #expect(scene.found.isEmpty && scene.resolvers.isEmpty)
      // Labels and texts are bytes to us, whatever they look like.
      scene.item("a\\.b\\032\u{7}\u{202E}", browser: "/b")
      scene.resolveAll { _ in AvahiScene.finding(text: [[0xFF, 0xFE, 0x00], []]) }
      #expect(scene.found.count == 1 && scene.found[0].text == [[], [0xFF, 0xFE, 0x00]])
    }

    @Test("interfaces that were not chosen don't count, and a family is browsed as long as it is taken")
    func chosen() {
      var only = errand
      only.interfaces = [3]
      var scene = browsing(only)
      scene.item("x", on: 2, browser: "/b")
      #expect(scene.calls.isEmpty)
      scene.item("y", on: 3, browser: "/b")
      scene.resolveAll { _ in AvahiScene.finding() }
      #expect(scene.found.count == 1)
      only.families = [true]
      scene.tell(.errand(only))
      #expect(scene.calls.contains { $0.member == "Free" && $0.path == "/b" })
      #expect(scene.calls.first { $0.member == "ServiceBrowserNew" }?.arguments[1] == .int32(1))
      #expect(scene.machine.instances.knownCount == 0 && scene.resolvers.isEmpty)
    }

    @Test("an Avahi that does not let us browse is reported, and browsing is tried again")
    func refused() {
      var scene = AvahiScene()
      scene.tell(.errand(errand))
      scene.avahiComes()
      scene.refuse("ServiceBrowserNew", DBusFailure.accessDenied, "Rejected send message")
      #expect(scene.statuses.last == .failing(.refused("access denied")) && !scene.isConnected)
      scene.passUntilConnected()
      #expect(scene.connections == 2)
    }

    @Test("2,000 instances of one neighbour get no more than the places, and a peer that comes last is found")
    func flood() {
      var scene = browsing()
      for number in 0..<2000 {
        scene.item("flood \(number)", browser: "/b")
        #expect(scene.calls.count { $0.member == "ServiceResolverNew" } <= AvahiInstances.resolvingLimit)
      }
      scene.item("honest", browser: "/b")
      let answer = { (name: String) in AvahiScene.finding(name == "honest" ? "10.0.0.9" : "10.0.0.66") }
      scene.resolveAll(answer)
      #expect(scene.found.contains { $0.label == Array("honest".utf8) })
      #expect(scene.machine.instances.placeCount == AvahiInstances.placeLimit)
      for _ in 0..<300 {
        scene.pass(.seconds(1))
        scene.resolveAll(answer)
        #expect(scene.resolvers.count <= AvahiInstances.placeLimit + AvahiInstances.resolvingLimit)
      }
      let last = scene.reports.last { report in
        switch report {
        case .browsed(.resolved(let one)), .browsed(.updated(let one)): one.label == Array("honest".utf8)
        case .browsed(.removed(let name)): name.firstLabel == Array("honest".utf8)
        default: false
        }
      }
      if case .browsed(.removed)? = last { Issue.record("the flood has taken the peer's place") }
    }

    @Test("instances that are never resolved hold up no newcomer, and ever new ones keep none waiting for ever")
    func unresolvable() {
      var scene = browsing()
      func add(_ name: String) {
        scene.now += .microseconds(1)
        scene.item(name, browser: "/b")
      }
      for number in 0..<3000 { add("dead \(number)") }
      add("newcomer")
      var seconds: [String: Int] = [:]
      for second in 0..<300 {
        // More in each second than are taken as the newest, for a minute.
        if second < 60 { for number in 0..<40 { add("more \(second) \(number)") } }
        if second == 10 { add("late") }
        if second == 10 { for number in 0..<40 { add("last \(number)") } }
        scene.resolveAll { name in
          guard ["newcomer", "late"].contains(name) else { return nil }
          seconds[name] = second
          return AvahiScene.finding()
        }
        scene.pass(.seconds(1))
      }
      #expect(seconds["newcomer"] ?? .max <= 120 && seconds["late"] != nil, "\(seconds)")
      #expect(scene.found.count >= 2)
      #expect(scene.resolvers.count <= AvahiInstances.resolvingLimit + 2)
    }

    @Test("no more are known than the bound, however many come")
    func bound() {
      var scene = browsing()
      for number in 0..<(AvahiInstances.knownLimit + 100) { scene.item("\(number)", browser: "/b") }
      #expect(scene.machine.instances.knownCount == AvahiInstances.knownLimit)
      scene.tell(.errand(ResponderErrand()))
      #expect(scene.machine.instances.knownCount == 0)
    }
  }
#endif
