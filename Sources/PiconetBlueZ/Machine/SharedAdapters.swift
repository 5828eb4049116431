import PiconetSDP

/// A node among those of its process: see `SharedAdapters`.
public struct AdapterUser: Hashable, Sendable { let number: Int }

/// What the nodes of one process share of the adapters that they use, as a value: in which order they change what an
/// adapter advertises, and what the last of them has to put back. It is lent to a node's machine for each fact.
///
/// bluetoothd renews all advertisements when the discoverable mode changes. Version 5.66 keeps no hold of those
/// requests: it uses an advertisement that is taken back meanwhile after it has freed it (`add_adv_params_callback` in
/// its advertising.c), and forgets to answer a registration that is under way. So one change is answered before the
/// next one is asked for, and only the first node that advertises and the last one change the mode. Who changes the
/// mode in several steps keeps its turn until the last of them, so that nobody meets half of it.
///
/// Each node waits once at most, so that the queue is never longer than the list of nodes.
public struct SharedAdapters: Sendable {
  private var adapters: [BluetoothAddress: SharedAdapter] = [:]
  private var claims: [AdapterUser: AdapterClaim] = [:]
  /// Who wants a turn, in the order in which they asked; the first one of each adapter has it.
  private var queue: [AdapterUser] = []
  private var woken: Set<AdapterUser> = []
  private var lastNumber = 0

  public init() {}

  public mutating func join() -> AdapterUser {
    lastNumber += 1
    return AdapterUser(number: lastNumber)
  }

  /// The node has ended, in good order or not. Idempotent.
  public mutating func leave(_ user: AdapterUser) {
    set(nil, of: user)
    woken.remove(user)
  }

  /// The nodes for which something has changed: each must be told `siblingsChanged`.
  public mutating func takeWoken() -> [AdapterUser] {
    if woken.isEmpty { return [] }
    defer { woken = [] }
    return woken.sorted { $0.number < $1.number }
  }

  /// As it was left by the last node that has handled a fact.
  subscript(address: BluetoothAddress) -> SharedAdapter { adapters[address] ?? SharedAdapter() }

  /// Keeps what this node has changed; it must have a claim to the adapter, or make one.
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
      // What nobody uses any more is as its next user finds it.
      if !claims.values.contains(where: { $0.adapter == address }) { adapters[address] = nil }
    }
  }

  /// What the others than this node claim of an adapter.
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
