import PiconetEngine

/// The discovery of an adapter elsewhere. Confined to the loop.
final class FarDiscovery: Discovery {
  let sourceName: String
  private weak var adapter: FarAdapter?
  private(set) var handler: ((DiscoveryReport) -> Void)?

  init(_ sourceName: String, adapter: FarAdapter) {
    self.sourceName = sourceName
    self.adapter = adapter
  }

  func advertise(_ advertisement: NodeAdvertisement?) { adapter?.send(.advertise(advertisement)) }
  func search(sessionID: String?) { adapter?.send(.search(sessionID: sessionID)) }
  func setRadioBusy(_ isBusy: Bool) { adapter?.send(.setRadioBusy(isBusy)) }
  func setExpecting(_ isExpecting: Bool) { adapter?.send(.setExpecting(isExpecting)) }
  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) { self.handler = handler }

  func close() {
    handler = nil
    advertise(nil)
    search(sessionID: nil)
  }
}
