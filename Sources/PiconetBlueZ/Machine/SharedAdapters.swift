import PiconetSDP

/// A node among those of its process: see `SharedAdapters`.
public struct AdapterUser: Hashable, Sendable { let number: Int }

/// The state of adapters that the nodes of one process share, as a value: the order in which they change an adapter's
/// advertisements, and the settings that the last of them has to restore. It is lent to a node's machine for each fact.
///
/// bluetoothd renews all advertisements when the discoverable mode changes. Version 5.66 does not track those requests:
/// it uses an advertisement that is taken back meanwhile after it has freed it (`add_adv_params_callback` in its
/// advertising.c), and forgets to answer a registration under way. So each change is answered before the next one is
/// requested, and only the first node that advertises and the last one change the mode. A node that changes the mode in
/// several steps keeps its turn until the last of them, so that no other node meets half of it.
///
/// Each node waits once at most, so that the queue is never longer than the list of nodes.
public struct SharedAdapters: Sendable {
  private var adapters: [BluetoothAddress: SharedAdapter] = [:]
  private var claims: [AdapterUser: AdapterClaim] = [:]
  /// Nodes that want a turn, in the order in which they asked; the first one of each adapter has it.
  private var queue: [AdapterUser] = []
  private var woken: Set<AdapterUser> = []
  private var lastNumber = 0

  public init() {}

  public mutating func join() -> AdapterUser {
    lastNumber += 1
    return AdapterUser(number: lastNumber)
  }

  /// Removes a node that has ended, in good order or not. Idempotent.
  public mutating func leave(_ user: AdapterUser) {
    set(nil, of: user)
    woken.remove(user)
  }

  /// Returns the nodes for which something has changed: each must be told `siblingsChanged`.
  public mutating func takeWoken() -> [AdapterUser] {
    if woken.isEmpty { return [] }
    defer { woken = [] }
    return woken.sorted { $0.number < $1.number }
  }

  /// The adapter as the last node that handled a fact has left it.
  subscript(address: BluetoothAddress) -> SharedAdapter { adapters[address] ?? SharedAdapter() }

  /// Stores this node's changes; it must have a claim to the adapter, or make one.
  mutating func store(_ adapter: SharedAdapter, at address: BluetoothAddress, by user: AdapterUser) {
    if adapters.updateValue(adapter, forKey: address) != adapter { wake(at: address, but: user) }
  }

  /// - Parameter claim: nil: the node uses no adapter.
  mutating func set(_ claim: AdapterClaim?, of user: AdapterUser) {
    let former = claims[user]
    if claim == former { return }
    claims[user] = claim
    if claim?.wantsTurn != true || claim?.adapter != former?.adapter { queue.removeAll { $0 == user } }
    if claim?.wantsTurn == true, !queue.contains(user) { queue.append(user) }
    for address in Set([former?.adapter, claim?.adapter].compactMap { $0 }) {
      wake(at: address, but: user)
      // An adapter that no node uses any more is as its next user finds it.
      if !claims.values.contains(where: { $0.adapter == address }) { adapters[address] = nil }
    }
  }

  /// Returns the claims of the other nodes to an adapter.
  func others(than user: AdapterUser, at address: BluetoothAddress) -> OtherClaims {
    var others = OtherClaims()
    for (other, claim) in claims where other != user && claim.adapter == address {
      if claim.needsMode { others.needMode = true }
      if claim.needsPower { others.needPower = true }
    }
    let first = queue.first { claims[$0]?.adapter == address }
    others.haveTurn = first != nil && first != user
    return others
  }

  private mutating func wake(at address: BluetoothAddress, but user: AdapterUser) {
    for (other, claim) in claims where other != user && claim.adapter == address { woken.insert(other) }
  }
}
