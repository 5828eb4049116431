import Glibc
import PiconetBluetooth
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import TestSupport
import Testing

extension HeadlessTests {
  @Suite("The record channel", .serialized)
  struct RecordChannelTests {
    typealias Outcome = Result<[NodeRecord], LinkFailure>

    static func read(
      _ kind: SocketKind, times: Int, psm: UInt16? = nil, serve: Bool = true, timeLimit: Duration = .seconds(5)
    ) async throws -> (record: NodeRecord, outcomes: [Outcome]) {
      let adapters = try TestAdapter.all()
      for adapter in adapters.prefix(2) { try adapter.prepare() }
      let record = try TestRecord.make(adapters[1].device, name: "Zoë's <laptop>")
      let before = descriptorCount()
      let loop = try EventLoop(name: "record-test")
      let service = try BluetoothUUID.session(TestRecord.sessionID)
      let outcomes: [Outcome] = await withCheckedContinuation { continuation in
        loop.execute {
          var outcomes: [Outcome] = []
          var server: RecordServer?
          do {
            if serve {
              server = try RecordServer(
                record, of: service, kind: kind, adapter: adapters[1].device, psm: psm, loop: loop)
            }
          } catch {
            Issue.record("\(error)")
          }
          let reader = RecordChannelReader(
            kind: kind, adapter: adapters[0].device, sessionID: TestRecord.sessionID, loop: loop, timeLimit: timeLimit)
          for _ in 0..<times {
            let place = BluetoothPlace(device: adapters[1].device, port: psm == nil ? nil : server?.psm)
            _ = reader.readRecords(of: service, on: place) { outcome in
              outcomes.append(outcome)
              if outcomes.count == times {
                server?.close()
                continuation.resume(returning: outcomes)
              }
            }
          }
        }
      }
      #expect(await loop.perform { loop.watchCount } == 0)
      loop.stop()
      #expect(descriptorCount() == before)
      return (record, outcomes)
    }

    @Test func aRecordIsReadFromTheFixedNumberAndFromAChosenOne() async throws {
      for psm: UInt16? in [nil, 0] {
        let (record, outcomes) = try await Self.read(.l2cap, times: 1, psm: psm)
        #expect(outcomes == [.success([record])])
      }
    }

    @Test func manyReadersGetItOneAfterTheOther() async throws {
      let (record, outcomes) = try await Self.read(.l2cap, times: 40)
      #expect(outcomes.allSatisfy { $0 == .success([record]) }, "\(outcomes.filter { $0 != .success([record]) })")
    }

    /// Without the management interface the kernel leaves LE switched off: that is why Piconet without bluetoothd uses
    /// BR/EDR.
    @Test func overLENobodyGetsThrough() async throws {
      let (_, outcomes) = try await Self.read(.le, times: 1)
      guard case .failure = outcomes[0] else { return #expect(Bool(false)) }
    }

    @Test func whereNobodyListensItIsRefused() async throws {
      let (_, outcomes) = try await Self.read(.l2cap, times: 1, serve: false)
      guard case .failure(let failure) = outcomes[0] else { return #expect(Bool(false)) }
      #expect(failure.code == .refused, "\(failure)")
    }
  }
}
