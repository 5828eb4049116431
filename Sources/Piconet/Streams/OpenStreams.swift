import PiconetEngine

/// The streams of a node that the application holds, both ways, where the loop finds them. Part of the node's state,
/// under its lock.
struct OpenStreams: Sendable {
  private(set) var outgoing: [StreamID: OutgoingStreamState] = [:]
  private(set) var incoming: [StreamID: StreamBuffer] = [:]

  mutating func add(_ id: StreamID, _ stream: OutgoingStreamState) { outgoing[id] = stream }

  mutating func add(_ id: StreamID, _ buffer: StreamBuffer) { incoming[id] = buffer }

  mutating func forget(_ id: StreamID) {
    outgoing[id] = nil
    incoming[id] = nil
  }

  /// The number of streams that the application holds.
  var count: Int { outgoing.count + incoming.count }
}
