/// Identifies one use of a slot: a slot that was freed and taken again has another generation, so an event already
/// fetched for the previous watch does not reach the new one.
struct WatchToken: Hashable {
  var slot: UInt32
  var generation: UInt32

  /// The token as epoll carries it.
  var packed: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

  init(slot: UInt32, generation: UInt32) {
    self.slot = slot
    self.generation = generation
  }

  init(packed: UInt64) {
    slot = UInt32(truncatingIfNeeded: packed)
    generation = UInt32(packed >> 32)
  }
}

/// The watches of one loop.
struct WatchTable {
  private struct Slot {
    var generation: UInt32
    var watch: DescriptorWatch?
  }
  private var slots: [Slot] = []
  private var free: [UInt32] = []

  var count: Int { slots.count - free.count }

  mutating func insert(_ watch: DescriptorWatch) -> WatchToken {
    if let slot = free.popLast() {
      slots[Int(slot)].watch = watch
      return WatchToken(slot: slot, generation: slots[Int(slot)].generation)
    }
    // Generation 0 is never used, so that no token is 0, which stands for the loop's own wake-up.
    slots.append(Slot(generation: 1, watch: watch))
    return WatchToken(slot: UInt32(slots.count - 1), generation: 1)
  }

  mutating func remove(_ token: WatchToken) {
    guard self[token] != nil else { return }
    slots[Int(token.slot)].watch = nil
    slots[Int(token.slot)].generation &+= 1
    if slots[Int(token.slot)].generation == 0 { slots[Int(token.slot)].generation = 1 }
    free.append(token.slot)
  }

  subscript(token: WatchToken) -> DescriptorWatch? {
    guard token.slot < slots.count, slots[Int(token.slot)].generation == token.generation else { return nil }
    return slots[Int(token.slot)].watch
  }

  var all: [DescriptorWatch] { slots.compactMap(\.watch) }
}
