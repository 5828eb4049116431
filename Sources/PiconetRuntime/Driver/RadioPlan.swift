import PiconetEngine

/// Who may have the radio: tells the discoveries of all nodes when one of them needs it, and when it is free again.
/// Confined to the loop.
public final class RadioPlan {
  private struct User {
    let id: ObjectIdentifier
    let discoveries: [any Discovery]
  }

  private let loop: EventLoop
  private var users: [User] = []
  private var use = RadioUse()
  private var isBusy = false
  private var timer: LoopTimer?

  public init(loop: EventLoop) { self.loop = loop }

  /// Tells these discoveries, too: at once, where the radio is busy.
  func add(_ watch: RadioWatch, _ discoveries: [any Discovery]) {
    users.append(User(id: ObjectIdentifier(watch), discoveries: discoveries))
    timer = timer ?? LoopTimer(loop: loop) { [weak self] in self?.update() }
    if isBusy { for discovery in discoveries { discovery.setRadioBusy(true) } }
  }

  /// Nothing is told to its discoveries afterwards.
  func remove(_ watch: RadioWatch) {
    users.removeAll { $0.id == ObjectIdentifier(watch) }
    guard users.isEmpty else { return }
    timer?.set(nil)
    timer = nil
    (use, isBusy) = (RadioUse(), false)
  }

  func began() {
    use.began()
    update()
  }

  func ended(_ count: Int = 1) {
    for _ in 0..<count { use.ended(at: loop.now) }
    update()
  }

  func moved(_ count: Int) {
    let now = loop.now
    use.moved(count, at: now)
    // Busy already: the timer looks again when it fires. A short message changes nothing.
    if !isBusy, use.isBusy(at: now) { update() }
  }

  private func update() {
    let now = loop.now
    let isBusy = use.isBusy(at: now)
    timer?.set(use.nextDeadline(at: now))
    if isBusy == self.isBusy { return }
    self.isBusy = isBusy
    for discovery in users.flatMap(\.discoveries) { discovery.setRadioBusy(isBusy) }
  }
}
