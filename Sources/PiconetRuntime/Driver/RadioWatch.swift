import PiconetEngine

/// Tells the radio plan what one node uses the radio for. Confined to the loop.
///
/// Uses are reported by the code that dials and carries bytes; links over other transports must not be reported.
final class RadioWatch {
  private let plan: RadioPlan
  private var dials: Set<DialID> = []
  private var securing: Set<LinkID> = []
  /// Links that others opened and that are being secured.
  private var securingAccepted: Set<LinkID> = []
  private var isClosed = false

  init(plan: RadioPlan, discoveries: [any Discovery]) {
    self.plan = plan
    plan.add(self, discoveries)
  }

  /// Call it before the dial begins: a scan must stop before the radio pages.
  func dialBegins(_ dial: DialID) {
    if !isClosed, dials.insert(dial).inserted { plan.began(self) }
  }

  /// The dial's link is open, or it has failed or was cancelled.
  func dialEnded(_ dial: DialID) {
    if dials.remove(dial) != nil { plan.ended(self) }
  }

  func handshakeBegins(_ link: LinkID, isDialler: Bool) {
    if isClosed { return }
    if isDialler {
      if securing.insert(link).inserted { plan.began(self) }
    } else if securingAccepted.insert(link).inserted {
      plan.acceptedBegan(self)
    }
  }

  func handshakeEnds(_ link: LinkID) {
    if securing.remove(link) != nil { plan.ended(self) }
    if securingAccepted.remove(link) != nil { plan.acceptedEnded(self) }
  }

  /// A link's wait for room begins or ends, or the kernel has taken some of what waits.
  func linkWaited() { if !isClosed { plan.waited(self) } }

  func moved(_ count: Int) { if !isClosed { plan.moved(count, by: self) } }

  /// Whether the node looks for others: only such nodes get turns.
  func searches(_ isSearching: Bool) { if !isClosed { plan.searches(self, isSearching) } }

  /// The node no longer uses the radio, and its discoveries are told nothing more.
  func close() {
    if isClosed { return }
    isClosed = true
    (dials, securing, securingAccepted) = ([], [], [])
    plan.remove(self)
  }
}
