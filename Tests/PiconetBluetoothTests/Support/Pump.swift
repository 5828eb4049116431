import PiconetEngine
import PiconetRuntime

/// Writes bytes to a link and collects what comes, until as much as is wanted has come or the link ends.
final class Pump: LinkEndpointHandler, @unchecked Sendable {
  // Sendable is right: touched on the loop only.
  struct Outcome: Sendable {
    var bytes: [UInt8] = []
    /// Nil if everything wanted came.
    var end: LinkRead?
    var hasWrittenAll = false
    var reads = 0
    var isLate = false
  }

  private let link: any LinkEndpoint
  private let loop: EventLoop
  private var output: ArraySlice<UInt8>
  private let wanted: Int
  private let buffer: UnsafeMutableRawBufferPointer
  private var outcome = Outcome()
  private var done: ((Outcome) -> Void)?
  private var timer: LoopTimer?

  private init(
    _ link: any LinkEndpoint, _ loop: EventLoop, writing: [UInt8], wanted: Int, bufferSize: Int,
    done: @escaping (Outcome) -> Void
  ) {
    self.link = link
    self.loop = loop
    output = writing[...]
    self.wanted = wanted
    buffer = .allocate(byteCount: bufferSize, alignment: 16)
    if wanted < .max { outcome.bytes.reserveCapacity(wanted) }
    self.done = done
  }

  deinit { buffer.deallocate() }

  /// - Parameter wanted: how many bytes; `Int.max` means until the link ends.
  static func run(
    _ link: AnyLink, _ loop: EventLoop, writing: [UInt8] = [], wanted: Int, bufferSize: Int = 256 << 10,
    limit: Duration = .seconds(60), whenWritten: (@Sendable (any LinkEndpoint) -> Void)? = nil
  ) async -> Outcome {
    await withCheckedContinuation { continuation in
      loop.execute {
        let pump = Pump(link.value, loop, writing: writing, wanted: wanted, bufferSize: bufferSize) {
          continuation.resume(returning: $0)
        }
        pump.whenWritten = whenWritten
        // The timer keeps the pump alive until it is done.
        pump.timer = LoopTimer(loop: loop) {
          pump.outcome.isLate = true
          pump.finish(nil)
        }
        pump.timer?.set(after: limit)
        link.value.setHandler(pump)
        pump.linkIsReady(read: true, write: true)
      }
    }
  }

  private var whenWritten: ((any LinkEndpoint) -> Void)?

  func linkIsReady(read: Bool, write: Bool) {
    if write { writeOut() }
    if read { readIn() }
    if done != nil { link.setReadiness(read: true, write: !output.isEmpty) }
  }

  private func writeOut() {
    if outcome.hasWrittenAll { return }
    while !output.isEmpty {
      switch output.withUnsafeBytes({ link.write($0) }) {
      case .bytes(let count): output = output.dropFirst(count)
      case .wouldBlock: return
      case .failed(let failure): return finish(.failed(failure))
      }
    }
    outcome.hasWrittenAll = true
    if let whenWritten {
      whenWritten(link)
      return finish(nil)
    }
    if outcome.bytes.count >= wanted { finish(nil) }
  }

  private func readIn() {
    guard done != nil, outcome.bytes.count < wanted else { return }
    let most = min(buffer.count, wanted - outcome.bytes.count)
    let result = link.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<most]))
    if case .bytes(let count) = result { outcome.bytes += buffer[..<count] }
    outcome.reads += 1
    switch result {
    case .bytes, .wouldBlock: break
    case .end, .failed: return finish(result)
    }
    if outcome.bytes.count >= wanted, output.isEmpty { finish(nil) }
  }

  private func finish(_ end: LinkRead?) {
    guard let done else { return }
    self.done = nil
    timer?.set(nil)
    timer = nil
    outcome.end = end
    if whenWritten == nil { link.setReadiness(read: false, write: false) }
    done(outcome)
  }
}

/// The same bytes for the same seed.
func someBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
    for index in 0..<count {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      buffer[index] = UInt8(truncatingIfNeeded: state >> 24)
    }
    initialized = count
  }
}

/// Whether bytes are equal: asked so, a test that fails does not print all of them.
struct Same: CustomStringConvertible {
  let isSo: Bool
  let description: String

  init(_ one: [UInt8], _ other: [UInt8]) {
    isSo = one == other
    description = "\(one.count) and \(other.count) bytes"
  }
}
