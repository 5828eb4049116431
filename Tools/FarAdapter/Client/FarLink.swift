import PiconetEngine
import PiconetRuntime
import PiconetWire

/// A link that the agent holds. Confined to the loop.
///
/// A window bounds what has come and was not read, and another what was written and is not yet with the agent's kernel:
/// if nothing is read here, the remote side there has to stop.
final class FarLink: LinkEndpoint {
  let traits: LinkTraits
  private let number: UInt64
  private let loop: EventLoop
  /// Nil when closed.
  private weak var adapter: FarAdapter?
  private weak var handler: (any LinkEndpointHandler)?
  private var incoming = PieceQueue()
  private var outgoing: LinkWindow
  /// How many bytes the agent may send; it is told in larger steps.
  private let limit: Int
  private var taken = 0
  private var farEnd: LinkRead?
  private var wants = (read: false, write: false)
  private var isScheduled = false

  init(_ number: UInt64, _ traits: LinkTraits, loop: EventLoop, adapter: FarAdapter) {
    self.number = number
    self.loop = loop
    self.adapter = adapter
    limit = LinkWindow.limit(of: traits)
    outgoing = LinkWindow(of: traits)
    var traits = traits
    if traits.isPacket { traits.largestWrite = LinkWindow.largestWrite(of: traits) }
    self.traits = traits
  }

  deinit { close(abort: true) }

  // MARK: The port

  func read(into buffer: UnsafeMutableRawBufferPointer) -> LinkRead {
    guard adapter != nil || farEnd != nil else { return .failed(LinkFailure(.cancelled, "the link is closed")) }
    var filled = 0
    while filled < buffer.count, let piece = incoming.first {
      let part = piece.prefix(buffer.count - filled)
      UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyBytes(from: part)
      incoming.take(part.count)
      filled += part.count
    }
    take(filled)
    return filled > 0 || buffer.isEmpty ? .bytes(filled) : farEnd ?? .wouldBlock
  }

  private func take(_ count: Int) {
    taken += count
    guard taken >= limit / 4 else { return }
    adapter?.send(.taken(number, taken))
    taken = 0
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> LinkWrite {
    if case .failed(let failure)? = farEnd {
      // What the remote side sent before the link ended says more than the failure.
      return incoming.isEmpty ? .failed(failure) : .wouldBlock
    }
    guard let adapter else { return .failed(LinkFailure(.cancelled, "the link is closed")) }
    var written = 0
    while written < bytes.count {
      let count = min(bytes.count - written, LinkWindow.largestWrite(of: traits))
      // A packet goes whole.
      let part = traits.isPacket && count > outgoing.room ? 0 : min(count, outgoing.room)
      guard part > 0, (try? outgoing.send(part)) != nil else { break }
      adapter.send(.write(number, Bytes(bytes[written..<written + part])))
      written += part
    }
    return written > 0 || bytes.isEmpty ? .bytes(written) : .wouldBlock
  }

  func setReadiness(read: Bool, write: Bool) {
    wants = (read, write)
    schedule()
  }

  func setHandler(_ handler: any LinkEndpointHandler) {
    self.handler = handler
    schedule()
  }

  func close(abort: Bool) {
    let adapter = adapter
    self.adapter = nil
    incoming.removeAll()
    handler = nil
    adapter?.closed(number, abort: abort)
  }

  // MARK: What the agent tells

  func received(_ piece: Bytes) throws(RelayError) {
    guard farEnd == nil else { throw RelayError("bytes came on link \(number) after its end") }
    // Bytes that were read but not yet reported still count for the agent.
    guard incoming.byteCount + taken + piece.count <= limit else {
      throw RelayError("link \(number) gets more than its window")
    }
    incoming.append(piece)
    schedule()
  }

  func written(_ count: Int) throws(RelayError) {
    try outgoing.taken(count)
    schedule()
  }

  func ended(_ failure: LinkFailure?) throws(RelayError) {
    guard farEnd == nil else { throw RelayError("link \(number) ends twice") }
    farEnd = failure.map { .failed($0) } ?? .end
    schedule()
  }

  /// There is no agent any more.
  func lost(_ failure: LinkFailure) {
    if farEnd == nil { farEnd = .failed(failure) }
    schedule()
  }

  // MARK: Readiness

  private var ready: (read: Bool, write: Bool) {
    let hasFailed = if case .failed? = farEnd { true } else { false }
    let room = traits.isPacket ? min(traits.largestWrite, outgoing.limit) : 1
    return (
      wants.read && (!incoming.isEmpty || farEnd != nil),
      wants.write && (outgoing.room >= room || (hasFailed && incoming.isEmpty))
    )
  }

  /// Level-triggered: it has its turn as long as it is ready and wanted.
  private func schedule() {
    guard !isScheduled, handler != nil, ready.read || ready.write else { return }
    isScheduled = true
    loop.executeLater { [weak self] in self?.turn() }
  }

  private func turn() {
    isScheduled = false
    let ready = ready
    if ready.read || ready.write { handler?.linkIsReady(read: ready.read, write: ready.write) }
    schedule()
  }
}
