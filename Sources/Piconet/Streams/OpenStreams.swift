import PiconetEngine
import Synchronization

/// The streams of a node that somebody holds, both ways: where the loop finds them.
final class OpenStreams: Sendable {
  private struct State {
    var outgoing: [StreamID: OutgoingStreamState] = [:]
    var incoming: [StreamID: StreamBuffer] = [:]
  }

  private let state = Mutex(State())

  func add(_ id: StreamID, _ stream: OutgoingStreamState) { state.withLock { $0.outgoing[id] = stream } }

  func add(_ id: StreamID, _ buffer: StreamBuffer) { state.withLock { $0.incoming[id] = buffer } }

  func forget(_ id: StreamID) {
    state.withLock { state in
      state.outgoing[id] = nil
      state.incoming[id] = nil
    }
  }

  func outgoing(_ id: StreamID) -> OutgoingStreamState? { state.withLock { $0.outgoing[id] } }

  func incoming(_ id: StreamID) -> StreamBuffer? { state.withLock { $0.incoming[id] } }

  /// Streams that somebody holds.
  var count: Int { state.withLock { $0.outgoing.count + $0.incoming.count } }

  /// Nothing is sent any more.
  func endSending(_ error: PiconetError) {
    for stream in state.withLock({ Array($0.outgoing.values) }) { stream.stop(error) }
  }

  /// Nothing comes any more, either.
  func end(_ error: PiconetError) {
    endSending(error)
    for buffer in state.withLock({ Array($0.incoming.values) }) { buffer.end(.lost(error)) }
  }
}
