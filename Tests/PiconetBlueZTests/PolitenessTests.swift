import PiconetDBusValues
import PiconetEngine
import PiconetSDP
import Testing

@testable import PiconetBlueZ

@Suite("The adapter is left as it was found")
struct PolitenessTests {
  @Test("timeout before mode, a record, an advertisement; the other way round at the end")
  func orderOfSteps() {
    var scene = Scene()
    scene.start()
    #expect(
      scene.log == [
        "GetManagedObjects", "RegisterProfile", "Set DiscoverableTimeout uint32(61)", "Set Discoverable bool(true)",
        "RegisterAdvertisement",
      ])
    #expect(scene.machine.isAdvertising)
    scene.log = []
    scene.tell(.shutDown)
    scene.answerAll()
    #expect(
      scene.log == [
        "UnregisterAdvertisement", "Set Discoverable bool(false)", "Set DiscoverableTimeout uint32(180)",
        "UnregisterProfile",
      ])
    #expect(scene.ends == 1)
    #expect(scene.machine.nextDeadline == nil)
  }

  @Test("the mode is renewed before it ends, and ends without a renewal")
  func renewal() {
    var scene = Scene()
    scene.start()
    for _ in 0..<40 {
      scene.pass(.seconds(10))
      #expect(scene.daemon.adapters[Daemon.path]?.isDiscoverable == true)
    }
    // As after the death of the program: only the daemon goes on.
    _ = scene.daemon.expire(at: scene.now + .seconds(62))
    #expect(scene.daemon.adapters[Daemon.path]?.isDiscoverable == false)
  }

  @Test("a mode that a killed node or another one has set is not taken for the user's choice")
  func modeOfAnother() {
    var scene = Scene()
    scene.daemon.adapters[Daemon.path]?.timeout = 62
    scene.daemon.adapters[Daemon.path]?.isDiscoverable = true
    scene.start()
    scene.tell(.shutDown)
    scene.answerAll()
    #expect(scene.daemon.adapters[Daemon.path]?.timeout == 180)
    #expect(scene.daemon.adapters[Daemon.path]?.isDiscoverable == false)
  }

  @Test("an adapter that the user left discoverable for ever is so again")
  func alwaysDiscoverable() {
    var scene = Scene()
    scene.daemon.adapters[Daemon.path]?.timeout = 0
    scene.daemon.adapters[Daemon.path]?.isDiscoverable = true
    scene.start()
    scene.tell(.advertise(nil))
    scene.answerAll()
    #expect(scene.daemon.adapters[Daemon.path]?.timeout == 0)
    #expect(scene.daemon.adapters[Daemon.path]?.isDiscoverable == true)
    #expect(scene.daemon.profile == nil)
  }

  @Test("an adapter that is off is switched on once and off at the end; who switches it off means it")
  func power() {
    var scene = Scene()
    scene.daemon.adapters[Daemon.path]?.isPowered = false
    scene.daemon.adapters[Daemon.other] = nil
    scene.start()
    #expect(scene.daemon.adapters[Daemon.path]?.isPowered == true)
    #expect(scene.machine.isAdvertising)
    scene.tell(.advertise(nil))
    scene.answerAll()
    #expect(scene.daemon.adapters[Daemon.path]?.isPowered == false)
    scene.tell(scene.daemon.change(Daemon.path) { $0.isPowered = true })
    scene.tell(.advertise(Scene.offer))
    scene.answerAll()
    scene.tell(scene.daemon.change(Daemon.path) { $0.isPowered = false })
    scene.pass(.seconds(100))
    #expect(scene.daemon.adapters[Daemon.path]?.isPowered == false)
    scene.tell(.shutDown)
    scene.answerAll()
    #expect(scene.ends == 1)
  }

  @Test("a connected keyboard keeps its adapter on")
  func keyboard() {
    var scene = Scene()
    scene.daemon.adapters[Daemon.path]?.isPowered = false
    scene.daemon.adapters[Daemon.other] = nil
    scene.start()
    scene.tell(
      .interfacesAdded(
        path: Scene.device(9), [BlueZNames.deviceInterface: ["Connected": .bool(true)]]))
    scene.tell(.shutDown)
    scene.answerAll()
    #expect(scene.daemon.adapters[Daemon.path]?.isPowered == true)
    #expect(scene.daemon.adapters[Daemon.path]?.isDiscoverable == false)
    #expect(scene.ends == 1)
  }

  @Test("a blocked adapter is not tried, and used when it is on")
  func blocked() {
    var scene = Scene()
    scene.daemon.adapters = [Daemon.path: scene.daemon.adapters[Daemon.path]].compactMapValues { $0 }
    scene.daemon.adapters[Daemon.path]?.isPowered = false
    scene.daemon.refusals["Set"] = "Blocked"
    scene.start()
    scene.pass(.seconds(300))
    #expect(scene.log.count { $0.hasPrefix("Set Powered") } == 3)
    scene.daemon.refusals = [:]
    scene.tell(scene.daemon.change(Daemon.path) { $0.isPowered = true })
    scene.answerAll()
    #expect(scene.machine.isAdvertising)
  }

  @Test("a program that switches the mode off again and again is answered at most every three seconds")
  func reassertion() {
    var scene = Scene()
    scene.start()
    scene.log = []
    for _ in 0..<100 {
      scene.tell(scene.daemon.change(Daemon.path) { $0.isDiscoverable = false })
      scene.pass(.milliseconds(100))
    }
    let count = scene.log.count { $0 == "Set Discoverable bool(true)" }
    #expect((2...4).contains(count))
  }

  @Test("the advertisement that a link over LE has ended is registered anew, at most once a second")
  func advertisesAnew() {
    var scene = Scene()
    scene.start()
    scene.log = []
    scene.pass(.seconds(5))
    scene.tell(.reachedOverLowEnergy)
    scene.answerAll()
    #expect(scene.log == ["UnregisterAdvertisement", "RegisterAdvertisement"])
    scene.log = []
    for _ in 0..<100 {
      scene.tell(.reachedOverLowEnergy)
      scene.pass(.milliseconds(50))
    }
    #expect((4...6).contains(scene.log.count { $0 == "RegisterAdvertisement" }))
    #expect(scene.machine.isAdvertising)
  }

  @Test("an advertisement is not taken back while bluetoothd may still renew it after a change of the mode")
  func settling() {
    var scene = Scene(settling: .milliseconds(500))
    scene.tell(.daemonAppeared)
    scene.tell(.advertise(Scene.offer))
    while scene.log.last != "RegisterAdvertisement" { scene.answerOne() }
    scene.answerOne()
    scene.tell(.advertise(nil))
    #expect(scene.log.last == "RegisterAdvertisement" && scene.calls.isEmpty)
    scene.pass(.milliseconds(600))
    #expect(scene.log.contains("UnregisterAdvertisement"))
    #expect(scene.log.last { $0.hasPrefix("Set Discoverable ") } == "Set Discoverable bool(false)")
  }

  @Test("an advertisement that is ended by a link before its registration is answered is renewed as well")
  func silencedAtOnce() {
    var scene = Scene()
    scene.tell(.daemonAppeared)
    scene.tell(.advertise(Scene.offer))
    while !scene.log.contains("RegisterAdvertisement") { scene.answerOne() }
    scene.tell(.reachedOverLowEnergy)
    scene.pass(.seconds(5))
    #expect(
      scene.log.filter { $0.hasSuffix("Advertisement") }.suffix(3) == [
        "RegisterAdvertisement", "UnregisterAdvertisement", "RegisterAdvertisement",
      ])
    #expect(scene.machine.isAdvertising)
  }

  @Test("a node that is not advertised has nothing to renew")
  func nothingToRenew() {
    var scene = Scene()
    scene.start(offer: false, search: true)
    scene.tell(.reachedOverLowEnergy)
    scene.pass(.seconds(5))
    #expect(!scene.log.contains { $0.hasSuffix("Advertisement") })
  }

  @Test("a UUID that another program has is replaced by a new one")
  func takenUUID() {
    var scene = Scene()
    scene.daemon.takesEvery = 3
    scene.start()
    #expect(scene.log.count { $0 == "RegisterProfile" } == 4)
    #expect(scene.daemon.profile != nil)
    var other = Scene()
    other.start()
    #expect(other.daemon.profile != scene.daemon.profile)
  }

  @Test(
    "where no profile may be registered it is tried ever more rarely, down to once a minute, and the reason is told")
  func profilesNotPermitted() {
    var scene = Scene()
    scene.daemon.refusals["RegisterProfile"] = "NotPermitted"
    scene.start()
    #expect(scene.log.count { $0 == "RegisterProfile" } == 16)
    #expect(scene.machine.failures.map(\.name) == ["org.bluez.Error.NotPermitted"])
    scene.log = []
    scene.pass(.seconds(130))
    #expect((6...8).contains(scene.log.count { $0 == "RegisterProfile" }))
    scene.log = []
    scene.pass(.seconds(600))
    #expect((9...11).contains(scene.log.count { $0 == "RegisterProfile" }))
    scene.daemon.refusals = [:]
    scene.pass(.seconds(61))
    #expect(scene.machine.isAdvertising)
    #expect(scene.machine.failures.isEmpty)
  }

  @Test("after a restart of bluetoothd everything is there again")
  func restart() {
    var scene = Scene()
    scene.start(search: true)
    scene.tell(.daemonVanished)
    scene.calls = []
    scene.daemon.forgetClients()
    _ = scene.daemon.change(Daemon.path) { $0.isDiscoverable = false }
    scene.pass(.seconds(30))
    #expect(scene.calls.isEmpty)
    scene.tell(.daemonAppeared)
    scene.answerAll()
    #expect(scene.machine.isAdvertising)
    #expect(scene.daemon.adapters[Daemon.path]?.hasDiscovery == true)
    scene.tell(.shutDown)
    scene.answerAll()
    #expect(scene.daemon.adapters[Daemon.path]?.timeout == 180)
  }

  @Test("of several adapters the powered one is used, the named one where one is named, and a new one when it goes")
  func choice() {
    var scene = Scene()
    scene.daemon.adapters[Daemon.path]?.isPowered = false
    scene.start()
    #expect(scene.machine.adapter?.path == Daemon.other)
    scene.daemon.adapters[Daemon.other] = nil
    scene.tell(.interfacesRemoved(path: Daemon.other, [BlueZNames.adapterInterface]))
    scene.answerAll()
    #expect(scene.machine.adapter?.path == Daemon.path)
    #expect(scene.adapters.count == 3)
    var settings = BlueZSettings()
    settings.adapter = .named("hci1")
    var named = Scene(settings)
    named.start()
    #expect(named.machine.adapter?.path == Daemon.other)
  }

  @Test("the profile has the node's record in it, for the adapter in use")
  func profile() throws {
    var scene = Scene()
    scene.tell(.daemonAppeared)
    scene.tell(.advertise(Scene.offer))
    scene.answerOne()
    let call = try #require(scene.calls.first?.call)
    let options = call.arguments[2].properties
    #expect(call.member == "RegisterProfile")
    #expect(options["Role"] == .string("server"))
    #expect(options["RequireAuthentication"] == .bool(false))
    let xml = try #require(options["ServiceRecord"]?.text)
    #expect(xml.contains(Scene.service.description))
    #expect(call.arguments[1].text != Scene.service.description)
  }

  @Test("an answer that never comes is not the end")
  func lostAnswers() {
    var scene = Scene()
    scene.start()
    scene.tell(.shutDown)
    for _ in 0..<40 {
      guard let first = scene.calls.first else { break }
      scene.calls.removeFirst()
      scene.tell(.replied(first.id, .failure(DBusFailure(DBusFailure.timeout))))
      scene.now = scene.now + .seconds(1)
      scene.tell(.deadlineReached)
    }
    #expect(scene.ends == 1)
  }
}
