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

@Suite("D-Bus on the loop", .enabled(if: PrivateBus.isAvailable, "dbus-daemon is not installed"))
struct PrivateBusTests {
  /// Something that calls itself org.bluez and has one adapter, confined to the loop.
  final class Pretender {
    let connection: DBusConnection
    private(set) var calls: [String] = []
    /// The same, as they come.
    let arrivals: AsyncStream<String>
    private let arriving: AsyncStream<String>.Continuation

    init(
      _ loop: EventLoop, _ address: String, profileAnswer: String = "org.bluez.Error.DoesNotExist"
    ) throws(DBusFailure) {
      (arrivals, arriving) = AsyncStream.makeStream()
      connection = try DBusConnection(loop: loop, address: .custom(address))
      export("/", BlueZNames.objectManagerInterface) { call in
        guard call.member == "GetManagedObjects" else { return nil }
        let adapter: [String: DBusValue] = [
          "Address": .string("00:11:22:33:44:55"), "Alias": .string("a\u{1B}[2J"), "Powered": .bool(true),
          "DiscoverableTimeout": .uint32(180), "Modalias": .string("usb:v1D6Bp0246d0542"),
          "Odd": .structure([.byte(1), .double(2)]),
        ]
        func interfaces(_ name: String, _ properties: [String: DBusValue]) -> DBusValue {
          .dictionary(key: "s", value: "a{sv}", [DBusEntry(key: .string(name), value: .properties(properties))])
        }
        return .success([
          .dictionary(
            key: "o", value: "a{sa{sv}}",
            [
              DBusEntry(key: .path("/org/bluez"), value: interfaces(BlueZNames.profileManagerInterface, [:])),
              DBusEntry(key: .path("/org/bluez/hci0"), value: interfaces(BlueZNames.adapterInterface, adapter)),
            ])
        ])
      }
      export("/org/bluez", BlueZNames.profileManagerInterface) { call in
        call.member == "UnregisterProfile" ? .failure(DBusFailure(profileAnswer, "")) : .success([])
      }
      export("/org/bluez/hci0", BlueZNames.adapterInterface) { _ in .success([]) }
    }

    private func export(
      _ path: String, _ interface: String, _ answer: @escaping (DBusArrival) -> DBusObject.Answer?
    ) {
      _ = connection.export(
        DBusObject(interface: interface, properties: { [:] }) { [weak self] call in
          self?.calls.append(call.member)
          self?.arriving.yield(call.member)
          return answer(call)
        }, at: path)
    }

    func takeName(_ done: @escaping (Bool) -> Void) {
      connection.call(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
        [.string(BlueZNames.service), .uint32(4)], timeout: .seconds(60)
      ) { if case .success = $0 { done(true) } else { done(false) } }
    }
  }

  static func status(_ loop: EventLoop, _ address: String) async -> BlueZStatus {
    await withCheckedContinuation { done in
      loop.execute { BlueZStatus.read(loop: loop, busAddress: address) { done.resume(returning: $0) } }
    }
  }

  static func takeName(_ loop: EventLoop, _ pretender: LoopBox<Pretender?>) async -> Bool {
    await withCheckedContinuation { done in
      loop.execute {
        guard let pretender = pretender.value else { return done.resume(returning: false) }
        pretender.takeName { done.resume(returning: $0) }
      }
    }
  }

  @Test("no bus, no daemon and a daemon are told apart, and nothing is left of the question")
  func status() async throws {
    let bus = try PrivateBus()
    let address = bus.address
    let loop = try EventLoop(name: "bus-test")
    #expect(await Self.status(loop, address).daemon == .notRunning)
    let pretender = await loop.perform { LoopBox(try? Pretender(loop, address)) }
    #expect(await Self.takeName(loop, pretender))
    let status = await Self.status(loop, address)
    #expect(status.daemon == .running)
    #expect(status.version == "5.66")
    #expect(status.adapters.map(\.kernelName) == ["hci0"])
    #expect(status.profileRefusal == nil)
    #expect(await loop.perform { pretender.value?.calls } == ["GetManagedObjects", "UnregisterProfile"])
    await loop.perform { pretender.value?.connection.close() }
    let strict = await loop.perform {
      LoopBox(try? Pretender(loop, address, profileAnswer: "org.freedesktop.DBus.Error.AccessDenied"))
    }
    #expect(await Self.takeName(loop, strict))
    let refused = await Self.status(loop, address)
    #expect(refused.daemon == .running)
    #expect(refused.profileRefusal?.name == "org.freedesktop.DBus.Error.AccessDenied")
    await loop.perform { strict.value?.connection.close() }
    bus.remove()
    guard case .noBus = await Self.status(loop, address).daemon else {
      Issue.record("the bus is gone")
      return
    }
    #expect(await loop.perform { loop.watchCount } == 0)
    loop.stop()
  }

  @Test("values come through as they were; a call that is not answered ends by its time, one without a bus at once")
  func values() async throws {
    let bus = try PrivateBus()
    let address = bus.address
    let loop = try EventLoop(name: "bus-test")
    let values: [DBusValue] = [
      .byte(255), .bool(true), .int16(-1), .uint16(65535), .int32(-2), .uint32(7), .int64(-3), .uint64(.max),
      .double(0.5),
      .string("ü\u{1B}"), .path("/a/b"), .signature("a{sv}"), .bytes([0, 1, 2]), .bytes([]), .array(of: "s", []),
      .strings(["a", "b"]), .structure([.byte(1), .strings([])]), .variant(.variant(.uint16(3))),
      .properties(["x": .properties(["y": .bytes([9])])]), .dictionary(key: "q", value: "v", []),
    ]
    let pair = await loop.perform { () -> LoopBox<[DBusConnection]> in
      let connections = (0..<2).compactMap { _ in try? DBusConnection(loop: loop, address: .custom(address)) }
      let echo = DBusObject(interface: "org.example.Echo", properties: { [:] }) { .success($0.arguments) }
      _ = connections.last?.export(echo, at: "/echo")
      return LoopBox(connections)
    }
    #expect(pair.value.count == 2)
    let name: String? = await withCheckedContinuation { done in
      loop.execute {
        pair.value[1].call(
          "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
          [.string("org.example.Echo"), .uint32(0)], timeout: .seconds(60)
        ) { _ in done.resume(returning: "org.example.Echo") }
      }
    }
    let destination = try #require(name)
    let echoed: [DBusValue]? = await withCheckedContinuation { done in
      loop.execute {
        pair.value[0].call(destination, "/echo", "org.example.Echo", "Echo", values, timeout: .seconds(60)) {
          done.resume(returning: try? $0.get())
        }
      }
    }
    #expect(echoed == values)
    let process = bus.process
    // The bus goes while a call is under way: its end is told once, and nothing is held any more.
    let (told, telling) = AsyncStream<String>.makeStream()
    let failure: DBusFailure? = await withCheckedContinuation { done in
      loop.execute {
        let connection = pair.value[0]
        pair.value[1].closed = { _ in telling.yield("other") }
        connection.closed = { _ in telling.yield("closed") }
        connection.call(destination, "/echo", "org.example.Echo", "Echo", [.byte(1)], timeout: .seconds(60)) { result in
          if case .failure(let failure) = result {
            done.resume(returning: failure)
          } else {
            done.resume(returning: nil)
          }
        }
        kill(process, SIGKILL)
      }
    }
    #expect(failure == nil || failure?.isUncertain == true)
    var ends: Set<String> = []
    for await end in told { if !ends.insert(end).inserted || ends.count == 2 { break } }
    #expect(ends == ["closed", "other"])
    #expect(await loop.perform { pair.value.map(\.slotCount) } == [0, 0])
    #expect(await loop.perform { loop.watchCount } == 0)
    let late: DBusFailure? = await withCheckedContinuation { done in
      loop.execute {
        pair.value[0].call(destination, "/echo", "org.example.Echo", "Echo", timeout: .seconds(60)) { result in
          if case .failure(let failure) = result {
            done.resume(returning: failure)
          } else {
            done.resume(returning: nil)
          }
        }
      }
    }
    #expect(late?.name == DBusFailure.disconnected)
    bus.remove()
    loop.stop()
  }

  @Test("a call that an answer has brought about ends by its time too, though nothing more comes over the bus")
  func timeOfAnInnerCall() async throws {
    let bus = try PrivateBus()
    let address = bus.address
    let loop = try EventLoop(name: "bus-test")
    let deaf = try EventLoop(name: "bus-deaf")
    let name = "org.example.Deaf"
    let silent = await deaf.perform { LoopBox(try? DBusConnection(loop: deaf, address: .custom(address))) }
    let hasName: Bool = await withCheckedContinuation { done in
      deaf.execute { Self.request(name, silent.value) { done.resume(returning: $0) } }
    }
    #expect(hasName)
    // The owner of the name hears nothing until we close our end.
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let (hearing, speaking) = (ends[0], ends[1])
    await withCheckedContinuation { (isHeldUp: CheckedContinuation<Void, Never>) in
      deaf.execute {
        isHeldUp.resume()
        var byte: UInt8 = 0
        _ = read(hearing, &byte, 1)
      }
    }
    let asking = await loop.perform { LoopBox(try? DBusConnection(loop: loop, address: .custom(address))) }
    let failure: DBusFailure? = await withCheckedContinuation { done in
      loop.execute {
        guard let asking = asking.value else { return done.resume(returning: nil) }
        Self.request("org.example.Asking", asking) { _ in
          asking.call(name, "/", "org.example.Deaf", "Listen", timeout: .milliseconds(50)) { result in
            if case .failure(let failure) = result {
              done.resume(returning: failure)
            } else {
              done.resume(returning: nil)
            }
          }
        }
      }
    }
    #expect(failure?.isUncertain == true, "\(String(describing: failure))")
    close(speaking)
    await deaf.perform { silent.value?.close() }
    close(hearing)
    await loop.perform { asking.value?.close() }
    bus.remove()
    deaf.stop()
    loop.stop()
  }

  @Test("a connection that is let go of with calls, matches and objects takes them with it")
  func letGo() async throws {
    let bus = try PrivateBus()
    let address = bus.address
    let loop = try EventLoop(name: "bus-test")
    let isGone = await loop.perform { () -> Bool in
      var connection = try? DBusConnection(loop: loop, address: .custom(address))
      let object = DBusObject(interface: "org.example.Echo", properties: { [:] }) { .success($0.arguments) }
      let slots = [connection?.export(object, at: "/echo"), connection?.match("type='signal'") { _ in }]
      connection?.call("org.example.None", "/", "org.example.Echo", "Echo", timeout: .seconds(60)) { _ in }
      weak let left = connection
      connection = nil
      // Without effect: the connection has ended.
      for slot in slots { slot?.cancel() }
      return left == nil && slots.allSatisfy { $0 != nil }
    }
    #expect(isGone)
    #expect(await loop.perform { loop.watchCount } == 0)
    bus.remove()
    loop.stop()
  }

  private static func request(_ name: String, _ connection: DBusConnection?, _ done: @escaping (Bool) -> Void) {
    guard let connection else { return done(false) }
    connection.call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
      [.string(name), .uint32(4)], timeout: .seconds(60)
    ) { if case .success = $0 { done(true) } else { done(false) } }
  }

  @Test(
    "discovery waits for a bus and for a daemon, and sets up what is wanted when they come", .timeLimit(.minutes(5)))
  func waiting() async throws {
    let bus = try PrivateBus()
    let address = bus.address
    let loop = try EventLoop(name: "bus-test")
    let discovery = await loop.perform { () -> LoopBox<BlueZDiscovery> in
      let discovery = BlueZDiscovery(loop: loop, options: .init(busAddress: address)) { _, _ in NoReader() }
      discovery.search(sessionID: "bench")
      return LoopBox(discovery)
    }
    let pretender = await loop.perform { LoopBox(try? Pretender(loop, address)) }
    #expect(await Self.takeName(loop, pretender))
    // What follows depends on time, and a busy machine may let it pass before we look.
    var former: String?
    for await call in try #require(await loop.perform { pretender.value?.arrivals }) {
      if call == "StartDiscovery" { break }
      former = call
    }
    #expect(former == "SetDiscoveryFilter")
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      loop.execute { discovery.value.shutDown { done.resume() } }
    }
    #expect(await loop.perform { pretender.value?.calls.suffix(2) } == ["StopDiscovery", "SetDiscoveryFilter"])
    await loop.perform { pretender.value?.connection.close() }
    #expect(await loop.perform { loop.watchCount } == 0)
    bus.remove()
    loop.stop()
  }

  private final class NoReader: ServiceRecordReader {
    private final class NoCancellation: DialCancellation { func cancel() {} }

    func readRecords(
      of service: BluetoothUUID, on device: BluetoothPlace,
      completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
    ) -> any DialCancellation { NoCancellation() }
  }
}
