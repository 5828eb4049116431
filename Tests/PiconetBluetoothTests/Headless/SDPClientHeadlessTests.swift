import Glibc
import PiconetBluetooth
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import TestSupport
import Testing

extension HeadlessTests {
  /// A client on the first adapter, and on the second one a server that answers whatever it likes.
  @Suite("SDP with any server", .serialized)
  struct SDPClientTests {
    typealias Outcome = Result<[NodeRecord], LinkFailure>

    /// Reads from the second adapter while it answers so, and checks that nothing is left.
    static func read(
      timeLimit: Duration = .seconds(5), times: Int = 1, _ behaviour: @escaping @Sendable (UInt16, Int) -> [[UInt8]]
    ) async throws -> [Outcome] {
      let adapters = try TestAdapter.all()
      for adapter in adapters.prefix(2) { try adapter.prepare() }
      let before = descriptorCount()
      let loop = try EventLoop(name: "sdp-test")
      let service = try BluetoothUUID.session(TestRecord.sessionID)
      let outcomes: [Outcome] = await withCheckedContinuation { continuation in
        loop.execute {
          var outcomes: [Outcome] = []
          var server: FakeSDPServer?
          do {
            server = try FakeSDPServer(on: adapters[1].device, loop: loop, behaviour: behaviour)
          } catch {
            Issue.record("\(error)")
          }
          let client = SDPClient(
            loop: loop, adapter: adapters[0].device, sessionID: TestRecord.sessionID, timeLimit: timeLimit)
          for _ in 0..<times {
            _ = client.readRecords(of: service, on: BluetoothPlace(device: adapters[1].device)) { outcome in
              outcomes.append(outcome)
              if outcomes.count == times {
                server?.close()
                client.close()
                continuation.resume(returning: outcomes)
              }
            }
            #expect(outcomes.isEmpty, "never within the call")
          }
        }
      }
      #expect(await loop.perform { loop.watchCount } == 0)
      loop.stop()
      #expect(descriptorCount() == before)
      return outcomes
    }

    static func lists(_ records: [NodeRecord]) throws -> [UInt8] {
      let service = try BluetoothUUID.session(TestRecord.sessionID)
      return DataElement.sequence(try records.map { try $0.attributes(of: service).element }).encoded
    }

    @Test func aRecordIsReadInOnePartAndInMany() async throws {
      let record = try TestRecord.make(TestAdapter.all()[1].device)
      let bytes = try Self.lists([record])
      for size in [600, 7] {
        let outcomes = try await Self.read { FakeSDPServer.parts(of: bytes, each: size)($0, $1) }
        #expect(outcomes == [.success([record])], "parts of \(size)")
      }
    }

    @Test func recordsOfOtherAdaptersAndSessionsArePassedOver() async throws {
      let adapters = try TestAdapter.all()
      let ours = try TestRecord.make(adapters[1].device)
      let elsewhere = try TestRecord.make(adapters[0].device)
      let other = try TestRecord.make(adapters[1].device, sessionID: "work")
      let bytes = try Self.lists([elsewhere, other, ours])
      #expect(try await Self.read { FakeSDPServer.parts(of: bytes)($0, $1) } == [.success([ours])])
      let foreign = try Self.lists([elsewhere, other])
      let outcome = try await Self.read { FakeSDPServer.parts(of: foreign)($0, $1) }[0]
      #expect(throws: LinkFailure.self) { try outcome.get() }
      if case .failure(let failure) = outcome { #expect(failure.code == .noService, "\(failure)") }
    }

    @Test func noRecordIsNoService() async throws {
      let outcome = try await Self.read { transaction, _ in [FakeSDPServer.part([0x35, 0], transaction: transaction)] }[
        0]
      guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
      #expect(failure.code == .noService)
    }

    /// Hostile answers, and words of the reason with which each must end.
    static let hostile:
      [(name: String, answer: @Sendable (UInt16, Int) -> [[UInt8]], code: LinkFailure.Code, word: String)] =
        [
          ("garbage", { _, _ in [(0..<200).map { UInt8($0) }] }, .other, "says"),
          ("one byte", { _, _ in [[7]] }, .other, "cut off"),
          (
            "other transaction", { transaction, _ in [FakeSDPServer.part([0x35, 0], transaction: transaction &+ 1)] },
            .other, "transaction"
          ),
          ("wrong kind", { transaction, _ in [FakeSDPServer.packet(0x05, transaction, [0, 0, 0])] }, .other, "kind"),
          ("error", { transaction, _ in [FakeSDPServer.packet(0x01, transaction, [0, 3])] }, .other, "error 3"),
          ("short error", { transaction, _ in [FakeSDPServer.packet(0x01, transaction, [0])] }, .other, "cut off"),
          (
            "length of the packet",
            { transaction, _ in [FakeSDPServer.packet(0x07, transaction, [0, 2, 0x35, 0, 0], length: 0xFFFF)] }, .other,
            "says"
          ),
          (
            "count of the lists",
            { transaction, _ in [FakeSDPServer.packet(0x07, transaction, [0xFF, 0xFF, 0x35, 0, 0])] },
            .other, "cut off"
          ),
          (
            "long continuation",
            { transaction, _ in
              [FakeSDPServer.part([0x35, 0], transaction: transaction, continuation: [UInt8](repeating: 1, count: 17))]
            }, .other, "continuation"
          ),
          (
            "continuation that is not there",
            { transaction, _ in [FakeSDPServer.packet(0x07, transaction, [0, 2, 0x35, 0, 9, 1])] }, .other, "says"
          ),
          (
            "endless parts",
            { transaction, _ in
              [FakeSDPServer.part([UInt8](repeating: 0, count: 600), transaction: transaction, continuation: [1])]
            }, .other, "more than"
          ),
          (
            "endless empty parts",
            { transaction, _ in [FakeSDPServer.part([], transaction: transaction, continuation: [1])] }, .other, "empty"
          ),
          (
            "deep nesting",
            { transaction, round in
              var bytes: [UInt8] = []
              for depth in 0..<200 { bytes += [0x36, UInt8((199 - depth) * 3 >> 8), UInt8((199 - depth) * 3 & 0xFF)] }
              return FakeSDPServer.parts(of: bytes)(transaction, round)
            }, .other, "deeper"
          ),
          (
            "many elements",
            { transaction, round in
              FakeSDPServer.parts(of: [0x36, 0x10, 0] + [UInt8](repeating: 0, count: 4096))(transaction, round)
            }, .other, "elements"
          ),
          (
            "a length beyond the end",
            { transaction, _ in [FakeSDPServer.part([0x37, 0xFF, 0xFF, 0xFF, 0xFF], transaction: transaction)] },
            .other,
            "cut off"
          ),
          (
            "not a sequence", { transaction, _ in [FakeSDPServer.part([0x08, 1], transaction: transaction)] }, .other,
            "sequence"
          ),
          ("nothing", { _, _ in [] }, .timedOut, "within"),
          ("close", { _, _ in [[]] }, .reset, ""),
          (
            "wrong types",
            { transaction, _ in
              [FakeSDPServer.part([0x35, 7, 0x35, 5, 0x09, 0x80, 0x00, 0x08, 9], transaction: transaction)]
            }, .noService, "version"
          ),
        ]

    @Test(arguments: hostile.indices.map { $0 })
    func everyHostileAnswerEndsWithItsReasonWithinItsLimits(index: Int) async throws {
      let attack = Self.hostile[index]
      let clock = ContinuousClock()
      let start = clock.now
      let outcome = try await Self.read(timeLimit: .seconds(4), attack.answer)[0]
      guard case .failure(let failure) = outcome else {
        Issue.record("\(attack.name): \(outcome)")
        return
      }
      #expect(failure.code == attack.code, "\(attack.name): \(failure)")
      #expect(failure.detail.contains(attack.word), "\(attack.name): \(failure)")
      #expect(start.duration(to: clock.now) < .seconds(7), "\(attack.name)")
      print("\(attack.name): \(failure)")
    }

    @Test func eightAreAskedAtATimeAndSixtyFourWaitAndMoreAreRefused() async throws {
      let record = try TestRecord.make(TestAdapter.all()[1].device)
      let bytes = try Self.lists([record])
      // Nothing has begun within the call, so eight run, 64 wait, and two are too many.
      let outcomes = try await Self.read(times: 74) { FakeSDPServer.parts(of: bytes)($0, $1) }
      var busy = 0
      var read = 0
      for outcome in outcomes {
        switch outcome {
        case .success: read += 1
        case .failure(let failure): if failure.code == .busy { busy += 1 }
        }
      }
      #expect((read, busy) == (72, 2))
    }

    @Test func nobodyAtTheAddressIsAHostThatIsDown() async throws {
      let adapters = try TestAdapter.all()
      try adapters[0].prepare()
      let outcome = try await Self.readElsewhere(
        from: adapters[0].device, BluetoothPlace(device: BluetoothAddress(rawValue: 0x00AA_01FF_00FF)), cancel: false)
      guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
      print("nobody there: \(failure)")
      #expect(failure.code == .hostDown, "\(failure)")
    }

    @Test func aDeviceWithoutAnSDPServerRefuses() async throws {
      let adapters = try TestAdapter.all()
      for adapter in adapters.prefix(2) { try adapter.prepare() }
      let outcome = try await Self.readElsewhere(
        from: adapters[0].device, BluetoothPlace(device: adapters[1].device), cancel: false)
      guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
      #expect(failure.code == .refused, "\(failure)")
    }

    @Test func aReadingThatIsCancelledSaysSoAndARandomAddressHasNoSDP() async throws {
      let adapters = try TestAdapter.all()
      let place = BluetoothPlace(device: adapters[1].device)
      #expect(
        try await Self.readElsewhere(from: adapters[0].device, place, cancel: true) == .failure(LinkFailure(.cancelled))
      )
      let random = BluetoothPlace(device: adapters[1].device, isRandom: true)
      let outcome = try await Self.readElsewhere(from: adapters[0].device, random, cancel: false)
      guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
      #expect(failure.code == .notAvailable)
    }

    static func readElsewhere(
      from adapter: BluetoothAddress, _ place: BluetoothPlace, cancel: Bool
    ) async throws -> Outcome {
      let loop = try EventLoop(name: "sdp-test")
      defer { loop.stop() }
      let service = try BluetoothUUID.session(TestRecord.sessionID)
      let client = OnLoop<SDPClient?>(nil)
      let outcome: Outcome = await withCheckedContinuation { continuation in
        loop.execute {
          let made = SDPClient(loop: loop, adapter: adapter, sessionID: TestRecord.sessionID)
          client.value = made
          let reading = made.readRecords(of: service, on: place) { continuation.resume(returning: $0) }
          if cancel { reading.cancel() }
          if cancel { reading.cancel() }
        }
      }
      await loop.perform { client.value = nil }
      return outcome
    }
  }
}
