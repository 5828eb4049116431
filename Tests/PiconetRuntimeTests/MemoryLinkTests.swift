import PiconetEngine
import PiconetRuntime
import TestSupport
import Testing

@Suite("Links in memory on a loop", .timeLimit(.minutes(15)))
struct MemoryLinkTests {
  @Test("a megabyte passes through a link of a thousand bytes, in order, and then its end")
  func transfer() async throws {
    try await withLoop(clock: ManualClock()) { loop, actor in
      let gate = Gate()
      await actor.run { actor in
        let (near, far) = MemoryLink.pair(loop: loop, limit: 1000)
        let writer = Writer(near, 1 << 20)
        let collector = Collector(far) { last, bytes in
          #expect(last == .end)
          #expect(bytes == (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 % 251) })
          gate.open()
        }
        actor.kept = [near, far, writer, collector]
      }
      await gate.wait()
    }
  }

  @Test("an abort throws away what is on the way, and the remote side learns of it")
  func abort() async throws {
    try await withLoop(clock: ManualClock()) { loop, actor in
      let gate = Gate()
      await actor.run { actor in
        let (near, far) = MemoryLink.pair(loop: loop)
        let collector = Collector(far) { last, bytes in
          #expect(last == .failed(LinkFailure(.reset)))
          #expect(bytes.isEmpty)
          gate.open()
        }
        #expect([1, 2, 3].withUnsafeBytes { near.write($0) } == .bytes(24))
        near.close(abort: true)
        actor.kept = [near, far, collector]
      }
      await gate.wait()
    }
  }
}

private final class Writer: LinkEndpointHandler {
  private let link: MemoryLink
  private var left: ArraySlice<UInt8>

  init(_ link: MemoryLink, _ count: Int) {
    self.link = link
    left = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) }[...]
    link.setHandler(self)
    link.setReadiness(read: false, write: true)
  }

  func linkIsReady(read: Bool, write: Bool) {
    while !left.isEmpty, case .bytes(let count) = left.withUnsafeBytes({ link.write($0) }) {
      left = left.dropFirst(count)
    }
    if left.isEmpty { link.close(abort: false) }
  }
}

private final class Collector: LinkEndpointHandler {
  private let link: MemoryLink
  private let done: (LinkRead, [UInt8]) -> Void
  private var bytes: [UInt8] = []

  init(_ link: MemoryLink, _ done: @escaping (LinkRead, [UInt8]) -> Void) {
    self.link = link
    self.done = done
    link.setHandler(self)
    link.setReadiness(read: true, write: false)
  }

  func linkIsReady(read: Bool, write: Bool) {
    var buffer = [UInt8](repeating: 0, count: 300)
    switch buffer.withUnsafeMutableBytes({ link.read(into: $0) }) {
    case .bytes(let count): bytes += buffer.prefix(count)
    case .wouldBlock: break
    case let last:
      link.setReadiness(read: false, write: false)
      done(last, bytes)
    }
  }
}
