import PiconetDBusValues
import PiconetEngine
import PiconetSDP
import PiconetWire
import Testing

@testable import PiconetBlueZ

@Suite("Devices are heard, asked, seen and lost")
struct SearchTests {
  static func searching(_ settings: BlueZSettings = BlueZSettings()) -> Scene {
    var scene = Scene(settings)
    scene.start(offer: false, search: true)
    return scene
  }

  @Test("a device that is heard is asked, and its node is seen with both addresses")
  func seen() throws {
    var scene = Self.searching()
    #expect(scene.log.suffix(2) == ["SetDiscoveryFilter", "StartDiscovery"])
    scene.hear(1)
    #expect(scene.reads.count == 1)
    scene.answerReads(.success([Scene.record(2, adapter: Scene.address(1))]))
    guard case .seen(let sighting) = scene.reports.first else { throw NothingSeen() }
    #expect(sighting.addresses.map(\.description) == ["l2cap 00:BB:00:00:00:01/0x1005", "rfcomm 00:BB:00:00:00:01/5"])
    #expect(scene.reports.count == 1)
  }

  @Test("a device that claims another's key hides it under no incarnation, before it or after", arguments: [7, 8, 9])
  func claimedKey(incarnation: UInt64) {
    for isFirst in [true, false] {
      var scene = Self.searching()
      var seen: [Incarnation: Sighting] = [:]
      for number in isFirst ? [2, 1] : [1, 2] {
        scene.hear(number)
        let claimed = number == 1 ? 8 : incarnation
        scene.answerReads(.success([Scene.record(5, incarnation: claimed, adapter: Scene.address(number))]))
      }
      for report in scene.reports {
        switch report {
        case .seen(let sighting): seen[sighting.incarnation] = sighting
        case .gone(_, let incarnation): seen[incarnation] = nil
        }
      }
      let places = seen[Incarnation(rawValue: 8)]?.addresses.map(\.text) ?? []
      #expect(places.contains("00:BB:00:00:00:01/0x1005"), "\(seen)")
    }
  }

  @Test("a node that stops searching takes its filter back: with it bluetoothd would end others' scans when we close")
  func filter() {
    var scene = Self.searching()
    #expect(scene.daemon.adapters[Daemon.path]?.hasFilter == true)
    scene.log = []
    scene.tell(.search(nil))
    scene.answerAll()
    #expect(scene.log == ["StopDiscovery", "SetDiscoveryFilter"])
    #expect(scene.daemon.adapters[Daemon.path]?.hasFilter == false)
    scene.tell(.search(Scene.search))
    scene.answerAll()
    scene.tell(.shutDown)
    scene.answerAll()
    #expect(scene.daemon.adapters[Daemon.path]?.hasFilter == false && scene.ends == 1)
    #expect(scene.daemon.mistakes.isEmpty)
  }

  @Test("a device that BlueZ remembers is no sighting; neither are other sessions, other adapters, nor we ourselves")
  func notSeen() {
    var scene = Self.searching()
    scene.tell(.advertise(Scene.offer))
    scene.hear(1, strength: nil, isPaired: true)
    #expect(scene.reads.isEmpty)
    scene.hear(2)
    scene.answerReads(
      .success([
        Scene.record(1), Scene.record(3, sessionID: "other"), Scene.record(4, adapter: Scene.address(99)),
      ]))
    #expect(scene.reports.isEmpty)
  }

  @Test("a device whose services bluetoothd has read before our node came is asked when it is heard, and seen")
  func readServices() {
    var settings = BlueZSettings()
    settings.adapter = .named("hci1")
    settings.firstDelay = .zero
    var shared = SharedAdapters()
    var machine = BlueZMachine(settings: settings, user: shared.join())
    let now = Instant(nanoseconds: 1_000_000_000_000)
    var effects = machine.handle(.daemonAppeared, at: now, sharing: &shared)
    if case .call(let id, _)? = effects.first {
      effects = machine.handle(.replied(id, .success([])), at: now, sharing: &shared)
    }
    effects += machine.handle(.search(Scene.search), at: now, sharing: &shared)
    var hasHeard = false
    for fact in Transcript.facts(Recordings.readServices) {
      effects += machine.handle(fact, at: now, sharing: &shared)
      let isAsked = effects.contains { if case .read = $0 { true } else { false } }
      if case .propertiesChanged(_, _, let changed, _) = fact, changed["RSSI"] != nil { hasHeard = true }
      #expect(isAsked == hasHeard)
    }
    for case .read(let id, _, let place) in effects {
      #expect(place.device == BluetoothAddress("00:AA:01:00:00:00"))
      effects = machine.handle(
        .recordsRead(id, .success([Scene.record(2, adapter: place.device)])), at: now, sharing: &shared)
    }
    #expect(effects.contains { if case .report(.seen) = $0 { true } else { false } })
  }

  @Test("a device that is heard without our service may still have it; without an answer it is asked rarely")
  func strangers() {
    var scene = Self.searching()
    let headset = ["0000110b-0000-1000-8000-00805f9b34fb"]
    scene.hear(1, services: headset)
    scene.hear(2, services: [])
    scene.hear(3, strength: nil, isPaired: true, services: headset)
    scene.hear(4, services: headset, isRandom: true)
    #expect(scene.reads.values.map(\.device) == [Scene.address(1)])
    var count = 0
    for _ in 0..<100 {
      count += scene.reads.count
      scene.answerReads(.failure(LinkFailure(.noService)))
      scene.pass(.seconds(1))
      scene.hear(1, services: headset)
    }
    #expect(count == 2)
    #expect(scene.reports.isEmpty)
  }

  @Test("devices that announce our service are asked before those that may, and have room beside them")
  func certainFirst() {
    var scene = Self.searching()
    for number in 0..<500 { scene.hear(number, services: ["0000110b-0000-1000-8000-00805f9b34fb"]) }
    scene.hear(1000)
    scene.answerReads(.failure(LinkFailure(.timedOut)))
    #expect(scene.reads.values.contains { $0.device == Scene.address(1000) })
  }

  @Test("a device that is connected is asked though no scan hears it, if it is known to have our service")
  func connected() {
    var scene = Self.searching()
    scene.hear(1, strength: nil, isPaired: true, isConnected: true)
    scene.hear(2, strength: nil, isPaired: true, isConnected: true, services: [])
    #expect(scene.reads.values.map(\.device) == [Scene.address(1)])
  }

  @Test("a device is gone after three whole scans that did not hear it, and not before")
  func lost() {
    var scene = Self.searching()
    scene.hear(1)
    scene.answerReads(.success([Scene.record(2)]))
    scene.forgetStrength(1)
    scene.reports = []
    scene.pass(.seconds(12 + 2 * 13))
    #expect(scene.reports.isEmpty)
    scene.pass(.seconds(14))
    #expect(scene.reports == [.gone(Scene.peer(2), Incarnation(rawValue: 7))])
  }

  @Test("where the controller tells no strength, a device is there as long as BlueZ has it")
  func noStrength() {
    var scene = Self.searching()
    scene.hear(1, strength: nil)
    scene.answerReads(.success([Scene.record(2)]))
    scene.pass(.seconds(19))
    #expect(scene.reports.count == 1)
    scene.tell(.radioBusy(false))
    scene.answerReads(.success([Scene.record(2)]))
    scene.tell(.interfacesRemoved(path: Scene.device(1), [BlueZNames.deviceInterface]))
    scene.pass(.seconds(55))
    #expect(scene.reports.last == .gone(Scene.peer(2), Incarnation(rawValue: 7)))
  }

  @Test("no device is lost, and nothing is scanned or asked, while the radio is busy")
  func busy() {
    var scene = Self.searching()
    scene.hear(1)
    scene.answerReads(.success([Scene.record(2)]))
    scene.forgetStrength(1)
    scene.reports = []
    scene.tell(.radioBusy(true))
    scene.answerAll()
    #expect(scene.daemon.adapters[Daemon.path]?.hasDiscovery == false)
    scene.tell(.interfacesRemoved(path: Scene.device(1), [BlueZNames.deviceInterface]))
    scene.pass(.seconds(600))
    #expect(scene.reports.isEmpty)
    #expect(scene.reads.isEmpty)
    scene.tell(.radioBusy(false))
    scene.pass(.milliseconds(900))
    #expect(scene.daemon.adapters[Daemon.path]?.hasDiscovery == false)
    scene.pass(.milliseconds(200))
    #expect(scene.daemon.adapters[Daemon.path]?.hasDiscovery == true)
  }

  @Test("a filter that may have been cleared, though no answer has said so, is set anew before the next scan")
  func uncertainFilter() throws {
    var scene = Self.searching()
    scene.tell(.search(nil))
    while let (id, call) = scene.calls.first, call.member != "SetDiscoveryFilter" {
      #expect(call.member == "StopDiscovery" && id == scene.calls[0].id)
      scene.answerOne()
    }
    let (id, call) = scene.calls.removeFirst()
    _ = scene.daemon.answer(call, at: scene.now)
    scene.tell(.replied(id, .failure(DBusFailure(DBusFailure.timeout))))
    scene.tell(.search(Scene.search))
    scene.pass(.seconds(20))
    #expect(scene.daemon.adapters[Daemon.path]?.hasDiscovery == true)
    #expect(scene.daemon.mistakes.isEmpty)
  }

  @Test("while the radio is busy a turn begins a scan at once, reads what is heard, ends it, and no device is lost")
  func turn() {
    var scene = Self.searching()
    let scans = { (scene: Scene) in scene.daemon.adapters[Daemon.path]?.hasDiscovery }
    scene.hear(1)
    scene.answerReads(.success([Scene.record(2)]))
    scene.forgetStrength(1)
    scene.reports = []
    scene.tell(.radioBusy(true))
    scene.answerAll()
    for _ in 0..<5 {
      scene.tell(.radioTurn(true))
      scene.answerAll()
      #expect(scans(scene) == true)
      scene.pass(.seconds(2))
      #expect(scans(scene) == true)
      scene.tell(.radioTurn(false))
      scene.answerAll()
      #expect(scans(scene) == false)
      scene.pass(.seconds(18))
    }
    #expect(scene.reports.isEmpty, "none of them was a whole scan")
    scene.tell(.radioTurn(true))
    scene.answerAll()
    scene.hear(3)
    #expect(scene.reads.values.contains { $0.device == Scene.address(3) })
    scene.tell(.radioBusy(false))
    scene.tell(.radioTurn(false))
    scene.answerAll()
    #expect(scans(scene) == true, "it goes on where the radio is free by then")
  }

  @Test("a restarted node is noticed within twenty seconds: gone and seen")
  func incarnation() {
    var scene = Self.searching()
    scene.hear(1)
    scene.answerReads(.success([Scene.record(2, incarnation: 1)]))
    scene.reports = []
    scene.pass(.seconds(20))
    #expect(scene.reads.count == 1)
    scene.answerReads(.success([Scene.record(2, incarnation: 2)]))
    #expect(scene.reports.first == .gone(Scene.peer(2), Incarnation(rawValue: 1)))
    #expect(scene.reports.count == 2)
  }

  @Test("a failed dial lets the record be read at once, once a second at most")
  func failedDial() {
    var scene = Self.searching()
    scene.hear(1)
    scene.answerReads(.success([Scene.record(2)]))
    scene.pass(.seconds(2))
    scene.tell(.dialFailed(Scene.address(1)))
    #expect(scene.reads.count == 1)
    scene.answerReads(.success([Scene.record(2)]))
    scene.tell(.dialFailed(Scene.address(1)))
    #expect(scene.reads.isEmpty)
    scene.pass(.seconds(1))
    #expect(scene.reads.count == 1)
  }

  @Test("failures are repeated with growing pauses, then rarely; the record's absence is an answer")
  func failures() {
    var scene = Self.searching()
    scene.hear(1)
    var count = 0
    for _ in 0..<110 {
      if !scene.reads.isEmpty { count += 1 }
      scene.answerReads(.failure(LinkFailure(.timedOut)))
      scene.pass(.seconds(1))
      scene.hear(1)
    }
    #expect((6...8).contains(count))
    scene.pass(.seconds(60))
    scene.answerReads(.success([Scene.record(2)]))
    #expect(scene.reports.count == 1)
    scene.pass(.seconds(20))
    scene.hear(1)
    scene.answerReads(.failure(LinkFailure(.noService)))
    #expect(scene.reports.last == .gone(Scene.peer(2), Incarnation(rawValue: 7)))
  }

  @Test("two devices are asked at a time, and no more than the limit are remembered")
  func limits() {
    var scene = Self.searching()
    for number in 0..<500 { scene.hear(number) }
    #expect(scene.reads.count == 2)
    var count = 0
    for _ in 0..<1000 where !scene.reads.isEmpty {
      count += scene.reads.count
      scene.answerReads(.failure(LinkFailure(.notAvailable)))
    }
    #expect(count == RecordBook.deviceLimit)
    #expect(scene.mostReads == 2)
  }

  @Test("one node behind two devices has the addresses of both")
  func twoAdapters() throws {
    var scene = Self.searching()
    for number in 1...2 {
      scene.hear(number)
      scene.answerReads(.success([Scene.record(2)]))
    }
    guard case .seen(let sighting) = scene.reports.last else { throw NothingSeen() }
    #expect(sighting.addresses.count == 4 && sighting.otherNames.isEmpty)
  }

  @Test("one node behind two devices that name it differently has both names")
  func twoNames() throws {
    var scene = Self.searching()
    for (number, name) in [(1, "Zed"), (2, "Carol")] {
      scene.hear(number)
      var record = Scene.record(2)
      record.name = name
      scene.answerReads(.success([record]))
    }
    guard case .seen(let sighting) = scene.reports.last else { throw NothingSeen() }
    #expect(Set(sighting.names) == ["Zed", "Carol"])
  }

  @Test("scans take twelve seconds: at first one after the other, later with rests of eight; none without a search")
  func dutyCycle() {
    var scene = Self.searching()
    scene.pass(.seconds(60))
    #expect(scene.log.count { $0 == "StartDiscovery" } == 5)
    scene.log = []
    scene.pass(.seconds(200))
    #expect((9...11).contains(scene.log.count { $0 == "StartDiscovery" }))
    scene.tell(.search(nil))
    scene.answerAll()
    scene.log = []
    scene.pass(.seconds(1000))
    #expect(scene.log.isEmpty)
    #expect(scene.daemon.adapters[Daemon.path]?.hasDiscovery == false)
  }

  @Test("a scan pauses so that a record can be read over LE, and goes on at once afterwards")
  func pause() {
    var scene = Self.searching()
    scene.pass(.seconds(1))
    scene.log = []
    scene.tell(.pauseWanted(true))
    #expect(scene.pauses.isEmpty, "it still scans")
    scene.answerAll()
    #expect(scene.log == ["StopDiscovery"])
    #expect(scene.pauses == [true])
    scene.pass(.seconds(3))
    #expect(scene.log == ["StopDiscovery"])
    scene.tell(.pauseWanted(false))
    scene.answerAll()
    #expect(scene.pauses == [true, false])
    #expect(scene.log == ["StopDiscovery", "StartDiscovery"])
  }

  @Test("a pause that is not ended is over after six seconds")
  func longPause() {
    var scene = Self.searching()
    scene.pass(.seconds(1))
    scene.tell(.pauseWanted(true))
    scene.log = []
    scene.pass(.milliseconds(5900))
    #expect(scene.pauses == [true])
    scene.pass(.milliseconds(200))
    #expect(scene.pauses == [true, false])
    #expect(scene.daemon.adapters[Daemon.path]?.hasDiscovery == true)
  }

  @Test("in a rest between two scans, and without a search, the pause is there at once")
  func pauseAtRest() {
    var scene = Self.searching()
    scene.pass(.milliseconds(12_100))
    #expect(scene.daemon.adapters[Daemon.path]?.hasDiscovery == false)
    scene.tell(.pauseWanted(true))
    #expect(scene.pauses == [true])
    var idle = Scene()
    idle.start(offer: true)
    idle.tell(.pauseWanted(true))
    #expect(idle.pauses == [true])
  }

  @Test("pauses without end do not keep a device that is gone: once a minute a scan is whole")
  func wholeScans() {
    var scene = Self.searching()
    scene.hear(1)
    scene.answerReads(.success([Scene.record(2)]))
    scene.forgetStrength(1)
    scene.reports = []
    for _ in 0..<400 {
      scene.tell(.pauseWanted(true))
      scene.pass(.milliseconds(500))
      scene.tell(.pauseWanted(false))
      scene.pass(.milliseconds(500))
      scene.answerReads(.failure(LinkFailure(.timedOut)))
    }
    #expect(scene.reports == [.gone(Scene.peer(2), Incarnation(rawValue: 7))])
  }

  @Test("a node behind a random address is reached over LE alone, whatever adapter it names")
  func randomAddress() throws {
    var scene = Self.searching()
    scene.hear(1, isRandom: true)
    #expect(scene.reads.values.map(\.isRandom) == [true])
    var record = Scene.record(2, adapter: Scene.address(99))
    record.lePSM = 0x81
    scene.answerReads(.success([record]))
    guard case .seen(let sighting) = scene.reports.first else { throw NothingSeen() }
    #expect(sighting.addresses.map(\.description) == ["le 00:BB:00:00:00:01(random)/0x0081"])
  }

  @Test("the strength of a peer is told with it, and anew only when it is quite another one")
  func strength() throws {
    var scene = Self.searching()
    scene.hear(1, strength: -50)
    scene.answerReads(.success([Scene.record(2)]))
    guard case .seen(let first) = scene.reports.last else { throw NothingSeen() }
    #expect(first.signalStrength == -50)
    for strength: Int16 in [-55, -44, 127, -58] {
      scene.hear(1, strength: strength)
      scene.pass(.seconds(20))
      scene.answerReads(.success([Scene.record(2)]))
    }
    #expect(scene.reports.count == 1)
    scene.hear(1, strength: -61)
    scene.pass(.seconds(20))
    scene.answerReads(.success([Scene.record(2)]))
    guard case .seen(let second) = scene.reports.last else { throw NothingSeen() }
    #expect(second.signalStrength == -61)
    #expect(scene.reports.count == 2)
  }

  struct NothingSeen: Error {}
}
