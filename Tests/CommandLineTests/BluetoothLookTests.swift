import Testing

@testable import PiconetCommandLine

@Suite("What is in the way of Bluetooth")
struct BluetoothLookTests {
  private static let good = DoctorFacts(
    adapters: [.init(name: "hci0", address: "00:AA:01:00:00:00", isPowered: true, advertisements: 5)],
    switches: [.init(name: "hci0")], isDaemonRunning: true, bus: .answered,
    interfaces: [.init(name: "lo", isLoopback: true, hasMulticast: false)])

  private func obstacle(of adapter: String? = nil, _ change: (inout DoctorFacts) -> Void) -> String? {
    var facts = Self.good
    change(&facts)
    return facts.bluetoothObstacle(of: adapter)?.word
  }

  @Test("the obstacle is the cause, not a consequence of it")
  func cause() {
    #expect(obstacle { _ in } == nil)
    #expect(obstacle { $0.hasBluetoothBuild = false } == "kernel.build")
    #expect(obstacle { $0.l2capFailure = "not supported" } == "kernel.sockets")
    #expect(obstacle { $0.adapters = [] } == "adapter.none")
    #expect(
      obstacle {
        $0.adapters = []
        $0.driverlessDevices = ["8087:0a2b"]
      } == "adapter.driver")
    #expect(obstacle { $0.adapters[0].address = "00:00:00:00:00:00" } == "adapter.firmware")
    #expect(obstacle { $0.adapters[0].isUp = false } == "adapter.down")
    #expect(obstacle { $0.adapters[0].isPowered = false } == "adapter.down")
    #expect(
      obstacle {
        $0.adapters[0].isUp = false
        $0.switches[0].isSoftBlocked = true
      } == "rfkill.soft")
    #expect(
      obstacle {
        $0.adapters[0].isUp = false
        $0.switches.append(.init(name: "tpacpi_bluetooth_sw", isHardBlocked: true))
      } == "rfkill.hard")
  }

  @Test("without bluetoothd it works with the privileges for the headless way alone")
  func daemon() {
    func stop(_ facts: inout DoctorFacts) {
      facts.isDaemonRunning = false
      facts.bus = .refused("org.freedesktop.DBus.Error.ServiceUnknown")
    }
    #expect(obstacle(stop) == "bluetoothd.stopped")
    #expect(
      obstacle {
        stop(&$0)
        ($0.hasNetAdmin, $0.hasNetRaw) = (true, true)
      } == nil)
    #expect(
      obstacle {
        stop(&$0)
        $0.adapters[0].isUp = false
      } == "bluetoothd.stopped")
    #expect(
      obstacle {
        stop(&$0)
        $0.adapters[0].isUp = false
        $0.switches[0].isSoftBlocked = true
      } == "rfkill.soft")
    #expect(obstacle { $0.bus = .refused("org.freedesktop.DBus.Error.AccessDenied") } == "dbus.denied")
    #expect(obstacle { $0.bus = .silent } == "dbus.silent")
  }

  @Test("a bluetoothd that does not answer is an obstacle, even with the privileges for the headless way")
  func frozenDaemon() {
    for isRoot in [false, true] {
      func freeze(_ facts: inout DoctorFacts, _ bus: DoctorFacts.Bus) {
        (facts.hasNetAdmin, facts.hasNetRaw) = (isRoot, isRoot)
        facts.bus = bus
      }
      let noReply = DoctorFacts.Bus.refused("org.freedesktop.DBus.Error.NoReply")
      #expect(obstacle { freeze(&$0, noReply) } == "dbus.failed")
      #expect(obstacle { freeze(&$0, .silent) } == "dbus.silent")
      #expect(obstacle { freeze(&$0, .refused("org.freedesktop.DBus.Error.AccessDenied")) } == "dbus.denied")
      #expect(
        obstacle {
          freeze(&$0, noReply)
          $0.isDaemonStopped = true
        } == "bluetoothd.frozen")
    }
  }

  @Test("at the start a lasting obstacle is reported at once, and a passing one is not")
  func atStart() {
    let lo = ProgramEnvironment(variable: { $0 == "PICONET_INTERFACES" ? "lo" : nil }, hostName: "h")
    let look = BluetoothLook(options: TransportOptions(choice: .bluetooth), environment: lo)
    func told(_ change: (inout DoctorFacts) -> Void) -> Bool {
      var facts = Self.good
      change(&facts)
      return look.sentenceAtStart(facts) != nil
    }
    #expect(!told { _ in })
    #expect(
      told {
        $0.switches[0].isSoftBlocked = true
        $0.adapters[0].isUp = false
      })
    #expect(told { $0.bus = .refused("org.freedesktop.DBus.Error.AccessDenied") })
    #expect(
      told {
        $0.isDaemonStopped = true; $0.bus = .refused("org.freedesktop.DBus.Error.NoReply")
      })
    #expect(told { $0.adapters = [] })
    #expect(!told { $0.bus = .refused("org.freedesktop.DBus.Error.NoReply") })
    #expect(!told { $0.adapters[0].isUp = false })
  }

  @Test("of several adapters one does, unless another was asked for")
  func severalAdapters() {
    func add(_ facts: inout DoctorFacts) {
      facts.adapters.append(.init(name: "hci1", address: "00:AA:01:01:00:01", isUp: false))
      facts.switches.append(.init(name: "hci1", isSoftBlocked: true))
    }
    #expect(obstacle(add) == nil)
    #expect(obstacle(of: "hci0", add) == nil)
    #expect(obstacle(of: "hci1", add) == "rfkill.soft")
    #expect(obstacle(of: "00:AA:01:01:00:01", add) == "rfkill.soft")
    #expect(
      obstacle(of: "hci0") {
        add(&$0)
        $0.adapters[0].isUp = false
      } == "adapter.down")
  }

  @Test("an obstacle is reported, with advice, if Bluetooth was asked for or there is no network")
  func words() {
    let free = ProgramEnvironment(variable: { _ in nil }, hostName: "h")
    let lo = ProgramEnvironment(variable: { $0 == "PICONET_INTERFACES" ? "lo" : nil }, hostName: "h")
    func look(_ choice: TransportChoice, _ environment: ProgramEnvironment) -> BluetoothLook {
      BluetoothLook(options: TransportOptions(choice: choice), environment: environment)
    }
    var facts = Self.good
    facts.switches[0].isSoftBlocked = true
    facts.adapters[0].isUp = false
    let words =
      "peers can't find each other over Bluetooth: hci0 is blocked by software (airplane mode?): rfkill unblock bluetooth ('piconet doctor' says more)"
    #expect(look(.bluetooth, lo).sentence(facts) == words)
    #expect(look(.auto, free).sentence(facts) == "there is no network here to reach others over, and " + words)
    #expect(look(.auto, free).obstacleTellsLack && !look(.bluetooth, free).obstacleTellsLack)
    #expect(look(.auto, free).sentence(Self.good) == nil)
    #expect(look(.auto, free).depends(facts))
    #expect(!look(.auto, lo).depends(facts))
    #expect(!look(.tcp, free).depends(facts))
    facts.interfaces.append(.init(name: "eth0"))
    #expect(!look(.auto, free).depends(facts))
    #expect(look(.le, free).depends(facts))
  }

  @Test("the lack of a network is reported unless Bluetooth or loopback was asked for")
  func network() {
    let free = ProgramEnvironment(variable: { _ in nil }, hostName: "h")
    let chosen = ProgramEnvironment(variable: { $0 == "PICONET_INTERFACES" ? "eth7" : nil }, hostName: "h")
    let lo = ProgramEnvironment(variable: { $0 == "PICONET_INTERFACES" ? "lo" : nil }, hostName: "h")
    var facts = Self.good
    let look = BluetoothLook(options: TransportOptions(), environment: free)
    #expect(look.lack(facts) == "there is no network here to reach others over ('piconet doctor' says more)")
    facts.interfaces.append(.init(name: "eth0"))
    #expect(look.lack(facts) == nil)
    facts.chosenInterfaces = ["eth7"]
    let words = BluetoothLook(options: TransportOptions(), environment: chosen).lack(facts)
    #expect(words == "there is no network here on eth7 to reach others over ('piconet doctor' says more)")
    #expect(BluetoothLook(options: TransportOptions(), environment: lo).networkLack == nil)
    #expect(BluetoothLook(options: TransportOptions(choice: .bluetooth), environment: chosen).networkLack == nil)
  }

  @Test("an obstacle seen twice in a row is reported once, and so is its end")
  func memory() {
    var memory = ObstacleMemory()
    let looks = [nil, nil, "off", nil, nil, "off", "off", "off", "blocked", "blocked", nil, "blocked", nil, nil, nil]
    let told = looks.map { memory.see($0) }
    let changes: [Int: ObstacleMemory.Change] = [
      6: .init(obstacle: "off"), 9: .init(obstacle: "blocked"), 13: .init(obstacle: nil),
    ]
    #expect(told == looks.indices.map { changes[$0] })
    var silent = ObstacleMemory(told: "")
    #expect([nil, nil, nil].map { silent.see($0) } == [nil, ObstacleMemory.Change(obstacle: nil), nil])
  }
}
