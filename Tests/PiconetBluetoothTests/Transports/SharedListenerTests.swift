import PiconetEngine
import PiconetRuntime
import PiconetSDP
import TestSupport
import Testing

@testable import PiconetBluetooth

@Suite("Nodes of one host that share a PSM", .serialized, .machine("--adapters 3", or: .realAdapters))
struct SharedListenerTests {
  /// Two sessions in one place, "A" and "B"; a link names its session in its first bytes.
  @Test("each gets the links that name it, whole, however their first bytes come", arguments: [SocketKind.l2cap, .le])
  func named(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let doors = try await Doors(net, ["A", "B"])
      #expect(Set(doors.addresses).count == 1)
      for (name, pieces) in [("A", [">A12"]), ("B", [">B1", "2"]), ("A", [">", "A", "12"]), ("B", [">B12"])] {
        let dialled = try await net.dial(doors.addresses[0]).get()
        for piece in pieces {
          _ = await Pump.run(dialled, net.loop, writing: Array(piece.utf8), wanted: 0)
          await doors.whenRead()
        }
        let (door, link) = await doors.nextAccepted()
        #expect(door == name)
        let came = await Pump.run(link, net.loop, wanted: 4)
        #expect(String(decoding: came.bytes, as: UTF8.self) == ">\(name)12")
        // It goes on both ways as any other.
        _ = await Pump.run(link, net.loop, writing: Array("welcome".utf8), wanted: 0)
        #expect(await Pump.run(dialled, net.loop, wanted: 7).bytes == Array("welcome".utf8))
        await net.close(link, abort: true)
        await net.close(dialled, abort: true)
      }
      await doors.close()
    }
  }

  @Test("a long beginning is read whole, in one piece or several", arguments: [SocketKind.l2cap, .le])
  func long(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let doors = try await Doors(net, ["A", "B"])
      for sizes in [[1_500], [3_000], [5_000], [1_000, 4_000], [200, 200, 2_800]] {
        let dialled = try await net.dial(doors.addresses[0]).get()
        let bytes = Array(">B#".utf8) + someBytes(sizes.reduce(0, +))
        var rest = bytes[...]
        for size in sizes {
          _ = await Pump.run(dialled, net.loop, writing: Array(rest.prefix(size + 3)), wanted: 0)
          rest = rest.dropFirst(size + 3)
        }
        let (door, link) = await doors.nextAccepted()
        #expect(door == "B", "\(sizes)")
        #expect(Same(await Pump.run(link, net.loop, wanted: bytes.count).bytes, bytes).isSo, "\(sizes)")
        await net.close(link, abort: true)
        await net.close(dialled, abort: true)
      }
      await doors.close()
    }
  }

  @Test("a link that names no session comes to the first", arguments: [SocketKind.l2cap, .le])
  func unnamed(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let doors = try await Doors(net, ["A", "B"])
      let text = "GET / HTTP/1.1"
      let dialled = try await net.dial(doors.addresses[0]).get()
      _ = await Pump.run(dialled, net.loop, writing: Array(text.utf8), wanted: 0)
      let (door, link) = await doors.nextAccepted()
      #expect(door == "A")
      let came = await Pump.run(link, net.loop, wanted: text.utf8.count)
      #expect(String(decoding: came.bytes, as: UTF8.self) == text)
      await doors.close()
    }
  }

  @Test(
    "a link that names a session that is not here gets TLS's alert, and a silent link is ended",
    arguments: [SocketKind.l2cap, .le])
  func refused(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let doors = try await Doors(net, ["A", "B"])
      let other = try await net.dial(doors.addresses[0]).get()
      _ = await Pump.run(other, net.loop, writing: Array(">C12".utf8), wanted: 0)
      let refused = await Pump.run(other, net.loop, wanted: .max)
      #expect(refused.bytes == [21, 3, 3, 0, 2, 2, 112] && !refused.isLate)
      let silent = try await net.dial(doors.addresses[0]).get()
      let ended = await Pump.run(silent, net.loop, wanted: .max)
      #expect(ended.bytes == [] && !ended.isLate)
      #expect(await doors.acceptedCount == 0)
      await doors.close()
    }
  }

  @Test("a link that waits while the first one stops goes to the one that it names")
  func firstStops() async throws {
    try await withNet(.l2cap) { net in
      let doors = try await Doors(net, ["A", "B"])
      let dialled = try await net.dial(doors.addresses[0]).get()
      _ = await Pump.run(dialled, net.loop, writing: Array(">B".utf8), wanted: 0)
      await doors.whenRead()
      await doors.stop(0)
      _ = await Pump.run(dialled, net.loop, writing: Array("12".utf8), wanted: 0)
      let (door, link) = await doors.nextAccepted()
      #expect(door == "B")
      #expect(await Pump.run(link, net.loop, wanted: 4).bytes == Array(">B12".utf8))
      await doors.close()
    }
  }

  @Test("a node that stops leaves the place to the others; with one session twice there are two places")
  func comeAndGo() async throws {
    try await withNet(.l2cap) { net in
      let doors = try await Doors(net, ["A", "B", "A"])
      #expect(doors.addresses[0] == doors.addresses[1] && doors.addresses[0] != doors.addresses[2])
      await doors.stop(0)
      let dialled = try await net.dial(doors.addresses[0]).get()
      // The only one there gets what comes before it has said anything.
      let (door, link) = await doors.nextAccepted()
      #expect(door == "B")
      await net.close(link, abort: true)
      await net.close(dialled, abort: true)
      await doors.stop(1)
      let refused = await net.dial(doors.addresses[0])
      guard case .failure(let failure) = refused else { return #expect(Bool(false), "somebody listens there") }
      #expect(failure.code == .refused)
      await doors.close()
    }
  }

  @Test("a node that is dropped without an end leaves the place as well")
  func dropped() async throws {
    try await withNet(.l2cap) { net in
      let doors = try await Doors(net, ["A", "B"])
      await doors.drop(0)
      let dialled = try await net.dial(doors.addresses[0]).get()
      let (door, link) = await doors.nextAccepted()
      #expect(door == "B")
      await net.close(link, abort: true)
      await net.close(dialled, abort: true)
      await doors.drop(1)
      guard case .failure(let failure) = await net.dial(doors.addresses[0]) else {
        return #expect(Bool(false), "somebody listens there")
      }
      #expect(failure.code == .refused)
    }
  }

  @Test("of RFCOMM each has a channel of its own, since two devices have one connection to a channel")
  func channels() async throws {
    try await withNet(.rfcomm) { net in
      let doors = try await Doors(net, ["A", "B"])
      #expect(doors.addresses[0] != doors.addresses[1])
      await doors.close()
    }
  }

  @Test("a link that dies before it names a session, and its listeners' end, leave nothing behind")
  func dies() async throws {
    try await withNet(.l2cap) { net in
      let doors = try await Doors(net, ["A", "B"])
      let dead = try await net.dial(doors.addresses[0]).get()
      await net.close(dead, abort: true)
      let undecided = try await net.dial(doors.addresses[0]).get()
      await doors.close()
      #expect(await Pump.run(undecided, net.loop, wanted: .max).isLate == false)
      #expect(await doors.acceptedCount == 0)
    }
  }
}

/// Transports of several nodes of one host at the second adapter.
private final class Doors: @unchecked Sendable {
  // Sendable is right: after `init` everything is touched on the loop only, but for what never changes.
  let addresses: [TransportAddress]
  private let net: BluetoothNet
  private var transports: [BluetoothTransport?]
  private let state: State

  /// On their way out of the loop.
  private struct Transports: @unchecked Sendable {
    // Sendable is right: touched on the loop only.
    let all: [BluetoothTransport]
  }

  private final class State: @unchecked Sendable {
    // Sendable is right: touched on the loop only.
    var accepted: [(String, AnyLink)] = []
    var waiting: [CheckedContinuation<(String, AnyLink), Never>] = []
    var reads = 0
    var readers: [CheckedContinuation<Void, Never>] = []

    func take(_ link: AnyLink, at door: String) {
      if waiting.isEmpty {
        accepted.append((door, link))
      } else {
        waiting.removeFirst().resume(returning: (door, link))
      }
    }

    /// `>`, a letter and two bytes; with `#` after the letter no less than 1,500 in all.
    func name(in bytes: [UInt8]) -> ServerNameFinding {
      if readers.isEmpty {
        reads += 1
      } else {
        readers.removeFirst().resume()
      }
      guard bytes.first == UInt8(ascii: ">") else { return .none }
      let isWhole = bytes.count >= (bytes.count > 2 && bytes[2] == UInt8(ascii: "#") ? 1_500 : 4)
      return isWhole ? .name(String(decoding: bytes[1...1], as: UTF8.self)) : .incomplete
    }
  }

  init(_ net: BluetoothNet, _ names: [String]) async throws {
    self.net = net
    let state = State()
    self.state = state
    let made: Result<Transports, LinkFailure> = await net.perform { net in
      let host = BluetoothHost(loop: net.loop, readName: state.name)
      var configuration = BluetoothTransportConfiguration()
      configuration.adapter = .named(VirtualAdapters.names[1])
      var transports: [BluetoothTransport] = []
      do throws(LinkFailure) {
        for name in names {
          let transport = BluetoothTransport(
            net.kind, loop: net.loop, configuration: configuration, host: host, name: name)
          transports.append(transport)
          try transport.listen { state.take(AnyLink(value: $0), at: name) }
        }
        return .success(Transports(all: transports))
      } catch {
        for transport in transports { transport.closeNow() }
        return .failure(error)
      }
    }
    transports = try made.get().all
    let there = try Transports(all: made.get().all)
    addresses = await net.perform { _ in there.all.map { $0.listeningAddresses[0] } }
  }

  func nextAccepted() async -> (String, AnyLink) {
    await withCheckedContinuation { continuation in
      net.loop.execute { [state] in
        if state.accepted.isEmpty {
          state.waiting.append(continuation)
        } else {
          continuation.resume(returning: state.accepted.removeFirst())
        }
      }
    }
  }

  var acceptedCount: Int {
    get async { await net.perform { [state] _ in state.accepted.count } }
  }

  /// Returns when some bytes have been looked at since the last call.
  func whenRead() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      net.loop.execute { [state] in
        guard state.reads == 0 else {
          state.reads -= 1
          return continuation.resume()
        }
        state.readers.append(continuation)
      }
    }
  }

  func stop(_ place: Int) async { await net.perform { [self] _ in transports[place]?.closeNow() } }

  /// Releases it as it is.
  func drop(_ place: Int) async { await net.perform { [self] _ in transports[place] = nil } }

  func close() async {
    await net.perform { [self] _ in for transport in transports { transport?.closeNow() } }
  }
}
