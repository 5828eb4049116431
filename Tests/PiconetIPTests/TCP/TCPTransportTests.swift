import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime
import TestSupport
import Testing

@testable import PiconetIP

@Suite("TCP over loopback", .timeLimit(.minutes(15)))
struct TCPTransportTests {
  @Test("bytes go there and back, and both ends show their addresses", arguments: ["127.0.0.1", "[::1]"])
  func echo(host: String) async throws {
    try await withLoop { loop, actor in
      let net = TestNet(actor, listen: HostPort(host: host.trimmingBrackets, port: 0))
      let address = try await net.listenEchoing()
      #expect(address.text.hasPrefix(host + ":"))
      let link = try await net.dial([address])
      #expect(await actor.run { _ in link.value.traits.remoteAddress } == address.text)
      let sent = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      #expect(await net.exchange(link, sent) == sent)
      await net.close()
    }
  }

  @Test("a listener for all addresses takes IPv4 and IPv6, and IPv4 is shown as such")
  func dualStack() async throws {
    try await withLoop { loop, actor in
      let net = TestNet(actor, listen: nil)
      _ = try await net.listenEchoing()
      let port = try #require(await actor.run { _ in net.transport.listeningPort })
      for host in ["127.0.0.1", "[::1]"] {
        let link = try await net.dial([TransportAddress(kind: .tcp, text: "\(host):\(port)")])
        #expect(await net.exchange(link, [1, 2, 3]) == [1, 2, 3])
      }
      let remotes = await actor.run { _ in net.accepted.map { $0.link.traits.remoteAddress } }
      #expect(remotes.map { String($0.prefix(4)) }.sorted() == ["127.", "[::1"])
      #expect(await actor.run { _ in net.transport.listeningAddresses }.allSatisfy { $0.text.hasSuffix(":\(port)") })
      await net.close()
    }
  }

  @Test("a dial to a port without a listener is refused, and every address is named")
  func refused() async throws {
    try await withLoop { loop, actor in
      let net = TestNet(actor, listen: nil)
      let silent = try SilentPort()
      let port = silent.port
      let addresses = ["127.0.0.1:\(port)", "[::1]:\(port)", "nonsense", "127.0.0.1:0"].map {
        TransportAddress(kind: .tcp, text: $0)
      }
      let failure = await net.dialFailing(addresses)
      #expect(failure?.code == .refused)
      for address in addresses { #expect(failure?.detail.contains(address.text) == true) }
      #expect(await net.dialFailing([])?.code == .notAvailable)
      #expect(await net.dialFailing([TransportAddress(kind: .rfcomm, text: "x")])?.code == .notAvailable)
      await net.close()
    }
  }

  @Test("when the first address is refused the second is used at once")
  func secondAddress() async throws {
    try await withLoop { loop, actor in
      let net = TestNet(actor, listen: HostPort(host: "127.0.0.1", port: 0))
      let address = try await net.listenEchoing()
      let silent = try SilentPort()
      let link = try await net.dial([TransportAddress(kind: .tcp, text: "[::1]:\(silent.port)"), address])
      #expect(await net.exchange(link, [9]) == [9])
      await net.close()
    }
  }

  @Test("host names are looked up on the worker, and a refused look-up is a reason")
  func names() async throws {
    try await withLoop { loop, actor in
      let worker = try WorkerThread(name: "resolver")
      let net = TestNet(actor, listen: HostPort(host: "127.0.0.1", port: 0), resolver: worker)
      let address = try await net.listenEchoing()
      let port = try HostPort(address.text).port
      let link = try await net.dial([TransportAddress(kind: .tcp, text: "known.test:\(port)")])
      #expect(await net.exchange(link, [9]) == [9])
      let failure = await net.dialFailing([TransportAddress(kind: .tcp, text: "unknown.test:\(port)")])
      #expect(failure == LinkFailure(.unreachable, "unknown.test:\(port): not in this test"))
      worker.stop()
      let stopped = await net.dialFailing([TransportAddress(kind: .tcp, text: "known.test:\(port)")])
      #expect(stopped?.code == .busy)
      await net.close()
    }
  }

  @Test("the remote side's orderly close is an end, after all of its bytes; a reset is a failure")
  func endAndReset() async throws {
    try await withLoop { loop, actor in
      let net = TestNet(actor, listen: HostPort(host: "127.0.0.1", port: 0))
      let address = try await net.listenEchoing()
      for abort in [false, true] {
        let link = try await net.dial([address])
        #expect(await net.exchange(link, [1, 2]) == [1, 2])
        let far = await actor.run { _ in net.accepted.count - 1 }
        let reader = await net.reader(link)
        await actor.run { _ in net.accepted[far].link.close(abort: abort) }
        let last = await reader.end()
        #expect(abort ? last.failureCode == .reset : last == .end)
      }
      await net.close()
    }
  }

  @Test("what was written before an orderly close arrives, though the closing side has bytes that it never read")
  func lingeringClose() async throws {
    try await withLoop { loop, actor in
      let net = TestNet(actor, listen: HostPort(host: "127.0.0.1", port: 0))
      let address = try await net.listen { _ in }
      let link = try await net.dial([address])
      // The accepting side never reads this: if it simply closed, the kernel would answer with a reset.
      await actor.run { _ in #expect(link.value.writeAll([UInt8](repeating: 7, count: 5000)) == 5000) }
      let reader = await net.reader(link)
      await actor.run { _ in
        let far = net.accepted[0].link
        #expect(far.writeAll(Array("goodbye".utf8)) == 7)
        far.close(abort: false)
        // And more comes after the close.
        #expect(link.value.writeAll([UInt8](repeating: 7, count: 5000)) == 5000)
      }
      #expect(await reader.end() == .end)
      #expect(await actor.run { _ in reader.bytes } == Array("goodbye".utf8))
      await net.close()
    }
  }

  @Test("five hundred dials at once: every one ends right, and no descriptor is left")
  func manyDials() async {
    // In a process of its own, so that other tests do not count.
    await #expect(processExitsWith: .success) {
      let before = descriptorCount()
      try await withLoop { loop, actor in
        let net = TestNet(actor, listen: HostPort(host: "127.0.0.1", port: 0))
        let address = try await net.listenEchoing()
        let silent = try SilentPort()
        let nobody = TransportAddress(kind: .tcp, text: "127.0.0.1:\(silent.port)")
        let results = await withTaskGroup(of: Bool.self) { group in
          for number in 0..<500 {
            group.addTask {
              switch number % 3 {
              case 0:
                guard let link = try? await net.dial([nobody, address]) else { return false }
                let bytes = [UInt8(truncatingIfNeeded: number), 1, 2]
                guard await net.exchange(link, bytes) == bytes else { return false }
                await actor.run { _ in link.value.close(abort: false) }
                return true
              case 1: return await net.dialFailing([nobody])?.code == .refused
              default: return await net.dialCancelled([address])
              }
            }
          }
          return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(results == 500)
        await net.close()
        #expect(await actor.run { _ in loop.watchCount } == 0)
      }
      // libdispatch may open up to three for itself at any time; a leak would be a hundred at least.
      #expect(descriptorCount() < before + 10)
    }
  }

  @Test("a dial that is cancelled, also twice and after its end, gets exactly one completion")
  func cancelling() async throws {
    try await withLoop { loop, actor in
      let net = TestNet(actor, listen: HostPort(host: "127.0.0.1", port: 0))
      let address = try await net.listenEchoing()
      let outcomes = await actor.run { _ -> Counted in
        let counted = Counted()
        let dial = net.transport.dial([address]) { result in
          counted.codes.append(result.failure?.code)
        }
        #expect(counted.codes.isEmpty)
        dial.cancel()
        #expect(counted.codes.isEmpty)
        dial.cancel()
        return counted
      }
      await loop.perform {}
      #expect(await actor.run { _ in outcomes.codes } == [.cancelled])
      await net.close()
      await loop.perform {}
      #expect(await actor.run { _ in outcomes.codes } == [.cancelled])
    }
  }

  @Test("silence ends at the time limit with a reason, on a clock that is moved by hand")
  func timeLimit() async throws {
    let clock = ManualClock()
    try await withLoop(clock: clock) { loop, actor in
      let worker = try WorkerThread(name: "resolver")
      let gate = Gate()
      let net = TestNet(actor, listen: nil, resolver: worker) { _ in
        gate.waitBlocking()
        return .success([])
      }
      async let failure = net.dialFailing([TransportAddress(kind: .tcp, text: "slow.test:1")])
      await net.dialStarted.wait()
      clock.advance(by: .seconds(10))
      #expect(await failure?.code == .timedOut)
      gate.open()
      worker.stop()
      await net.close()
    }
  }

  @Test("while accepting is paused links wait, and are taken afterwards")
  func paused() async throws {
    try await withLoop { loop, actor in
      let net = TestNet(actor, listen: HostPort(host: "127.0.0.1", port: 0))
      let address = try await net.listenEchoing()
      await actor.run { _ in net.transport.pauseAccepting(true) }
      let link = try await net.dial([address])
      for _ in 0..<3 { await loop.perform {} }
      #expect(await actor.run { _ in net.accepted.count } == 0)
      await actor.run { _ in net.transport.pauseAccepting(false) }
      #expect(await net.exchange(link, [5]) == [5])
      await net.close()
    }
  }

  @Test("without a descriptor to accept with, the listener pauses, then recovers, and does not spin")
  func shortOfDescriptors() async throws {
    let clock = ManualClock()
    try await withLoop(clock: clock) { loop, actor in
      let socket = try TCPSocket.listen(on: .loopbackIPv4(port: 0), dualStack: false, backlog: 8)
      let net = TestNet(actor, listen: nil)
      let calls = Counted()
      try await actor.run { actor in
        var failures = 2
        let listener = try TCPListener(socket: socket, loop: loop, configuration: TCPConfiguration()) {
          socket, address in
          calls.count += 1
          if failures > 0 {
            failures -= 1
            errno = EMFILE
            return -1
          }
          return piconet_accept(socket, address)
        } accepted: {
          Glibc.close($0)
          calls.taken += 1
        }
        actor.kept = [listener]
      }
      let address = try #require(await actor.run { ($0.kept.first as? TCPListener)?.address })
      let link = try await net.dial([TransportAddress(kind: .tcp, text: address.description)])
      let reader = await net.reader(link)
      // Many rounds pass, but the listener waits for its timer: first 100 ms, then 200 ms.
      for _ in 0..<20 { await loop.perform {} }
      #expect(await actor.run { _ in calls.count } == 1)
      clock.advance(by: .milliseconds(100))
      for _ in 0..<20 { await loop.perform {} }
      #expect(await actor.run { _ in calls.count } == 2)
      clock.advance(by: .milliseconds(199))
      for _ in 0..<20 { await loop.perform {} }
      #expect(await actor.run { _ in calls.taken } == 0)
      clock.advance(by: .milliseconds(1))
      #expect(await reader.end() == .end)
      #expect(await actor.run { _ in calls.taken } == 1)
      await actor.run { ($0.kept.first as? TCPListener)?.close() }
      await net.close()
    }
  }

  @Test(
    "when the process really has no descriptor left, links wait and are accepted later, and a dial says why it failed")
  func realDescriptorLimit() async {
    await #expect(processExitsWith: .success) {
      let clock = ManualClock()
      try await withLoop(clock: clock) { loop, actor in
        let net = TestNet(actor, listen: HostPort(host: "127.0.0.1", port: 0))
        let address = try await net.listenEchoing()
        await actor.run { _ in net.transport.pauseAccepting(true) }
        var links: [AnyLink] = []
        for _ in 0..<5 { links.append(try await net.dial([address])) }
        let taken = takeAllDescriptors()
        await actor.run { _ in net.transport.pauseAccepting(false) }
        for _ in 0..<20 { await loop.perform {} }
        #expect(await actor.run { _ in net.accepted.count } == 0)
        #expect(await net.dialFailing([address])?.code == .tooManyDescriptors)
        for descriptor in taken { Glibc.close(descriptor) }
        clock.advance(by: .milliseconds(100))
        for link in links { #expect(await net.exchange(link, [1]) == [1]) }
        await net.close()
      }
    }
  }

  @Test("a link-local address on an interface that has none is unreachable")
  func unreachable() async throws {
    try await withLoop { loop, actor in
      let net = TestNet(actor, listen: nil)
      let failure = await net.dialFailing([TransportAddress(kind: .tcp, text: "[fe80::1%lo]:9")])
      #expect(failure?.code == .unreachable)
      await net.close()
    }
  }

  @Test("a port that is taken, a foreign address and a host name can't be listened on, each with its reason")
  func cannotListen() async throws {
    try await withLoop { loop, actor in
      let first = TestNet(actor, listen: HostPort(host: "localhost", port: 0))
      let address = try await first.listenEchoing()
      #expect(address.text.hasPrefix("127.0.0.1:"))
      let port = try HostPort(address.text).port
      for (host, code) in [
        ("127.0.0.1", LinkFailure.Code.busy), ("192.0.2.1", .notAvailable), ("example.test", .notAvailable),
      ] {
        let net = TestNet(actor, listen: HostPort(host: host, port: port))
        await #expect { try await net.listenEchoing() } throws: { ($0 as? LinkFailure)?.code == code }
        await net.close()
      }
      await #expect { try await first.listenEchoing() } throws: { ($0 as? LinkFailure)?.code == .busy }
      await first.close()
    }
  }

  @Test("a link that is full stops being writable until the remote side reads; nothing is lost or doubled")
  func backPressure() async throws {
    try await withLoop { loop, actor in
      let net = TestNet(actor, listen: HostPort(host: "127.0.0.1", port: 0))
      let address = try await net.listen { _ in }
      let link = try await net.dial([address])
      let written = await actor.run { _ -> Int in
        var total = 0
        let chunk = [UInt8](repeating: 3, count: 64 << 10)
        while case let count = link.value.writeAll(chunk), count > 0 { total += count }
        return total
      }
      #expect(written > 64 << 10)
      let reader = await net.reader(await actor.run { _ in AnyLink(net.accepted[0].link) })
      await actor.run { _ in link.value.close(abort: false) }
      #expect(await reader.end() == .end)
      #expect(await actor.run { _ in reader.bytes.count } == written)
      await net.close()
    }
  }
}

extension String {
  fileprivate var trimmingBrackets: String { filter { $0 != "[" && $0 != "]" } }
}
