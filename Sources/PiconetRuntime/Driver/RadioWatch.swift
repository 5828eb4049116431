import PiconetEngine

/// Tells discoveries when the radio gets busy and when it is free again. Confined to the loop.
///
/// What uses the radio is counted by whoever dials and carries bytes; links over other transports have no business
/// here.
final class RadioWatch {
  private let loop: EventLoop
  private let discoveries: [any Discovery]
  private var use = RadioUse()
  private var isBusy = false
  private var timer: LoopTimer?
  private var dials: Set<DialID> = []
  /// Links in their handshake, and those with bytes that the kernel does not take.
  private var links: [LinkID: Int] = [:]

  init(loop: EventLoop, discoveries: [any Discovery]) {
    self.loop = loop
    self.discoveries = discoveries
    timer = LoopTimer(loop: loop) { [weak self] in self?.update() }
  }

  /// Before it begins: a scan stops before the radio pages.
  func dialBegins(_ dial: DialID) {
    guard dials.insert(dial).inserted else { return }
    use.began()
    update()
  }

  /// Its link is there, or it has failed or was cancelled.
  func dialEnded(_ dial: DialID) {
    guard dials.remove(dial) != nil else { return }
    use.ended(at: loop.now)
    update()
  }

  /// A link's handshake, or its wait for room, has begun.
  func linkBegins(_ link: LinkID) {
    links[link, default: 0] += 1
    use.began()
    update()
  }

  func linkEnds(_ link: LinkID) {
    guard let count = links[link] else { return }
    links[link] = count > 1 ? count - 1 : nil
    use.ended(at: loop.now)
    update()
  }

  /// The link is gone, and all its uses with it.
  func linkClosed(_ link: LinkID) {
    for _ in 0..<(links.removeValue(forKey: link) ?? 0) { use.ended(at: loop.now) }
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
    for discovery in discoveries { discovery.setRadioBusy(isBusy) }
  }

  /// Nothing is told afterwards.
  func close() {
    timer?.set(nil)
    timer = nil
  }
}
