import PiconetEngine
import PiconetRuntime

/// One end of a link in memory, between two users of one loop: level-triggered, with a limit on what is under way, like
/// the real ones.
final class MemoryLink: LinkEndpoint {
  let traits: LinkTraits
  private let loop: EventLoop
  private let limit: Int
  private weak var far: MemoryLink?
  private weak var handler: (any LinkEndpointHandler)?
  private var incoming: [UInt8] = []
  private var wantsRead = false
  private var wantsWrite = false
  private var isScheduled = false
  private var isClosed = false
  private var farEnd: LinkRead?

  /// - Parameter limit: the most bytes that are under way in one direction.
  static func pair(
    loop: EventLoop, kind: TransportKind = .simulated, limit: Int = 64 << 10, remoteAddress: String = "memory a"
  ) -> (MemoryLink, MemoryLink) {
    let ends = (MemoryLink(remoteAddress, kind, loop, limit), MemoryLink("memory b", kind, loop, limit))
    ends.0.far = ends.1
    ends.1.far = ends.0
    return ends
  }

  private init(_ remoteAddress: String, _ kind: TransportKind, _ loop: EventLoop, _ limit: Int) {
    traits = LinkTraits(kind: kind, remoteAddress: remoteAddress)
    self.loop = loop
    self.limit = limit
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> LinkRead {
    if incoming.isEmpty { return farEnd ?? .wouldBlock }
    let count = min(buffer.count, incoming.count)
    buffer.copyBytes(from: incoming[..<count])
    incoming.removeFirst(count)
    far?.schedule()
    return .bytes(count)
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> LinkWrite {
    guard let far, farEnd == nil, !far.isClosed else { return .failed(LinkFailure(.reset)) }
    let count = min(bytes.count, limit - far.incoming.count)
    if count == 0 && bytes.count > 0 { return .wouldBlock }
    far.incoming += bytes[..<count]
    far.schedule()
    return .bytes(count)
  }

  func setReadiness(read: Bool, write: Bool) {
    (wantsRead, wantsWrite) = (read, write)
    schedule()
  }

  func setHandler(_ handler: any LinkEndpointHandler) { self.handler = handler }

  /// The other end was closed.
  var isFarClosed: Bool { farEnd != nil }

  func close(abort: Bool) {
    if isClosed { return }
    isClosed = true
    if abort { far?.incoming = [] }
    far?.farEnd = abort ? .failed(LinkFailure(.reset)) : .end
    far?.schedule()
  }

  private var readiness: (read: Bool, write: Bool) {
    if isClosed { return (false, false) }
    let canWrite = far.map { $0.isClosed || $0.incoming.count < limit } ?? true
    return (wantsRead && (!incoming.isEmpty || farEnd != nil), wantsWrite && canWrite)
  }

  private func schedule() {
    let (read, write) = readiness
    if isScheduled || !(read || write) { return }
    isScheduled = true
    loop.executeLater { [weak self] in
      guard let self else { return }
      isScheduled = false
      let (read, write) = readiness
      guard read || write, let handler else { return }
      handler.linkIsReady(read: read, write: write)
      schedule()
    }
  }
}
