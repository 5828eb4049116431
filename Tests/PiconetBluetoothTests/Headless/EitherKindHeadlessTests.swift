import Glibc
import PiconetBluetooth
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import TestSupport
import Testing

extension HeadlessTests {
  /// Nodes with bluetoothd and nodes without it: one kind gives its record by SDP, the other on the record channel.
  @Suite("With and without bluetoothd", .serialized)
  struct EitherKindTests {
    /// What comes of reading from the second adapter in every way, while `serve` answers there.
    static func read(
      _ serve: @escaping @Sendable (EventLoop, TestAdapter) throws -> () -> Void
    ) async throws -> RecordChannelTests.Outcome {
      let adapters = try TestAdapter.all()
      for adapter in adapters.prefix(2) { try adapter.prepare() }
      let before = descriptorCount()
      let loop = try EventLoop(name: "either-test")
      let service = try BluetoothUUID.session(TestRecord.sessionID)
      let outcome: RecordChannelTests.Outcome = await withCheckedContinuation { continuation in
        loop.execute {
          var close = {}
          do {
            close = try serve(loop, adapters[1])
          } catch {
            Issue.record("\(error)")
          }
          let reader = DeviceRecordReader(loop: loop, adapter: adapters[0].device, sessionID: TestRecord.sessionID)
          _ = reader.readRecords(of: service, on: BluetoothPlace(device: adapters[1].device)) { outcome in
            reader.close()
            close()
            continuation.resume(returning: outcome)
          }
        }
      }
      #expect(await loop.perform { loop.watchCount } == 0)
      loop.stop()
      #expect(descriptorCount() == before)
      return outcome
    }

    @Test func aNodeWithoutBluetoothdIsReadByOneThatAsksBySDPFirst() async throws {
      let record = try TestRecord.make(TestAdapter.all()[1].device)
      let service = try BluetoothUUID.session(TestRecord.sessionID)
      let outcome = try await Self.read { loop, adapter in
        let server = try RecordServer(record, of: service, kind: .l2cap, adapter: adapter.device, loop: loop)
        return { server.close() }
      }
      #expect(outcome == .success([record]))
    }

    @Test func aNodeOfBluetoothdIsReadBySDP() async throws {
      let record = try TestRecord.make(TestAdapter.all()[1].device)
      let bytes = try SDPClientTests.lists([record])
      let outcome = try await Self.read { loop, adapter in
        let server = try FakeSDPServer(on: adapter.device, loop: loop, behaviour: FakeSDPServer.parts(of: bytes))
        return { server.close() }
      }
      #expect(outcome == .success([record]))
    }

    @Test func aDeviceThatHasNeitherHasNoService() async throws {
      let outcome = try await Self.read { _, _ in {} }
      guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
      #expect(failure.code == .noService, "\(failure)")
    }

    /// As bluetoothd announces a node: with the UUID in the inquiry response, and nothing about a record channel.
    @Test func aSearchWithoutBluetoothdFindsANodeOfBluetoothd() async throws {
      let adapters = try TestAdapter.all()
      for adapter in adapters.prefix(2) { try adapter.prepare() }
      let record = try TestRecord.make(adapters[1].device, name: "by SDP")
      let bytes = try SDPClientTests.lists([record])
      let service = try BluetoothUUID.session(TestRecord.sessionID)
      let response = try AdvertisingData([AdvertisingData.services128([service])]).encoded(limit: 240)
      let before = try adapters[1].answer(to: .readInquiryResponse)
      _ = try adapters[1].answer(to: .writeInquiryResponse(response))
      try runProgram("hciconfig", "hci\(adapters[1].index)", "piscan")
      let loop = try EventLoop(name: "headless")
      let server = await loop.perform {
        OnLoop(
          try? FakeSDPServer(on: adapters[1].device, loop: loop, behaviour: FakeSDPServer.parts(of: bytes)))
      }
      let node = try await DiscoveryTests.Node.make(adapters[0], on: loop)
      await node.search()
      guard case .seen(let sighting) = await node.next() else { return #expect(Bool(false)) }
      #expect(sighting.name == "by SDP")
      #expect(sighting.addresses.map(\.kind) == [.l2cap, .rfcomm, .le])
      // As the emulated adapters report it.
      #expect(sighting.signalStrength == nil || sighting.signalStrength == -60)
      print("heard with", sighting.signalStrength ?? 0, "dBm")
      await node.close()
      await loop.perform { server.value?.close() }
      loop.stop()
      _ = try adapters[1].answer(to: .writeInquiryResponse(Array(before.dropFirst())))
      try adapters[1].prepare()
    }
  }
}
