import Glibc
import PiconetDBus
import PiconetDBusValues
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import PiconetWire
import Synchronization
import TestSupport
import Testing

@testable import PiconetBlueZ
@testable import PiconetBluetooth

@Suite(
  "Finding and being found through bluetoothd", .serialized,
  .machine("--adapters 3", or: .realAdapters))
struct BlueZDiscoveryTests {
  static let first = BlueZBench.adapters.first ?? ""
  static let second = BlueZBench.adapters.dropFirst().first ?? ""

  @Test("two nodes find each other, with their records, and leave the adapters as they were", arguments: [true, false])
  func bothFind(isClassic: Bool) async throws {
    let one = try await BlueZBench(adapter: Self.first) { ($0.usesClassic, $0.usesLowEnergy) = (isClassic, !isClassic) }
    let two = try await BlueZBench(adapter: Self.second) {
      ($0.usesClassic, $0.usesLowEnergy) = (isClassic, !isClassic)
    }
    let before = await [one.adapter(Self.first), one.adapter(Self.second)]
    await one.advertise(1)
    await two.advertise(2, name: "B \u{1B}[31mred\u{7}")
    for bench in [one, two] {
      let isAdvertising = await bench.wait { await $0.on { $0.isAdvertising } == true }
      let failures = await bench.on { $0.failures }
      #expect(isAdvertising, "\(failures ?? [])")
    }
    let clock = ContinuousClock()
    let start = clock.now
    for bench in [one, two] { _ = await bench.on { $0.search(sessionID: "bench") } }
    for (bench, other) in [(one, UInt8(2)), (two, UInt8(1))] {
      #expect(await bench.wait { !$0.seen.isEmpty })
      #expect(bench.seen.first?.peer == BlueZBench.peer(other))
      #expect(bench.seen.first?.info == ["seat": "\(other)"])
      #expect(bench.seen.first?.addresses.map(\.kind) == [.l2cap, .rfcomm, .le])
      print("found after", clock.now - start, isClassic ? "BR/EDR" : "LE", bench.seen)
    }
    #expect(one.seen.first?.name.contains("\u{1B}") == false)
    for bench in [one, two] { await bench.shutDown() }
    let after = await [one.adapter(Self.first), one.adapter(Self.second)]
    for (old, new) in zip(before, after) {
      #expect(old?.isDiscoverable == new?.isDiscoverable)
      #expect(old?.discoverableTimeout == new?.discoverableTimeout)
      #expect(old?.isPowered == new?.isPowered)
      let name = new?.kernelName ?? ""
      let hasSameServices = await one.wait(.seconds(3)) { await $0.adapter(name)?.uuids == old?.uuids }
      #expect(hasSameServices)
    }
    for bench in [one, two] { bench.stop() }
  }

  @Test(
    "a killed program leaves the adapter discoverable for its timeout only, and the next one puts the timeout right")
  func killed() async throws {
    let bench = try await BlueZBench(adapter: Self.first) { $0.discoverableTimeout = 4 }
    await bench.advertise(1)
    #expect(await bench.wait { await $0.on { $0.isAdvertising } == true })
    // Renewed, it lasts longer than its timeout.
    #expect(await !bench.wait(.seconds(6)) { await $0.adapter(Self.first)?.isDiscoverable == false })
    await bench.kill()
    #expect(await bench.wait(.seconds(7)) { await $0.adapter(Self.first)?.isDiscoverable == false })
    bench.stop()
    let next = try await BlueZBench(adapter: Self.first) { $0.discoverableTimeout = 4 }
    await next.advertise(1)
    #expect(await next.wait { await $0.on { $0.isAdvertising } == true })
    await next.shutDown()
    #expect(await next.adapter(Self.first)?.discoverableTimeout == BlueZSettings.usualTimeout)
    #expect(await next.adapter(Self.first)?.isDiscoverable == false)
    next.stop()
  }

  @Test("two programs with one session on one adapter are both seen; a new incarnation replaces the old one")
  func twoPrograms() async throws {
    let one = try await BlueZBench(adapter: Self.first)
    let two = try await BlueZBench(adapter: Self.first)
    let other = try await BlueZBench(adapter: Self.second) { $0.rereadInterval = .seconds(2) }
    await one.advertise(1)
    await two.advertise(2)
    for bench in [one, two] { #expect(await bench.wait { await $0.on { $0.isAdvertising } == true }) }
    _ = await other.on { $0.search(sessionID: "bench") }
    #expect(await other.wait { Set($0.seen.map(\.peer)).count == 2 })
    await two.advertise(2, incarnation: 9)
    #expect(await other.wait { $0.seen.contains { $0.incarnation.rawValue == 9 } && !$0.gone.isEmpty })
    for bench in [one, two, other] { await bench.shutDown() }
    #expect(await one.adapter(Self.first)?.isDiscoverable == false)
    #expect(await one.adapter(Self.first)?.discoverableTimeout == BlueZSettings.usualTimeout)
    for bench in [one, two, other] { bench.stop() }
  }

  @Test("an adapter that is switched off and on is advertised on again, and left alone while it is off")
  func powerCycle() async throws {
    // bluetoothd 5.66 aborts when an adapter that advertises over LE is switched off: that is a restart, which has its
    // own test.
    let bench = try await BlueZBench(adapter: Self.first) { $0.usesLowEnergy = false }
    await bench.advertise(1)
    _ = await bench.on { $0.search(sessionID: "bench") }
    #expect(await bench.wait { await $0.on { $0.isAdvertising } == true })
    #expect(await Self.set("Powered", false, bench))
    #expect(await bench.wait { await $0.adapter(Self.first)?.isPowered == false })
    #expect(await !bench.wait(.seconds(2)) { await $0.adapter(Self.first)?.isPowered == true })
    #expect(await Self.set("Powered", true, bench))
    #expect(await bench.wait { await $0.on { $0.isAdvertising } == true })
    await bench.shutDown()
    #expect(await bench.adapter(Self.first)?.isDiscoverable == false)
    bench.stop()
  }

  @Test(
    "a node that expects a peer is reached over LE by its address again and again, but not found; afterwards no more",
    .enabled(if: getenv("PICONET_BLUETOOTH_VM") != nil, "cuts links, so only in the virtual machine"))
  func expecting() async throws {
    let hidden = try await BlueZBench(adapter: Self.second)
    let dialler = try await BlueZBench(adapter: Self.first)
    let before = await hidden.adapter(Self.second)
    let address = try #require(before?.address)
    let listening = try await LowEnergyOnlyTests.Listening.begin(on: hidden.loop, adapter: Self.second)
    let place = TransportAddress(kind: .le, text: BluetoothPlace(device: address, port: listening.port).description)
    func dial() async -> LinkFailure? {
      await LowEnergyOnlyTests.Listening.dial(place, from: Self.first, on: dialler.loop)
    }
    _ = await hidden.on { $0.setExpecting(true) }
    _ = await dialler.on { $0.search(sessionID: "bench") }
    #expect(await hidden.wait { await $0.adapter(Self.second)?.advertisementsLeft != before?.advertisementsLeft })
    // A whole scan hears every node that advertises.
    #expect(await !dialler.wait(.seconds(13)) { !$0.seen.isEmpty })
    _ = await dialler.on { $0.search(sessionID: nil) }
    for _ in 0..<3 {
      let failure = await dial()
      #expect(failure == nil, "\(String(describing: failure))")
      // As the transport tells of who has come.
      _ = await hidden.on { $0.reachedOverLowEnergy() }
      // A further dial would go over the link that there is.
      #expect(BlueZBench.run("fault cut 0 1") == 0)
    }
    #expect(await hidden.adapter(Self.second)?.isDiscoverable == before?.isDiscoverable)
    #expect(await hidden.adapter(Self.second)?.uuids == before?.uuids)
    _ = await hidden.on { $0.setExpecting(false) }
    #expect(await hidden.wait { await $0.adapter(Self.second)?.advertisementsLeft == before?.advertisementsLeft })
    #expect(await dial() != nil)
    await listening.end()
    for bench in [hidden, dialler] { await bench.shutDown() }
    #expect(await hidden.adapter(Self.second)?.isPowered == before?.isPowered)
    for bench in [hidden, dialler] { bench.stop() }
  }

  @Test("fifty rounds leave no match, no registration, no descriptor")
  func rounds() async throws {
    let bench = try await BlueZBench(adapter: Self.first)
    await bench.advertise(1)
    _ = await bench.on { $0.search(sessionID: "bench") }
    #expect(await bench.wait { await $0.on { $0.isAdvertising } == true })
    let services = await bench.adapter(Self.first)?.uuids
    let slots = await bench.on { $0.slotCount }
    let descriptors = descriptorCount()
    for round in 0..<50 as Range<UInt64> {
      _ = await bench.on { $0.advertise(nil) }
      _ = await bench.on { $0.search(sessionID: round % 2 == 0 ? nil : "bench") }
      await bench.advertise(1, incarnation: round)
      try #require(await bench.wait { await $0.on { $0.isAdvertising } == true })
    }
    #expect(await bench.wait { await $0.on { $0.slotCount } == slots })
    #expect(await bench.adapter(Self.first)?.uuids == services)
    #expect(descriptorCount() == descriptors)
    await bench.shutDown()
    bench.stop()
  }

  @Test(
    "after a restart of bluetoothd the registrations come back",
    .enabled(if: getenv("PICONET_BLUETOOTH_VM") != nil, "restarts bluetoothd, so only in the virtual machine"))
  func restart() async throws {
    let bench = try await BlueZBench(adapter: Self.first)
    await bench.advertise(1)
    #expect(await bench.wait { await $0.on { $0.isAdvertising } == true })
    let killed = BlueZBench.run("fault daemon-kill")
    #expect(killed == 0)
    #expect(await bench.wait { await $0.on { $0.hasDaemon } == false })
    let started = BlueZBench.run("fault daemon-start >/dev/null 2>&1")
    #expect(started == 0)
    #expect(await bench.wait { await $0.on { $0.isAdvertising } == true })
    await bench.shutDown()
    #expect(await bench.adapter(Self.first)?.isDiscoverable == false)
    bench.stop()
  }

  @Test("a profile's UUID that another program has taken is no obstacle")
  func takenUUID() async throws {
    let bench = try await BlueZBench(adapter: Self.first)
    let service = try BluetoothUUID.session("bench")
    let peer = try #require(BlueZBench.peer(1))
    let content = ProfileContent(
      service: service,
      record: NodeRecord(peer: peer, incarnation: Incarnation(rawValue: 1), name: "node", sessionID: "bench"))
    let uuid = BlueZMachine.profileUUID(content, attempt: 0).description
    let foreign = await bench.loop.perform { [loop = bench.loop] in
      LoopBox((try? DBusConnection(loop: loop, address: .system)))
    }
    let result = await withCheckedContinuation { done in
      bench.loop.execute {
        guard let connection = foreign.value else { return done.resume(returning: false) }
        connection.call(
          BlueZNames.service, BlueZNames.managerPath, BlueZNames.profileManagerInterface, "RegisterProfile",
          [.path("/foreign"), .string(uuid), .properties(["Role": .string("server")])], timeout: .seconds(5)
        ) { if case .success = $0 { done.resume(returning: true) } else { done.resume(returning: false) } }
      }
    }
    #expect(result)
    await bench.advertise(1)
    #expect(await bench.wait { await $0.on { $0.isAdvertising } == true })
    await bench.shutDown()
    await bench.loop.perform { foreign.value?.close() }
    bench.stop()
  }

  @Test("the status tells of daemon, version and adapters")
  func status() async throws {
    let bench = try await BlueZBench(adapter: Self.first)
    let status = await bench.status()
    #expect(status.daemon == .running)
    #expect(status.version?.hasPrefix("5.") == true)
    #expect(status.adapters.count >= 2)
    #expect(status.adapters.first?.roles.contains("peripheral") == true)
    await bench.shutDown()
    bench.stop()
  }

  @Test("messages of bluetoothd can be written down: list, sightings, the end of a scan")
  func transcript() async throws {
    let one = try await BlueZBench(adapter: Self.first)
    let two = try await BlueZBench(adapter: Self.second)
    let lines = Mutex<[String]>([])
    let loop = one.loop
    let bus = await loop.perform { () -> LoopBox<BlueZBus> in
      var bus: BlueZBus?
      let made = BlueZBus(loop: loop, address: .system, objects: []) { event in
        switch event {
        case .signal(let fact): lines.withLock { $0 += BlueZTranscript.lines(fact) }
        case .daemon(let name):
          guard name != nil else { return }
          let list = BlueZCall(
            path: "/", interface: BlueZNames.objectManagerInterface, member: "GetManagedObjects", arguments: [],
            timeout: .seconds(5))
          bus?.call(list) { result in
            guard case .success(let values) = result else { return }
            for entry in values.first?.entries ?? [] {
              let fact = BlueZFact.interfacesAdded(path: entry.key.text ?? "", ObjectTree.interfaces(entry.value))
              lines.withLock { $0 += BlueZTranscript.lines(fact) }
            }
          }
        }
      }
      bus = made
      return LoopBox(made)
    }
    await two.advertise(2, name: "two")
    #expect(await two.wait { await $0.on { $0.isAdvertising } == true })
    _ = await one.on { $0.search(sessionID: "bench") }
    #expect(await one.wait { !$0.seen.isEmpty })
    for bench in [one, two] { await bench.shutDown() }
    await loop.perform { bus.value.close() }
    let written = lines.withLock { $0 }
    #expect(written.contains { $0.hasPrefix("+ /org/bluez/hci0 org.bluez.Adapter1 Address s ") })
    #expect(written.contains { $0.contains("Discoverable b true") })
    BlueZTranscript.write(written)
    for bench in [one, two] { bench.stop() }
  }

  private static func set(_ property: String, _ isOn: Bool, _ bench: BlueZBench) async -> Bool {
    await withCheckedContinuation { done in
      bench.loop.execute { [loop = bench.loop] in
        guard let connection = try? DBusConnection(loop: loop, address: .system) else {
          return done.resume(returning: false)
        }
        connection.call(
          BlueZNames.service, "/org/bluez/\(first)", BlueZNames.propertiesInterface, "Set",
          [.string(BlueZNames.adapterInterface), .string(property), .variant(.bool(isOn))], timeout: .seconds(5)
        ) { result in
          connection.close()
          if case .success = result { done.resume(returning: true) } else { done.resume(returning: false) }
        }
      }
    }
  }
}

/// Carries a value that belongs to a loop through a test's task, which does not touch it.
struct LoopBox<Value>: @unchecked Sendable {
  // Sendable is right: the value is made and used on one loop only.
  let value: Value
  init(_ value: Value) { self.value = value }
}
