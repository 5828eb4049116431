import PiconetBlueZ

/// A member that advertises at an adapter together with others; confined to the loop.
protocol AdapterMember: AnyObject {
  /// Tells the member that another one has changed something that all share.
  func siblingsChanged()
}

/// Holds the state of adapters that the nodes of one process share, and wakes the nodes for which it has changed.
/// Confined to the loop.
public final class AdapterCircle {
  /// Lent to a member's machine for each fact; `wake` follows.
  var adapters = SharedAdapters()
  private var members: [AdapterUser: Member] = [:]

  private struct Member { weak var itself: (any AdapterMember)? }

  public init() {}

  func join() -> AdapterUser { adapters.join() }

  func setMember(_ member: any AdapterMember, for user: AdapterUser) { members[user] = Member(itself: member) }

  /// Idempotent.
  func leave(_ user: AdapterUser) {
    members[user] = nil
    adapters.leave(user)
    wake()
  }

  func wake() {
    for user in adapters.takeWoken() { members[user]?.itself?.siblingsChanged() }
  }
}
