/// Who has one of the places for files that are counted, and who waits for one. Pure: times are arguments.
///
/// A file that stands still gives its place away when a file of another sender waits. So does one that drips: it has to
/// come further at a pace that any radio has, shared by all files that have a place. Who has let one stand still comes
/// behind those who have not, so that nobody keeps others out with one file after the other.
struct FilePlaceTable {
  typealias Place = UInt64
  typealias Time = ContinuousClock.Instant

  private struct Holder {
    let sender: String
    /// When it last came further by as much as counts.
    var movedAt: Time
    var done: UInt64 = 0
    /// All bytes are here: what is left is ours to do.
    var isComplete = false
    /// It was asked to give its place away.
    var givesWay = false
  }

  private var free: Int
  private var holders: [Place: Holder] = [:]
  private var waiters: [(place: Place, sender: String)] = []
  /// Files that each sender has let stand still.
  private var stalls: [String: Int] = [:]
  private let patience: Duration

  /// A file stands still that comes no further by so many bytes in time, however many share the way: one drop now and
  /// then is no progress.
  static let leastProgress: UInt64 = 1_024
  /// Bytes that all files with a place have to come further by in a second, while others wait.
  static let leastPace: UInt64 = 4_096
  /// With more senders than this all are forgiven.
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

  /// Waits no longer.
  /// - Returns: false if it has a place already, or none any more.
  mutating func cancel(_ place: Place) -> Bool {
    guard let index = waiters.firstIndex(where: { $0.place == place }) else { return false }
    waiters.remove(at: index)
    return true
  }

  mutating func moved(_ place: Place, done: UInt64, of total: UInt64, at now: Time) {
    guard let holder = holders[place] else { return }
    if done >= total { holders[place]?.isComplete = true }
    guard done >= total || done >= holder.done + leastProgress else { return }
    holders[place]?.done = done
    holders[place]?.movedAt = now
  }

  /// By what each file has to come further within the patience, at least.
  private var leastProgress: UInt64 {
    let seconds = max(0, patience / .seconds(1))
    let ofAll = UInt64(Double(Self.leastPace) * min(seconds, 86_400))
    return max(Self.leastProgress, ofAll / UInt64(max(1, holders.count)))
  }

  /// What is here already is being read, at our disk's pace: the sender does not stand still meanwhile.
  mutating func compared(_ place: Place, at now: Time) { holders[place]?.movedAt = now }

  /// - Parameter isUsed: the file is stored, and its place is gone.
  /// - Returns: who has the place from now on.
  mutating func leave(_ place: Place, isUsed: Bool, at now: Time) -> Place? {
    guard holders.removeValue(forKey: place) != nil, !isUsed else { return nil }
    // The first of those who have let fewest stand still.
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

  /// Who stands still while others wait, each named once: the longest first, and no more than there are others.
  mutating func standing(at now: Time) -> [Place] {
    var given = holders.values.count { $0.givesWay }
    var result: [Place] = []
    let still = holders.filter { !$0.value.isComplete && !$0.value.givesWay && now - $0.value.movedAt >= patience }
    for (place, holder) in still.sorted(by: { ($0.value.movedAt, $0.key) < ($1.value.movedAt, $1.key) })
    where waiters.count(where: { $0.sender != holder.sender }) > given {
      given += 1
      holders[place]?.givesWay = true
      if stalls.count >= Self.stallLimit { stalls = [:] }
      stalls[holder.sender, default: 0] += 1
      result.append(place)
    }
    return result
  }
}
