import PiconetWire

/// The number of associations begun with each peer, over all its incarnations. A dialling side knows the remote side's
/// key but not yet its incarnation. At most `limit` peers are remembered; the oldest are dropped first.
struct BegunCounts: Sendable {
  private var counts: [PeerID: UInt64] = [:]
  private var order = FirstInFirstOut<PeerID>()
  static let limit = 4096

  subscript(peer: PeerID) -> UInt64 { counts[peer] ?? 0 }

  mutating func increment(_ peer: PeerID) {
    if counts[peer] == nil {
      order.append(peer)
      if order.count > Self.limit, let oldest = order.popFirst() { counts[oldest] = nil }
    }
    counts[peer, default: 0] += 1
  }
}
