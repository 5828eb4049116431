import PiconetEngine

/// Reports one node's uses of the radio to the radio plan. Confined to the loop.
///
/// Uses are reported by the code that dials and carries bytes; links over other transports must not be reported.
final class RadioWatch {
  private let plan: RadioPlan
  private var dials: Set<DialID> = []
  private var securing: Set<LinkID> = []
  /// Links that other nodes opened and that are being secured.
  private var securingAccepted: Set<LinkID> = []
  private var isClosed = false

  init(plan: RadioPlan, discoveries: [any Discovery]) {
    self.plan = plan
    plan.add(self, discoveries)
  }

  /// Notes that a dial begins. Call it before: a scan must stop before the radio pages.
  func dialBegins(_ dial: DialID) {
    if !isClosed, dials.insert(dial).inserted { plan.began(self) }
  }

  /// Notes that the dial's link is open, or that the dial has failed or was cancelled.
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

  /// Notes that a link's wait for room begins or ends, or that the kernel has taken some of the waiting bytes.
  func linkWaited() { if !isClosed { plan.waited(self) } }

  func moved(_ count: Int) { if !isClosed { plan.moved(count, by: self) } }

  /// Notes whether the node searches: only such nodes get turns.
  func searches(_ isSearching: Bool) { if !isClosed { plan.searches(self, isSearching) } }

  /// Ends the watch: the node no longer uses the radio, and its discoveries are told nothing more.
  func close() {
    if isClosed { return }
    isClosed = true
    (dials, securing, securingAccepted) = ([], [], [])
    plan.remove(self)
  }
}
