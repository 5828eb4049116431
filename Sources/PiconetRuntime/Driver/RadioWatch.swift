import PiconetEngine

/// Tells the plan of the radio what one node uses it for. Confined to the loop.
///
/// What uses the radio is counted by whoever dials and carries bytes; links over other transports have no business
/// here.
final class RadioWatch {
  private let plan: RadioPlan
  private var dials: Set<DialID> = []
  /// Links in their handshake, and those with bytes that the kernel does not take.
  private var links: [LinkID: Int] = [:]
  private var isClosed = false

  init(plan: RadioPlan, discoveries: [any Discovery]) {
    self.plan = plan
    plan.add(self, discoveries)
  }

  /// Before it begins: a scan stops before the radio pages.
  func dialBegins(_ dial: DialID) {
    guard !isClosed, dials.insert(dial).inserted else { return }
    plan.began()
  }

  /// Its link is there, or it has failed or was cancelled.
  func dialEnded(_ dial: DialID) {
    guard dials.remove(dial) != nil else { return }
    plan.ended()
  }

  /// A link's handshake, or its wait for room, has begun.
  func linkBegins(_ link: LinkID) {
    if isClosed { return }
    links[link, default: 0] += 1
    plan.began()
  }

  func linkEnds(_ link: LinkID) {
    guard let count = links[link] else { return }
    links[link] = count > 1 ? count - 1 : nil
    plan.ended()
  }

  /// The link is gone, and all its uses with it.
  func linkClosed(_ link: LinkID) {
    if let count = links.removeValue(forKey: link) { plan.ended(count) }
  }

  func moved(_ count: Int) { if !isClosed { plan.moved(count) } }

  /// Nothing of the node uses the radio any more, and its discoveries are told nothing.
  func close() {
    if isClosed { return }
    isClosed = true
    plan.ended(dials.count + links.values.reduce(0, +))
    (dials, links) = ([], [:])
    plan.remove(self)
  }
}
