import CPiconetBluetooth
import Glibc
import PiconetBluetooth
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import PiconetWire
import TestSupport
import Testing

extension HeadlessTests {
  /// Two nodes on two adapters of one kernel, without bluetoothd.
  @Suite("Discovery with the kernel alone", .serialized)
  struct DiscoveryTests {
    /// The discovery of one node, and what it has reported.
    final class Node: @unchecked Sendable {
      // Sendable is right: it is used on its loop only, except for the stream, which is Sendable.
      let loop: EventLoop
      let discovery: HeadlessDiscovery
      let reports: AsyncStream<DiscoveryReport>

      private init(loop: EventLoop, discovery: HeadlessDiscovery) {
        self.loop = loop
        self.discovery = discovery
        let (reports, continuation) = AsyncStream<DiscoveryReport>.makeStream()
        self.reports = reports
        discovery.setHandler { continuation.yield($0) }
      }

      static func make(_ adapter: TestAdapter, on loop: EventLoop) async throws -> Node {
        try await loop.perform {
          Result<Node, any Error> {
            var options = HeadlessDiscovery.Options()
            options.inquiryLength = 2
            options.pause = .milliseconds(300)
            return Node(
              loop: loop,
              discovery: try HeadlessDiscovery(
                index: adapter.index, adapter: adapter.device, loop: loop, options: options))
          }
        }.get()
      }

      func advertise(_ number: UInt8, incarnation: UInt64, name: String = "node", info: [String: String] = [:]) async {
        guard let peer = PeerID(bytes: [UInt8](repeating: number, count: 32)) else { return }
        let advertisement = NodeAdvertisement(
          peer: peer, incarnation: Incarnation(rawValue: incarnation), name: name, info: info,
          sessionID: TestRecord.sessionID,
          ports: [.l2cap: 0x1005, .rfcomm: 3, .tcp: 4444])
        await loop.perform { self.discovery.advertise(advertisement) }
      }

      func search() async { await loop.perform { self.discovery.search(sessionID: TestRecord.sessionID) } }
      func close() async { await loop.perform { self.discovery.close() } }
      func failure() async -> LinkFailure? { await loop.perform { self.discovery.failure } }

      func next() async -> DiscoveryReport? {
        for await report in reports { return report }
        return nil
      }
    }

    @Test func twoNodesFindEachOtherAndAgainAfterARestartAndLoseWhoIsGone() async throws {
      let adapters = try TestAdapter.all()
      let before = descriptorCount()
      let loop = try EventLoop(name: "headless")
      let one = try await Node.make(adapters[0], on: loop)
      let two = try await Node.make(adapters[1], on: loop)
      let clock = ContinuousClock()
      let start = clock.now
      await one.advertise(1, incarnation: 11, name: "one")
      await two.advertise(2, incarnation: 22, name: "two", info: ["role": "takes"])
      await one.search()
      await two.search()
      guard case .seen(let two1) = await one.next() else { return #expect(Bool(false)) }
      guard case .seen(let one1) = await two.next() else { return #expect(Bool(false)) }
      print("found each other after \(start.duration(to: clock.now))")
      #expect(two1.incarnation == Incarnation(rawValue: 22))
      #expect(two1.name == "two")
      #expect(two1.info == ["role": "takes"])
      #expect(
        two1.addresses == [
          TransportAddress(kind: .l2cap, text: "\(adapters[1].device)/0x1005"),
          TransportAddress(kind: .rfcomm, text: "\(adapters[1].device)/3"),
        ])
      #expect(one1.name == "one")

      let restart = clock.now
      await two.advertise(2, incarnation: 23, name: "two")
      #expect(await one.next() == .gone(two1.peer, two1.incarnation))
      guard case .seen(let two2) = await one.next() else { return #expect(Bool(false)) }
      #expect(two2.incarnation == Incarnation(rawValue: 23))
      print("restart seen after \(restart.duration(to: clock.now))")

      let end = clock.now
      await two.close()
      #expect(await one.next() == .gone(two2.peer, two2.incarnation))
      print("lost after \(end.duration(to: clock.now))")
      #expect(await one.failure() == nil)
      await one.close()
      loop.stop()
      #expect(descriptorCount() == before)
    }

    @Test func theAdapterIsLeftAsItWas() async throws {
      let adapter = try TestAdapter.all()[0]
      try adapter.prepare()
      let data: [UInt8] = [3, AdvertisingData.Kind.allUUIDs16, 0x01, 0x11]
      _ = try adapter.answer(to: .writeInquiryResponse(data))
      let questions: [HCICommand] = [.readScanEnable, .readInquiryMode, .readInquiryResponse]
      let before = try questions.map { try adapter.answer(to: $0) }
      let loop = try EventLoop(name: "headless")
      let node = try await Node.make(adapter, on: loop)
      await node.advertise(1, incarnation: 1)
      await node.search()
      try expectScan(3, adapter)
      #expect(try adapter.answer(to: .readInquiryResponse) != before[2])
      await node.close()
      #expect(try questions.map { try adapter.answer(to: $0) } == before)
      #expect(piconet_hci_is_up(adapter.index) == 1)
      loop.stop()
    }

    /// The controller comes to answer inquiries (1) and pages (2) so. Nothing tells of it, so it is asked; that ends,
    /// since each answer of the controller has a time limit.
    private func expectScan(_ scan: UInt8, _ adapter: TestAdapter) throws {
      for _ in 0..<200 where try adapter.answer(to: .readScanEnable) != [scan] { usleep(20_000) }
      #expect(try adapter.answer(to: .readScanEnable) == [scan])
    }

    @Test func whileSomebodyIsExpectedTheAdapterAnswersPagesAndNoInquiry() async throws {
      let adapter = try TestAdapter.all()[0]
      try adapter.prepare()
      try #require(piconet_hci_set_scan(adapter.index, 0) == 0)
      let loop = try EventLoop(name: "headless")
      let node = try await Node.make(adapter, on: loop)
      await loop.perform { node.discovery.setExpecting(true) }
      try expectScan(2, adapter)
      await node.advertise(1, incarnation: 1)
      try expectScan(3, adapter)
      await loop.perform { node.discovery.advertise(nil) }
      try expectScan(2, adapter)
      await loop.perform { node.discovery.setExpecting(false) }
      try expectScan(0, adapter)
      await loop.perform { node.discovery.setExpecting(true) }
      try expectScan(2, adapter)
      await node.close()
      #expect(try adapter.answer(to: .readScanEnable) == [0])
      loop.stop()
    }

    @Test func anAdapterThatWasOffIsOffAgain() async throws {
      let adapter = try TestAdapter.all()[0]
      try #require(piconet_hci_set_up(adapter.index, 0) == 0)
      let loop = try EventLoop(name: "headless")
      for waits in [true, false] {
        let node = try await Node.make(adapter, on: loop)
        for _ in 0..<200 where waits {
          if await loop.perform({ node.discovery.isReady }) { break }
          usleep(20_000)
        }
        if waits { #expect(piconet_hci_is_up(adapter.index) == 1) }
        await node.close()
        #expect(piconet_hci_is_up(adapter.index) == 0, "ready: \(waits)")
      }
      loop.stop()
    }

    @Test func whileTheRadioIsBusyThereIsNoInquiry() async throws {
      let adapters = try TestAdapter.all()
      let loop = try EventLoop(name: "headless")
      let one = try await Node.make(adapters[0], on: loop)
      let two = try await Node.make(adapters[1], on: loop)
      await loop.perform { one.discovery.setRadioBusy(true) }
      await two.advertise(2, incarnation: 22)
      await one.search()
      // Twice as long as finding takes otherwise, inquiries included.
      let quiet = Task { await one.next() }
      try await Task.sleep(for: .seconds(4))
      await loop.perform { one.discovery.setRadioBusy(false) }
      let clock = ContinuousClock()
      let start = clock.now
      guard case .seen = await quiet.value else { return #expect(Bool(false)) }
      // It came after the radio was free, not before: a report that had been waiting would be here at once.
      #expect(start.duration(to: clock.now) > .milliseconds(5))
      await two.close()
      await one.close()
      loop.stop()
    }
  }
}
