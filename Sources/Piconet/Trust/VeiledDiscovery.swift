import PiconetEngine
import PiconetRuntime
import PiconetTLS
import PiconetWire

/// A discovery in which devices may be veiled: an advertisement without a name has a veil (`PeerVeil`) in place of the
/// key's fingerprint. Veiled devices that are known are reported with their real ids, under their petnames; others are
/// not reported at all.
///
/// Any device can advertise another's veil under a name, or another's key without one, even before the other does, and
/// one sighting is made of all who advertise the same. An advertisement with a name is therefore reported under it, and
/// is still looked at once: it may be a known device's veil. However many veils are invented, looking for their owners
/// takes a small share of the loop's time (`VeilQueue`). Confined to the loop.
final class VeiledDiscovery: Discovery {
  /// The parts of a loop that it needs: the time, and a timer with one deadline.
  struct Time {
    let now: () -> Instant
    /// Sets, moves or (nil) clears the deadline at which `lookForOwners` is to be called.
    let wake: (Instant?) -> Void
  }

  private let inner: any Discovery
  private let isVeiled: Bool
  /// Returns the keys that a veil may belong to, with their names.
  private let candidates: () -> [(PeerID, String)]
  private let time: Time
  private var handler: ((DiscoveryReport) -> Void)?
  private var sessionID = ""

  private struct Veil: Hashable {
    let peer: PeerID
    let incarnation: Incarnation
  }

  /// The owners of the veils in sight. Beyond the limit no more are reported.
  private var unveiled: [Veil: PeerID] = [:]
  private static let limit = 4096
  /// Advertisements reported under names, which have been looked at or wait for that. Beyond the limit, advertisements
  /// with a name are not looked at.
  private var named: Set<Veil> = []
  private var queue = VeilQueue()

  init(
    _ inner: any Discovery, isVeiled: Bool, candidates: @escaping () -> [(PeerID, String)], time: Time
  ) {
    self.inner = inner
    self.isVeiled = isVeiled
    self.candidates = candidates
    self.time = time
  }

  convenience init(
    _ inner: any Discovery, isVeiled: Bool, candidates: @escaping () -> [(PeerID, String)], loop: EventLoop
  ) {
    weak var discovery: VeiledDiscovery?
    let timer = LoopTimer(loop: loop) { discovery?.lookForOwners() }
    self.init(
      inner, isVeiled: isVeiled, candidates: candidates, time: Time(now: { loop.now }, wake: { timer.set($0) }))
    discovery = self
  }

  var sourceName: String { inner.sourceName }
  func setRadioBusy(_ isBusy: Bool) { inner.setRadioBusy(isBusy) }
  func setRadioTurn(_ hasTurn: Bool) { inner.setRadioTurn(hasTurn) }
  func setExpecting(_ isExpecting: Bool) { inner.setExpecting(isExpecting) }
  func close() {
    queue.removeAll()
    time.wake(nil)
    inner.close()
  }

  func advertise(_ advertisement: NodeAdvertisement?) {
    guard isVeiled, var veiled = advertisement else { return inner.advertise(advertisement) }
    guard let veil = PeerVeil.veil(of: veiled.peer, veiled.incarnation, session: veiled.sessionID) else {
      return inner.advertise(nil)
    }
    veiled.peer = veil
    veiled.name = ""
    veiled.info = [:]
    inner.advertise(veiled)
  }

  func search(sessionID: String?) {
    self.sessionID = sessionID ?? ""
    unveiled = [:]
    named = []
    queue.removeAll()
    inner.search(sessionID: sessionID)
  }

  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) {
    self.handler = handler
    inner.setHandler { [weak self] in self?.reported($0) }
  }

  private func reported(_ report: DiscoveryReport) {
    switch report {
    case .seen(let sighting): seen(sighting)
    case .gone(let veil, let incarnation):
      queue.remove(veil, incarnation)
      named.remove(Veil(peer: veil, incarnation: incarnation))
      if let owner = unveiled.removeValue(forKey: Veil(peer: veil, incarnation: incarnation)) {
        handler?(.gone(owner, incarnation))
      } else {
        handler?(report)
      }
    }
  }

  private func seen(_ sighting: Sighting) {
    let veil = Veil(peer: sighting.peer, incarnation: sighting.incarnation)
    let known = unveiled[veil]
    if let owner = known.flatMap({ known in candidates().first { $0.0 == known } }) {
      return tell(sighting, of: owner)
    }
    guard let named = Self.named(sighting) else {
      // The device that gave it a name has gone.
      if self.named.remove(veil) != nil { handler?(.gone(veil.peer, veil.incarnation)) }
      queue.append(sighting)
      return lookForOwners()
    }
    if self.named.contains(veil) || self.named.count >= Self.limit {
      queue.update(sighting)
    } else {
      queue.append(sighting)
      lookForOwners()
      if unveiled[veil] != nil { return }
      // Inserted whether it has had its turn or not: hardly any device with a name is veiled.
      self.named.insert(veil)
    }
    handler?(.seen(named))
  }

  /// Returns the sighting under the names that it was given; nil if it has no name.
  private static func named(_ sighting: Sighting) -> Sighting? {
    let names = sighting.names.filter { !$0.isEmpty }
    guard let first = names.first else { return nil }
    var named = sighting
    (named.name, named.otherNames) = (first, Array(names.dropFirst()))
    return named
  }

  /// Looks for the owners of as many veils as the period has room for. Also to be called at the deadline that was set.
  func lookForOwners() {
    // Computed only once a period has room: listing a thousand keys costs something, too.
    lazy var candidates = candidates()
    let start = time.now()
    while let sighting = queue.next(at: start) {
      let owner = candidates.firstIndex {
        PeerVeil.veil(of: $0.0, sighting.incarnation, session: sessionID) == sighting.peer
      }
      queue.spent(owner.map { $0 + 1 } ?? candidates.count, until: time.now())
      if let owner { tell(sighting, of: candidates[owner]) }
    }
    time.wake(queue.nextDeadline)
  }

  private func tell(_ sighting: Sighting, of owner: (peer: PeerID, name: String)) {
    let veil = Veil(peer: sighting.peer, incarnation: sighting.incarnation)
    guard unveiled.count < Self.limit || unveiled[veil] != nil else { return }
    unveiled[veil] = owner.peer
    // It was reported under a name that another device gave it: no such device exists.
    if named.remove(veil) != nil { handler?(.gone(veil.peer, veil.incarnation)) }
    var sighting = sighting
    (sighting.peer, sighting.name, sighting.otherNames, sighting.info) = (owner.peer, owner.name, [], [:])
    handler?(.seen(sighting))
  }
}
