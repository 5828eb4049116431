import PiconetEngine
import PiconetTLS
import PiconetWire

/// A discovery in which devices may be veiled: an advertisement without a name has a veil (`PeerVeil`) in place of the
/// key's fingerprint. Veiled devices that are known are reported with their real ids, under their petnames; others are
/// not reported at all. Confined to the loop.
final class VeiledDiscovery: Discovery {
  private let inner: any Discovery
  private let isVeiled: Bool
  /// The keys that a veil may belong to, with their names.
  private let candidates: () -> [(PeerID, String)]
  private var handler: ((DiscoveryReport) -> Void)?
  private var sessionID = ""

  private struct Veil: Hashable {
    let peer: PeerID
    let incarnation: Incarnation
  }

  /// Whose the veils in sight are. Beyond the limit no more are reported.
  private var unveiled: [Veil: PeerID] = [:]
  private static let limit = 4096

  init(_ inner: any Discovery, isVeiled: Bool, candidates: @escaping () -> [(PeerID, String)]) {
    self.inner = inner
    self.isVeiled = isVeiled
    self.candidates = candidates
  }

  var sourceName: String { inner.sourceName }
  func setRadioBusy(_ isBusy: Bool) { inner.setRadioBusy(isBusy) }
  func setRadioTurn(_ hasTurn: Bool) { inner.setRadioTurn(hasTurn) }
  func close() { inner.close() }

  func advertise(_ advertisement: Advertisement?) {
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
    inner.search(sessionID: sessionID)
  }

  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) {
    self.handler = handler
    inner.setHandler { [weak self] in self?.reported($0) }
  }

  private func reported(_ report: DiscoveryReport) {
    switch report {
    case .seen(var sighting) where sighting.name.isEmpty:
      let veil = Veil(peer: sighting.peer, incarnation: sighting.incarnation)
      guard unveiled.count < Self.limit || unveiled[veil] != nil, let (peer, name) = owner(of: veil) else { return }
      unveiled[veil] = peer
      sighting.peer = peer
      sighting.name = name
      sighting.info = [:]
      handler?(.seen(sighting))
    case .gone(let peer, let incarnation):
      if let owner = unveiled.removeValue(forKey: Veil(peer: peer, incarnation: incarnation)) {
        handler?(.gone(owner, incarnation))
      } else {
        handler?(report)
      }
    case .seen: handler?(report)
    }
  }

  private func owner(of veil: Veil) -> (PeerID, String)? {
    candidates().first { PeerVeil.veil(of: $0.0, veil.incarnation, session: sessionID) == veil.peer }
  }
}
