import Glibc
import Piconet
import Synchronization

/// Short messages, one every 20 ms, while a file goes the same way: how long each takes from the call that sends it
/// until the remote side has it. Both ends are on one machine and read the same clock. `--count` messages are timed,
/// beginning when the first byte of the file is stored; the file is cancelled after the last.
struct Lanes {
  let options: BenchmarkOptions

  func run() async throws {
    try await BothEnds.run(options) { node, member in
      if options.isServer { try await receive(node) } else { try await send(member) }
    }
  }

  private func send(_ member: Member) async throws {
    let (options, measurement) = (options, Measurement())
    let file = try await member.startSending(.file(options.file))
    for await progress in file.changes where progress.stored > 0 { break }
    for _ in 0..<options.count {
      var message = [UInt8](repeating: 0, count: max(8, options.size))
      withUnsafeBytes(of: Measurement.nanoseconds().bigEndian) { message.replaceSubrange(0..<8, with: $0) }
      try await member.send(message[...])
      try await ContinuousClock().sleep(for: .milliseconds(20))
    }
    file.cancel()
    let isWhole = (try? await file.result) != nil
    if isWhole { throw BenchmarkFailure("the file was shorter than the messages: nothing was measured") }
    measurement.report(options, ",\"size\":\(options.size),\"count\":\(options.count)")
  }

  private func receive(_ node: Node) async throws {
    let folder = options.out + ".folder"
    guard mkdir(folder, 0o700) == 0 else { throw BenchmarkFailure("can't make \(folder)") }
    defer { rmdir(folder) }
    let directory = try await node.receivingDirectory(at: folder)
    let measurement = Measurement()
    let stored = StoredCount()
    let store = Task {
      for await offer in node.session.offers {
        stored.count(offer)
        _ = try? await offer.store(in: directory)
      }
    }
    var ways: [Double] = []
    var before = (time: UInt64(0), stored: UInt64(0))
    for await message in node.session.messages {
      let now = Measurement.nanoseconds()
      if ways.isEmpty { before = (now, stored.value) }
      ways.append(Double(now - message.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) / 1e6)
      if ways.count == options.count { break }
    }
    let seconds = Double(Measurement.nanoseconds() - before.time) / 1e9
    let goodput = Double(stored.value - before.stored) / seconds
    ways.sort()
    func part(_ part: Double) -> Double { ways[min(ways.count - 1, Int(part * Double(ways.count)))] }
    measurement.report(
      options,
      ",\"size\":\(options.size),\"count\":\(ways.count),\"p50_ms\":\(part(0.5)),\"p99_ms\":\(part(0.99)),\"worst_ms\":\(part(1)),"
        + "\"bulk_bytes_per_second\":\(goodput)")
    for await case .left in node.session.membership { break }
    store.cancel()
  }
}

/// How much of the file is stored so far.
private final class StoredCount: Sendable {
  private let offer = Mutex<IncomingOffer?>(nil)
  var value: UInt64 { offer.withLock { $0?.progress.stored } ?? 0 }
  func count(_ offer: IncomingOffer) { self.offer.withLock { $0 = offer } }
}
