/// Which files have one of the places for counted files, and which wait for one. Pure: times are arguments.
///
/// A file that stalls gives its place away when a file from another sender waits. So does one that drips: it must
/// progress at a pace that any radio has, shared by all files that have a place. A sender that has let one stall comes
/// after those that have not, so that no sender can keep others out with one file after the other.
struct FilePlaceTable {
  typealias Place = UInt64
  typealias Time = ContinuousClock.Instant

  private struct Holder {
    let sender: String
    /// When it last progressed by as much as counts.
    var movedAt: Time
    var done: UInt64 = 0
    /// Whether all bytes are here, and what is left is for us to do.
    var isComplete = false
    /// Whether it was asked to give its place away.
    var givesWay = false
  }

  private var free: Int
  private var holders: [Place: Holder] = [:]
  private var waiters: [(place: Place, sender: String)] = []
  /// How many files each sender has let stall.
  private var stalls: [String: Int] = [:]
  private let patience: Duration

  /// A file that does not progress by at least this many bytes in time has stalled, however many share the way: one
  /// drop now and then is not progress.
  static let leastProgress: UInt64 = 1_024
  /// Bytes by which all files with a place together must progress per second while others wait.
  static let leastPace: UInt64 = 4_096
  /// With more senders than this, all are forgiven.
  private static let stallLimit = 1_024

  init(_ count: Int, patience: Duration) {
    free = count
    self.patience = patience
  }

  /// - Returns: whether there is a place; otherwise it waits.
  mutating func enter(_ place: Place, _ sender: String, at now: Time) -> Bool {
    guard free > 0 else {
      waiters.append((place, sender))
      return false
    }
    free -= 1
    holders[place] = Holder(sender: sender, movedAt: now)
    return true
  }

  /// Stops waiting.
  /// - Returns: false if it has a place already, or no longer has one.
  mutating func cancel(_ place: Place) -> Bool {
    guard let index = waiters.firstIndex(where: { $0.place == place }) else { return false }
    waiters.remove(at: index)
    return true
  }

  mutating func moved(_ place: Place, done: UInt64, of total: UInt64, at now: Time) {
    // A file that waits, or has ended, has no place.
    guard var holder = holders[place] else { return }
    if done >= total { holder.isComplete = true }
    if done >= total || done >= holder.done + leastProgress { (holder.done, holder.movedAt) = (done, now) }
    holders[place] = holder
  }

  /// By how much each file must progress, at least, within the patience.
  private var leastProgress: UInt64 {
    let seconds = max(0, patience / .seconds(1))
    let ofAll = UInt64(Double(Self.leastPace) * min(seconds, 86_400))
    return max(Self.leastProgress, ofAll / UInt64(max(1, holders.count)))
  }

  /// What is here already is being read, at our disk's pace: that is not the sender stalling.
  mutating func compared(_ place: Place, at now: Time) {
    guard var holder = holders[place] else { return }
    holder.movedAt = now
    holders[place] = holder
  }

  /// - Parameter isUsed: whether the file was stored, so that its place is used up.
  /// - Returns: the file that has the place from now on.
  mutating func leave(_ place: Place, isUsed: Bool, at now: Time) -> Place? {
    guard holders.removeValue(forKey: place) != nil, !isUsed else { return nil }
    // The first from the senders that have let the fewest stall.
    guard
      let next = waiters.indices.min(by: {
        (stalls[waiters[$0].sender] ?? 0, $0) < (stalls[waiters[$1].sender] ?? 0, $1)
      })
    else {
      free += 1
      return nil
    }
    let waiter = waiters.remove(at: next)
    holders[waiter.place] = Holder(sender: waiter.sender, movedAt: now)
    return waiter.place
  }

  /// Files that stall while others wait, each named once: the longest first, and no more than others wait.
  mutating func standing(at now: Time) -> [Place] {
    var given = holders.values.count { $0.givesWay }
    var result: [Place] = []
    let still = holders.filter { !$0.value.isComplete && !$0.value.givesWay && now - $0.value.movedAt >= patience }
    for (place, var holder) in still.sorted(by: { ($0.value.movedAt, $0.key) < ($1.value.movedAt, $1.key) })
    where waiters.count(where: { $0.sender != holder.sender }) > given {
      given += 1
      holder.givesWay = true
      holders[place] = holder
      if stalls.count >= Self.stallLimit { stalls = [:] }
      stalls[holder.sender, default: 0] += 1
      result.append(place)
    }
    return result
  }
}
