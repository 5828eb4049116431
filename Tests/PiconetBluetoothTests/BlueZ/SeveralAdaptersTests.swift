import PiconetEngine
import PiconetRuntime
import PiconetSDP
import Synchronization
import TestSupport
import Testing

@testable import PiconetBluetooth

@Suite(
  "A node with several adapters, and none configured", .serialized,
  .machine("--adapters 3"))
struct SeveralAdaptersTests {
  /// Discovery takes the first adapter that is on; the kernel by itself would dial from the last.
  @Test("a peer is dialled from the adapter that has found it")
  func dialsFromWhereItFinds() async throws {
    try VirtualAdapters.makeReachable(3)
    let names = VirtualAdapters.names
    let far = try await BlueZBench(adapter: names[2])
    await far.advertise(3)
    #expect(await far.wait { await $0.on { $0.isAdvertising } == true })

    let seen = Mutex(false)
    let stack = await far.loop.perform { [loop = far.loop] in
      let stack = BluetoothStack(loop: loop, configuration: BluetoothConfiguration(sessionID: "bench"), discovers: true)
      for discovery in stack.discoveries {
        discovery.setHandler { if case .seen = $0 { seen.withLock { $0 = true } } }
        discovery.search(sessionID: "bench")
      }
      return OnLoop(stack)
    }
    #expect(await far.wait { _ in seen.withLock { $0 } })

    let others = names.indices.filter { $0 != 0 && $0 != 2 }.map(VirtualAdapters.number)
    for other in others { try VirtualAdapters.fault("mute", other, VirtualAdapters.number(2)) }
    let accepted = OnLoop<[any LinkEndpoint]>([])
    for kind in [SocketKind.l2cap, .rfcomm] {
      let listener = await far.loop.perform { [loop = far.loop] in
        var configuration = BluetoothTransportConfiguration()
        configuration.adapter = .named(names[2])
        return OnLoop(BluetoothTransport(kind, loop: loop, configuration: configuration))
      }
      let result: Result<AnyLink, LinkFailure> = await withCheckedContinuation { done in
        far.loop.execute {
          try? listener.value.listen { accepted.value.append($0) }
          let transport = stack.value.transports.first { $0.kind == kind.transport }
          _ = transport?.dial(listener.value.listeningAddresses) { result in
            if case .success(let link) = result { link.close(abort: true) }
            done.resume(returning: result.map { AnyLink(value: $0) })
          }
        }
      }
      #expect(throws: Never.self) { try result.get() }
      await far.loop.perform {
        for link in accepted.value { link.close(abort: true) }
        listener.value.closeNow()
      }
    }
    for other in others { try VirtualAdapters.fault("unmute", other, VirtualAdapters.number(2)) }
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      far.loop.execute { stack.value.shutDown { done.resume() } }
    }
    await far.shutDown()
    far.stop()
  }
}
