import PiconetEngine
import PiconetRuntime
import PiconetSDP
import TestSupport
import Testing

@testable import PiconetBluetooth

@Suite("Nodes of one host that share a PSM", .serialized, .machine("--adapters 2", or: .realAdapters))
struct SharedListenerTests {
  /// Two sessions in one place, "A" and "B"; a link says whom it is for in its first two bytes.
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

  @Test("who names nobody that is here, or says nothing, comes to the first", arguments: [SocketKind.l2cap, .le])
  func unnamed(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let doors = try await Doors(net, ["A", "B"])
      for text in [">C12", "GET / HTTP/1.1", ""] {
        let dialled = try await net.dial(doors.addresses[0]).get()
        if !text.isEmpty { _ = await Pump.run(dialled, net.loop, writing: Array(text.utf8), wanted: 0) }
        let (door, link) = await doors.nextAccepted()
        #expect(door == "A", "\(text)")
        let came = await Pump.run(link, net.loop, wanted: text.utf8.count)
        #expect(String(decoding: came.bytes, as: UTF8.self) == text)
        await net.close(link, abort: true)
        await net.close(dialled, abort: true)
      }
      await doors.close()
    }
  }

  @Test("one that stops leaves the place to the others; with one session twice there are two places")
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

  @Test("one that is dropped without an end leaves the place as well")
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

  @Test("a link that dies before it says whom it is for, and its listeners' end, leave nothing behind")
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

    /// `>` and a letter, and no less than two bytes, as a ClientHello is no less than its header.
    func name(in bytes: [UInt8]) -> ServerNameFinding {
      if readers.isEmpty {
        reads += 1
      } else {
        readers.removeFirst().resume()
      }
      guard bytes.first == UInt8(ascii: ">") else { return .none }
      return bytes.count < 4 ? .incomplete : .name(String(decoding: bytes[1...1], as: UTF8.self))
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
