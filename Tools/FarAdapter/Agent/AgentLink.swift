import PiconetEngine
import PiconetRuntime
import PiconetWire

/// A link on the agent's side: reads as much as the test has room for, and writes what the test sends. Confined to the
/// loop.
final class AgentLink: LinkEndpointHandler {
  enum Event {
    case received(Bytes)
    case written(Int)
    /// Nil: in good order.
    case ended(LinkFailure?)
    /// The endpoint is closed; the last.
    case closed
  }

  private let endpoint: any LinkEndpoint
  private let tell: (Event) -> Void
  private var incoming: LinkWindow
  private var outgoing: LinkWindow
  private var waiting = PieceQueue()
  private var wantsWrite = false
  /// Why nothing can be written any more; what has come before is still read.
  private var failure: LinkFailure?
  private var hasEnded = false
  private var isClosed = false
  /// Whether the test has closed it in good order, and what waits is still being written.
  private(set) var isClosing = false
  private var timer: LoopTimer?

  /// How long to go on writing what waits after an orderly close.
  private static let closingTime = Duration.seconds(15)
  private static let readsPerTurn = 4

  init(_ endpoint: any LinkEndpoint, loop: EventLoop, tell: @escaping (Event) -> Void) {
    self.endpoint = endpoint
    self.tell = tell
    incoming = LinkWindow(of: endpoint.traits)
    outgoing = LinkWindow(of: endpoint.traits)
    timer = LoopTimer(loop: loop) { [weak self] in self?.abort() }
  }

  func start() {
    endpoint.setHandler(self)
    setReadiness()
  }

  private func setReadiness() {
    guard !isClosed else { return }
    endpoint.setReadiness(read: !hasEnded && !isClosing && incoming.room > 0, write: wantsWrite)
  }

  func linkIsReady(read: Bool, write: Bool) {
    if read { readAll() }
    if write { flush() }
    setReadiness()
  }

  // MARK: In

  private func readAll() {
    var turns = Self.readsPerTurn
    while turns > 0, !hasEnded, !isClosed, !isClosing, incoming.room > 0 {
      turns -= 1
      var outcome = LinkRead.wouldBlock
      let capacity = min(incoming.room, RelayLimits.piece)
      let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        outcome = endpoint.read(into: UnsafeMutableRawBufferPointer(buffer))
        if case .bytes(let read) = outcome { count = read } else { count = 0 }
      }
      switch outcome {
      case .bytes(let count):
        // Within the room, since no more was asked for.
        try? incoming.send(count)
        if count > 0 { tell(.received(bytes[...])) }
        if count < capacity, failure == nil { return }
      case .wouldBlock:
        if let failure { end(failure) }
        return
      case .end: return end(failure)
      case .failed(let reason): return end(reason)
      }
    }
  }

  private func end(_ failure: LinkFailure?) {
    hasEnded = true
    tell(.ended(failure))
  }

  func taken(_ count: Int) throws(RelayError) {
    try incoming.taken(count)
    setReadiness()
    // A failed write has shown the end; the endpoint may not report it again.
    if failure != nil { readAll() }
  }

  // MARK: Out

  func write(_ piece: Bytes) throws(RelayError) {
    guard !isClosing else { throw RelayError("bytes for a link that was closed") }
    try outgoing.send(piece.count)
    waiting.append(piece)
    // A piece for a link that has failed was sent before the test could know.
    if !wantsWrite { flush() }
    setReadiness()
  }

  private func flush() {
    let before = waiting.byteCount
    wantsWrite = false
    while !wantsWrite, failure == nil, let piece = waiting.first {
      switch piece.withUnsafeBytes({ endpoint.write($0) }) {
      case .bytes(let count):
        waiting.take(count)
        wantsWrite = count < piece.count
      case .wouldBlock: wantsWrite = true
      case .failed(let reason): failure = reason
      }
    }
    if failure != nil { waiting.removeAll() }
    let written = before - waiting.byteCount
    if written > 0 {
      // Of what was sent, since it was waiting.
      try? outgoing.taken(written)
      if failure == nil, !isClosing { tell(.written(written)) }
    }
    if isClosing, waiting.isEmpty { return finish(abort: failure != nil) }
    if failure != nil { readAll() }
  }

  // MARK: The end

  func close(abort: Bool) {
    guard !isClosing else { return }
    guard !abort, failure == nil, !waiting.isEmpty else { return finish(abort: abort || failure != nil) }
    isClosing = true
    timer?.set(after: Self.closingTime)
    setReadiness()
  }

  func abort() { finish(abort: true) }

  private func finish(abort: Bool) {
    guard !isClosed else { return }
    isClosed = true
    timer?.set(nil)
    endpoint.close(abort: abort)
    tell(.closed)
  }
}
