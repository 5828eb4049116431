import PiconetEngine

/// The schedule of the radio. It tells the discoveries of all nodes when one of them needs the radio, when it is free
/// again, and when they may scan while others send. Confined to the loop.
public final class RadioPlan {
  private struct User {
    let id: ObjectIdentifier
    let discoveries: [any Discovery]
    var access = RadioAccess.free
  }

  private let loop: EventLoop
  private var users: [User] = []
  private var share = RadioShare<ObjectIdentifier>()
  private var timer: LoopTimer?

  public init(loop: EventLoop) { self.loop = loop }

  /// Adds discoveries, and tells them at once if the radio is busy.
  func add(_ watch: RadioWatch, _ discoveries: [any Discovery]) {
    users.append(User(id: ObjectIdentifier(watch), discoveries: discoveries))
    timer =
      timer
      ?? LoopTimer(loop: loop) { [weak self] in
        guard let self else { return }
        share.settle(at: loop.now)
        update()
      }
    share.add(ObjectIdentifier(watch))
    update()
  }

  /// Removes a node; its discoveries are told nothing afterwards.
  func remove(_ watch: RadioWatch) {
    users.removeAll { $0.id == ObjectIdentifier(watch) }
    share.remove(ObjectIdentifier(watch), at: loop.now)
    if !users.isEmpty { return update() }
    timer?.set(nil)
    timer = nil
    share = RadioShare()
  }

  /// Notes that our dial, or its handshake, has begun.
  func began(_ watch: RadioWatch) {
    share.began(ObjectIdentifier(watch), at: loop.now)
    update()
  }

  func ended(_ watch: RadioWatch) {
    share.ended(ObjectIdentifier(watch), at: loop.now)
    update()
  }

  /// Notes that an accepted link's handshake has begun.
  func acceptedBegan(_ watch: RadioWatch) {
    share.acceptedBegan(ObjectIdentifier(watch), at: loop.now)
    update()
  }

  func acceptedEnded(_ watch: RadioWatch) {
    share.acceptedEnded(ObjectIdentifier(watch), at: loop.now)
    update()
  }

  /// Notes that unsent bytes of a link wait for room, and some have moved.
  func waited(_ watch: RadioWatch) {
    if share.waited(ObjectIdentifier(watch), at: loop.now) { update() }
  }

  func moved(_ count: Int, by watch: RadioWatch) {
    // If it is busy already, the timer looks again when it fires.
    if share.moved(count, by: ObjectIdentifier(watch), at: loop.now) { update() }
  }

  func searches(_ watch: RadioWatch, _ isSearching: Bool) {
    share.searches(ObjectIdentifier(watch), isSearching, at: loop.now)
    update()
  }

  private func update() {
    let now = loop.now
    timer?.set(share.nextDeadline(at: now))
    for index in users.indices {
      let access = share.access(of: users[index].id, at: now)
      let former = users[index].access
      if access == former { continue }
      users[index].access = access
      for discovery in users[index].discoveries { Self.tell(discovery, access, former) }
    }
  }

  /// Tells a discovery its access, in an order that does not disturb a scan that may go on.
  private static func tell(_ discovery: any Discovery, _ access: RadioAccess, _ former: RadioAccess) {
    if access == .turn { discovery.setRadioTurn(true) }
    if (access == .free) != (former == .free) { discovery.setRadioBusy(access != .free) }
    if former == .turn { discovery.setRadioTurn(false) }
  }
}
