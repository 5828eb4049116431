import CPiconetBluetooth
import Glibc
import PiconetBluetooth
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import PiconetWire
import Testing

extension HeadlessTests {
  @Suite("An adapter that goes and comes back, with the kernel alone", .serialized)
  struct LostAdapterTests {
    /// Two nodes, of which the first has found the second.
    static func pair(_ loop: EventLoop) async throws -> (one: DiscoveryTests.Node, two: DiscoveryTests.Node) {
      let adapters = try TestAdapter.all()
      for adapter in adapters.prefix(2) { try adapter.prepare() }
      let one = try await DiscoveryTests.Node.make(adapters[0], on: loop)
      let two = try await DiscoveryTests.Node.make(adapters[1], on: loop)
      await two.advertise(2, incarnation: 22)
      await one.search()
      guard case .seen = await one.next() else { throw NotSeen() }
      return (one, two)
    }

    struct NotSeen: Error {}

    /// Looks until the condition holds; each look takes its time. False if it never does.
    static func becomes(_ looks: Int = 1000, _ condition: () async throws -> Bool) async throws -> Bool {
      for _ in 0..<looks {
        if try await condition() { return true }
        usleep(20_000)
      }
      return false
    }

    @Test func whatIsToldIsToldAgainWhenTheAdapterIsSwitchedOnAgainAndNotBefore() async throws {
      let loop = try EventLoop(name: "headless")
      let (one, two) = try await Self.pair(loop)
      let adapter = try TestAdapter.all()[1]
      try #require(piconet_hci_set_up(adapter.index, 0) == 0)
      #expect(try await Self.becomes { await two.failure() != nil })
      // The user has switched it off on purpose, and it stays off.
      #expect(try await !Self.becomes(150) { piconet_hci_is_up(adapter.index) == 1 })
      try #require(piconet_hci_set_up(adapter.index, 1) == 0)
      #expect(try await Self.becomes { try adapter.answer(to: .readScanEnable) == [3] })
      #expect(try await Self.becomes { await two.failure() == nil })
      // Whether it was lost meanwhile or not, a search that begins now finds it.
      await one.close()
      let later = try await DiscoveryTests.Node.make(TestAdapter.all()[0], on: loop)
      await later.search()
      guard case .seen(let sighting) = await later.next() else { return #expect(Bool(false)) }
      #expect(sighting.incarnation.rawValue == 22)
      await later.close()
      await two.close()
      #expect(try adapter.answer(to: .readScanEnable) == [2], "as it was before us")
      loop.stop()
    }

    @Test func aSearchGoesOnWhenItsAdapterIsBackAndWhatItHadSeenIsGoneMeanwhile() async throws {
      let loop = try EventLoop(name: "headless")
      let (one, two) = try await Self.pair(loop)
      let adapter = try TestAdapter.all()[0]
      try #require(piconet_hci_set_up(adapter.index, 0) == 0)
      guard case .gone = await one.next() else { return #expect(Bool(false)) }
      try #require(piconet_hci_set_up(adapter.index, 1) == 0)
      guard case .seen = await one.next() else { return #expect(Bool(false)) }
      #expect(await one.failure() == nil)
      await one.close()
      await two.close()
      loop.stop()
    }

    @Test(
      .enabled(if: VirtualAdapters.hasFaults, VirtualAdapters.faultReason))
    func anAdapterThatWasPulledOutIsTakenUpWhenItIsPutInAgain() async throws {
      let loop = try EventLoop(name: "headless")
      let (one, two) = try await Self.pair(loop)
      let number = "\(try TestAdapter.all()[1].index)"
      try VirtualAdapters.fault("gone", number)
      #expect(try await Self.becomes { await two.failure() != nil })
      try VirtualAdapters.fault("back", number)
      #expect(try await Self.becomes { await loop.perform { two.discovery.isReady } })
      let adapter = try TestAdapter.all()[1]
      #expect(try await Self.becomes { try adapter.answer(to: .readScanEnable) == [3] })
      await one.close()
      await two.close()
      // It was off when it came back: it was us who had switched it on.
      #expect(piconet_hci_is_up(adapter.index) >= 0)
      loop.stop()
    }
  }
}
