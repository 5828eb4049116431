import PiconetEngine
import TestSupport
import Testing

@testable import PiconetRuntime

@Suite("How a driver opens what it has read", .timeLimit(.minutes(15)))
struct DriverReadingTests {
  @Test("a long record whose last part comes in a small read is opened in one piece")
  func longRecord() async throws {
    let channel = try await read([4000, 4000, 4000, 4000, 398])
    #expect(channel.produced == [0, 0, 0, 0, 16_384])
  }

  @Test("the bytes of a small read are opened in one piece, whatever their length")
  func smallRecords() async throws {
    let channel = try await read([16_398, 85, 1])
    #expect(channel.produced == [16_384, 71, 0])
  }

  @Test(
    "a link that is read often keeps its channel's buffers; one that is read now and then does not",
    arguments: [15, 16, 40])
  func busyLink(reads: Int) async throws {
    let channel = try await read([Int](repeating: 20, count: reads))
    #expect(channel.kept == (reads < BufferUse.busyReads ? [] : [true]))
  }

  private func read(_ counts: [Int]) async throws -> RecordChannel {
    let loop = try EventLoop(name: "reading", clock: ManualClock())
    defer { loop.stop() }
    let worker = try WorkerThread(name: "reading disk", limit: 4)
    defer { worker.stop() }
    let stage = DriverStage(loop, worker, .tcp)
    let channel = RecordChannel()
    await loop.perform {
      stage.channel = channel
      stage.make()
    }
    await stage.accept()
    for count in counts { await stage.receive(count) }
    await loop.perform { stage.end() }
    return channel
  }
}

/// Takes whole records of 16,398 bytes, or all bytes if there are fewer than 1,000, and returns their content. Notes
/// how much each call returned. Used on the loop, and after it has ended.
private final class RecordChannel: SecureChannel, @unchecked Sendable {
  // Sendable is right: the test looks at it once the loop has ended.
  private(set) var produced: [Int] = []
  private(set) var kept: [Bool] = []
  private var taken = 0
  private var ready = 0

  let state = SecureChannelState.handshaking
  let outputCount = 0
  func start() {}
  func open(_ ciphertext: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer)
    -> (taken: Int, produced: Int)
  {
    taken += ciphertext.count
    if taken == 16_398 || taken < 1000 {
      ready += max(0, taken - 14)
      taken = 0
    }
    let count = min(ready, plaintext.count)
    plaintext[..<count].initializeMemory(as: UInt8.self, repeating: 0)
    ready -= count
    produced.append(count)
    return (ciphertext.count, count)
  }
  func seal(_ plaintext: UnsafeRawBufferPointer) {}
  func drainOutput(_ body: (UnsafeRawBufferPointer) -> Int) {}
  func keepBuffers(_ keeps: Bool) { kept.append(keeps) }
  func close() {}
  func exportedKey(label: String) -> [UInt8] { [] }
}
