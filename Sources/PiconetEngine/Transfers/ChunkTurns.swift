import PiconetWire

/// The order in which transfers send chunks on a link. They take turns of equally many bytes (round robin). A transfer
/// is passed over if it has nothing at its turn, because its disk is slow, its credit is used up or it is paused.
struct ChunkTurns: Sendable {
  /// Bytes of one turn. At 2 Mbit/s it takes a quarter of a second. With turns of one frame every read would be cut
  /// into small records.
  static let quantum = 64 << 10

  private(set) var order: [TransferID] = []
  private var index = 0
  /// Bytes that are left of this turn.
  private(set) var left = ChunkTurns.quantum

  var count: Int { order.count }
  var current: TransferID? { order.indices.contains(index) ? order[index] : nil }

  /// Adds a transfer that begins to send; it has its first turn after all others. Has no effect on one that takes turns
  /// already.
  mutating func append(_ transfer: TransferID) {
    if !order.contains(transfer) { order.append(transfer) }
  }

  mutating func remove(_ transfer: TransferID) {
    guard let place = order.firstIndex(of: transfer) else { return }
    order.remove(at: place)
    if place == index { left = Self.quantum }
    if place < index { index -= 1 }
    if index >= order.count { index = 0 }
  }

  /// Returns the maximum number of bytes that the current transfer may have now: all the room if it is alone.
  func share(of room: Int) -> Int { order.count > 1 ? min(room, left) : room }

  /// Notes that the current transfer has transmitted this many bytes of frames. Bytes beyond its share are deducted
  /// from its next turn.
  mutating func took(_ count: Int) {
    left -= count
    guard left <= 0 else { return }
    index = index + 1 < order.count ? index + 1 : 0
    left = Self.quantum
  }

  /// Passes the turn on, because the current transfer has nothing to send.
  mutating func pass() { took(left) }
}
