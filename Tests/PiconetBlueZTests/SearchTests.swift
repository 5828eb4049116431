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

  @Test("what BlueZ remembers is no sighting; neither are other sessions, other adapters, nor we ourselves")
  func notSeen() {
    var scene = Self.searching()
    scene.tell(.advertise(Scene.offer))
    scene.hear(1, strength: nil, isPaired: true)
    #expect(scene.reads.isEmpty)
    scene.hear(2)
    scene.answerReads(
      .success([
        Scene.record(1), Scene.record(3, scope: "other"), Scene.record(4, adapter: Scene.address(99)),
      ]))
    #expect(scene.reports.isEmpty)
  }

  /// Of a device that it was connected to BlueZ keeps the services of then, whatever the device says since.
  @Test(
    "a device that is heard with the services of another time is asked too, once a minute where it has none of ours")
  func outdatedServices() {
    let other = BluetoothUUID(short: 0x1105)
    var scene = Self.searching()
    scene.hear(1, services: [other])
    scene.pass(.seconds(1))
    #expect(scene.reads.count == 1)
    scene.answerReads(.success([Scene.record(2)]))
    #expect(scene.reports.count == 1)
    scene = Self.searching()
    scene.hear(1, services: [other])
    scene.pass(.seconds(1))
    scene.answerReads(.failure(LinkFailure(.noService, "nothing of ours")))
    for _ in 0..<4 {
      scene.pass(.seconds(8))
      scene.forgetStrength(1)
      scene.hear(1, services: [other])
      #expect(scene.reads.isEmpty)
    }
    scene.pass(.seconds(60))
    scene.hear(1, services: [other])
    scene.pass(.seconds(1))
    #expect(scene.reads.count == 1)
    scene.answerReads(.failure(LinkFailure(.noService, "nothing of ours")))
    scene.hear(1)
    scene.pass(.seconds(2))
    #expect(scene.reads.count == 1, "it says itself that it has our service")
  }

  @Test("what says nothing of services, or is not heard, is not asked; strangers leave room for those with our service")
  func strangers() {
    var scene = Self.searching()
    scene.hear(1, services: [])
    scene.hear(2, strength: nil, services: [BluetoothUUID(short: 0x1105)])
    scene.pass(.seconds(5))
    #expect(scene.reads.isEmpty)
    for number in 3..<300 { scene.hear(number, services: [BluetoothUUID(short: 0x1105)]) }
    for _ in 0..<5 {
      scene.pass(.seconds(1))
      scene.answerReads(.failure(LinkFailure(.noService, "nothing of ours")))
    }
    scene.hear(300)
    scene.answerReads(.failure(LinkFailure(.noService, "nothing of ours")))
    #expect(scene.reads.values.contains { $0.device == Scene.address(300) })
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

  @Test("nobody is lost, and nothing is scanned or asked, while the radio is busy")
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
    #expect(sighting.addresses.count == 4)
  }

  @Test("scans take twelve seconds: at first one after the other, later with rests of eight; none when nobody searches")
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

  struct NothingSeen: Error {}
}
