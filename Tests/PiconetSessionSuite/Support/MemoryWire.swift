import PiconetEngine
import PiconetRuntime
import Synchronization

/// What lies between the two ends of a link in memory, each on a loop of its own: a limit on what is under way, packets
/// or a byte stream, reads and writes cut at random, silence and cuts.
final class MemoryWire: Sendable {
  /// What links are like.
  struct Shape: Sendable {
    var isPacket = false
    var largestWrite = Int.max
    /// The most bytes under way in one direction.
    var room = 64 << 10
    var seed: UInt64 = 1
  }

  struct End {
    /// What has come, in packets or as it was written.
    var incoming: [[UInt8]] = []
    var incomingCount = 0
    /// How many bytes of the first of them have been read.
    var taken = 0
    var farEnd: LinkRead?
    var isClosed = false
    var wantsRead = false
    var wantsWrite = false
    var isScheduled = false
  }

  private struct State {
    var ends = [End(), End()]
    var isSilent = false
    var random: SeededRandom
    var links: [Weak] = []
  }

  private struct Weak {
    weak var link: MemoryLink?
  }

  let shape: Shape
  private let loops: [EventLoop]
  private let state: Mutex<State>

  /// Makes a wire and its two ends, each of which must be used on its own loop.
  static func connect(
    _ shape: Shape, _ near: EventLoop, _ far: EventLoop, nearAddress: String, farAddress: String
  ) -> (wire: MemoryWire, near: MemoryLink, far: MemoryLink) {
    let wire = MemoryWire(shape, [near, far])
    let ends = (
      MemoryLink(wire, 0, remote: farAddress, local: nearAddress),
      MemoryLink(wire, 1, remote: nearAddress, local: farAddress)
    )
    wire.state.withLock { $0.links = [Weak(link: ends.0), Weak(link: ends.1)] }
    return (wire, ends.0, ends.1)
  }

  private init(_ shape: Shape, _ loops: [EventLoop]) {
    self.shape = shape
    self.loops = loops
    state = Mutex(State(random: SeededRandom(seed: shape.seed)))
  }

  func read(_ end: Int, into buffer: UnsafeMutableRawBufferPointer) -> LinkRead {
    change { state in
      if state.isSilent { return .wouldBlock }
      guard let first = state.ends[end].incoming.first else { return state.ends[end].farEnd ?? .wouldBlock }
      let rest = first[state.ends[end].taken...]
      var count = min(rest.count, buffer.count)
      // A read need not give a whole packet, nor everything that is there.
      if state.random.next() % 8 == 0 { count = 1 + Int(state.random.next() % UInt64(count)) }
      buffer.copyBytes(from: rest.prefix(count))
      state.ends[end].incomingCount -= count
      state.ends[end].taken += count
      if state.ends[end].taken == first.count {
        state.ends[end].incoming.removeFirst()
        state.ends[end].taken = 0
      }
      return .bytes(count)
    }
  }

  func write(_ end: Int, _ bytes: UnsafeRawBufferPointer) -> LinkWrite {
    change { state in
      if case .failed(let failure)? = state.ends[end].farEnd { return .failed(failure) }
      let far = 1 - end
      if state.ends[far].isClosed, !state.isSilent { return .failed(LinkFailure(.reset, "the far end is closed")) }
      let room = shape.room - state.ends[far].incomingCount
      var count = min(bytes.count, shape.largestWrite)
      if shape.isPacket {
        guard count <= room else { return .wouldBlock }
      } else {
        count = min(count, room)
        if count > 1, state.random.next() % 8 == 0 { count = 1 + Int(state.random.next() % UInt64(count)) }
        if count == 0 { return .wouldBlock }
      }
      state.ends[far].incoming.append(Array(bytes.prefix(count)))
      state.ends[far].incomingCount += count
      return .bytes(count)
    }
  }

  func setReadiness(_ end: Int, read: Bool, write: Bool) {
    change { state in
      state.ends[end].wantsRead = read
      state.ends[end].wantsWrite = write
    }
  }

  func close(_ end: Int, abort: Bool) {
    change { state in
      if state.ends[end].isClosed { return }
      state.ends[end].isClosed = true
      let far = 1 - end
      if abort { state.ends[far].drop() }
      if state.ends[far].farEnd == nil { state.ends[far].farEnd = abort ? .failed(LinkFailure(.reset)) : .end }
    }
  }

  /// Holds all bytes back without telling either side, or lets them through again.
  func setSilent(_ isSilent: Bool) { change { $0.isSilent = isSilent } }

  /// Both ends are told that the link is lost.
  func cut() {
    change { state in
      for end in 0...1 {
        state.ends[end].drop()
        state.ends[end].farEnd = .failed(LinkFailure(.timedOut, "cut"))
      }
      state.isSilent = false
    }
  }

  /// Whether both ends have let go of it.
  var isOver: Bool { state.withLock { $0.ends.allSatisfy(\.isClosed) } }

  /// Changes the state, then wakes the ends that have become ready.
  private func change<Value>(_ body: (inout State) -> Value) -> Value {
    let (value, wakes) = state.withLock { state in
      let value = body(&state)
      var wakes: [(EventLoop, Weak)] = []
      for end in 0...1 where !state.ends[end].isScheduled && state.links.count == 2 {
        let (read, write) = readiness(of: end, state)
        guard read || write else { continue }
        state.ends[end].isScheduled = true
        wakes.append((loops[end], state.links[end]))
      }
      return (value, wakes)
    }
    for (loop, link) in wakes {
      let link = link.link
      loop.execute { link?.becameReady() }
    }
    return value
  }

  /// Called by an end whose turn on its loop has come.
  func takeReadiness(_ end: Int) -> (read: Bool, write: Bool) {
    state.withLock { state in
      state.ends[end].isScheduled = false
      return readiness(of: end, state)
    }
  }

  /// An end has used its turn. Level-triggered: it gets another one if it is still ready.
  func turnEnded() { change { _ in } }

  private func readiness(of end: Int, _ state: State) -> (read: Bool, write: Bool) {
    let near = state.ends[end]
    if near.isClosed { return (false, false) }
    let far = state.ends[1 - end]
    let hasFailed = if case .failed? = near.farEnd { true } else { false }
    let room = shape.room - far.incomingCount
    let canWrite = hasFailed || (far.isClosed && !state.isSilent) || room >= min(shape.largestWrite, shape.room)
    let canRead = !state.isSilent && (!near.incoming.isEmpty || near.farEnd != nil)
    return (near.wantsRead && canRead, near.wantsWrite && (shape.isPacket ? canWrite : canWrite || room > 0))
  }
}

extension MemoryWire.End {
  fileprivate mutating func drop() {
    incoming = []
    incomingCount = 0
    taken = 0
  }
}

/// One end of a link in memory.
final class MemoryLink: LinkEndpoint, @unchecked Sendable {
  // Sendable is right: `handler` is used only on the loop of this end, and the rest is constant.
  let traits: LinkTraits
  private let wire: MemoryWire
  private let end: Int
  private weak var handler: (any LinkEndpointHandler)?

  init(_ wire: MemoryWire, _ end: Int, remote: String, local: String) {
    self.wire = wire
    self.end = end
    traits = LinkTraits(
      kind: .simulated, remoteAddress: remote, localAddress: local, isPacket: wire.shape.isPacket,
      largestWrite: wire.shape.largestWrite)
  }

  deinit { wire.close(end, abort: true) }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> LinkRead { wire.read(end, into: buffer) }
  func write(_ bytes: UnsafeRawBufferPointer) -> LinkWrite { wire.write(end, bytes) }
  func setReadiness(read: Bool, write: Bool) { wire.setReadiness(end, read: read, write: write) }
  func setHandler(_ handler: any LinkEndpointHandler) { self.handler = handler }
  func close(abort: Bool) { wire.close(end, abort: abort) }

  func becameReady() {
    let (read, write) = wire.takeReadiness(end)
    if read || write { handler?.linkIsReady(read: read, write: write) }
    wire.turnEnded()
  }
}
