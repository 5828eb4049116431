import PiconetBlueZ

/// Something that is advertised at an adapter together with others; confined to the loop.
protocol AdapterMember: AnyObject {
  /// Another member has changed something that all share.
  func siblingsChanged()
}

/// Holds what the nodes of one process share of adapters, and wakes those for which it has changed. Confined to the
/// loop.
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
