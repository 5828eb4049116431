import PiconetDNSSD
import PiconetEngine
import PiconetWire

/// Finds peers on the links of this host by DNS-SD over Multicast DNS (RFC 6762 and 6763), service `_piconet._tcp`, for
/// one node: what it advertises, and what it searches for.
///
/// Needs no daemon, and shares the port with one. Loopback is always included, so peers on one host find each other
/// without any network, and so do those that share an endpoint. Confined to the loop that it was made on.
public final class DNSServiceDiscovery: Discovery {
  public let sourceName = "dns-sd"
  /// The label that other DNS-SD browsers show, after conflicts; nil while nothing is advertised.
  public var instanceLabel: String? {
    guard let responder else { return nil }
    let label = endpoint.answeringInterfaces.isEmpty ? endpoint.daemonLabel(of: self) : nil
    return String(decoding: label ?? responder.label, as: UTF8.self)
  }
  /// True once the names belong to this node and are announced on every interface, by this process or by the daemon
  /// that has the port there.
  public var isAnnounced: Bool {
    guard let responder else { return false }
    guard endpoint.isServedByDaemon else { return responder.isPublished }
    return endpoint.daemonLabel(of: self) != nil && (responder.isPublished || endpoint.answeringInterfaces.isEmpty)
  }

  private let endpoint: MulticastDNSEndpoint
  private var responder: Responder?
  private var advertisement: NodeAdvertisement?
  private(set) var isSearching = false
  private var sightings = SightingTable(sessionID: "")
  private var handler: ((DiscoveryReport) -> Void)?
  private var obstacleHandler: (([DiscoveryObstacle]) -> Void)?

  /// Creates a discovery on an endpoint that others may use, too. Nothing is sent before `advertise` or `search`.
  public init(sharing endpoint: MulticastDNSEndpoint) {
    self.endpoint = endpoint
    endpoint.add(self)
  }

  /// Creates a discovery with its own endpoint.
  public convenience init(loop: any DatagramLoop, options: MulticastDNSEndpoint.Options) {
    self.init(sharing: MulticastDNSEndpoint(loop: loop, options: options))
  }

  deinit { endpoint.remove(ObjectIdentifier(self)) }

  public func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) { self.handler = handler }

  /// Sets the handler for obstacles to the endpoint: called at once, and after each change.
  public func setObstacleHandler(_ handler: @escaping ([DiscoveryObstacle]) -> Void) {
    obstacleHandler = handler
    handler(endpoint.obstacles)
  }

  /// Returns why an advertisement can't be published as it is; nil if it can. Call it before `advertise`, which can't
  /// report it.
  public static func failure(of advertisement: NodeAdvertisement) -> LinkFailure? {
    if advertisement.ports[.tcp] ?? 0 == 0 { return LinkFailure(.notAvailable, "TCP does not listen, or on port 0") }
    do throws(PeerText.Failure) {
      _ = try peerText(of: advertisement).strings()
      return nil
    } catch {
      return LinkFailure(.notAvailable, "the TXT record can't hold it: \(error)")
    }
  }

  /// Advertises. Info that breaks the limits is left out. Without a TCP port, or with a session id that is too long,
  /// nothing is advertised: see `failure(of:)`.
  public func advertise(_ advertisement: NodeAdvertisement?) {
    guard advertisement != self.advertisement else { return }
    defer { endpoint.updateErrand() }
    let old = self.advertisement
    self.advertisement = advertisement
    guard let advertisement, let port = advertisement.ports[.tcp], let text = Self.text(of: advertisement) else {
      stopAdvertising()
      return
    }
    if let old, old.peer == advertisement.peer, old.incarnation == advertisement.incarnation,
      old.name == advertisement.name, let output = responder?.update(port: port, text: text, at: endpoint.now)
    {
      endpoint.send(output)
    } else {
      stopAdvertising()
      let incarnation = advertisement.incarnation.description
      responder = Responder(
        ServiceRegistration(
          label: endpoint.freeLabel(
            InstanceLabel.make(
              name: advertisement.name.isEmpty ? "Piconet" : advertisement.name,
              identifier: advertisement.peer.description)),
          // The incarnation distinguishes two nodes of one device.
          host: Array("piconet-\(advertisement.peer.shortDescription)-\(incarnation.prefix(8))".utf8),
          port: port, text: text), random: endpoint.nextRandom())
      for (id, traits) in endpoint.answeringInterfaces { interfaceAppeared(id, traits) }
    }
    report(sightings.setOwn(peer: advertisement.peer, incarnation: advertisement.incarnation))
    endpoint.setTimer()
  }

  /// Starting again, or for another session id, reports everything again; stopping reports nothing.
  public func search(sessionID: String?) {
    sightings = SightingTable(sessionID: sessionID ?? "")
    if let advertisement {
      _ = sightings.setOwn(peer: advertisement.peer, incarnation: advertisement.incarnation)
    }
    isSearching = sessionID != nil
    endpoint.searchChanged(of: self)
  }

  public func close() {
    handler = nil
    obstacleHandler = nil
    stopAdvertising()
    advertisement = nil
    isSearching = false
    endpoint.remove(ObjectIdentifier(self))
  }

  private func stopAdvertising() {
    endpoint.send(responder?.stop() ?? [])
    responder = nil
  }

  private func report(_ reports: [DiscoveryReport]) {
    for report in reports { handler?(report) }
  }

  // MARK: Called by the endpoint

  func obstaclesChanged(_ obstacles: [DiscoveryObstacle]) { obstacleHandler?(obstacles) }

  var label: [UInt8]? { responder?.label }

  /// The service that a daemon is to publish where it has the port.
  var registration: ServiceRegistration? { responder?.registration }

  var nextDeadline: Duration? { responder?.nextDeadline }

  func interfaceAppeared(_ id: InterfaceID, _ traits: InterfaceTraits) {
    endpoint.send(responder?.interfaceAppeared(id, traits, at: endpoint.now) ?? [])
  }

  func interfaceDisappeared(_ id: InterfaceID) { responder?.interfaceDisappeared(id, at: endpoint.now) }

  func received(_ message: DNSMessage, from source: MessageSource, on id: InterfaceID) {
    endpoint.send(responder?.received(message, from: source, on: id, at: endpoint.now) ?? [])
  }

  func deadlineReached() { endpoint.send(responder?.deadlineReached(at: endpoint.now) ?? []) }

  /// Takes a change of the browser; it is decided here whether it belongs to our session.
  func browsed(_ change: BrowserReport, _ interfaces: InterfaceTable) {
    guard isSearching else { return }
    report(sightings.apply(change, interfaces))
  }

  /// Notes that the addresses of this host have changed.
  func interfacesChanged(_ interfaces: InterfaceTable) {
    if isSearching { report(sightings.interfacesChanged(interfaces)) }
  }

  private static func peerText(of advertisement: NodeAdvertisement) -> PeerText {
    PeerText(
      peer: advertisement.peer.bytes, incarnation: advertisement.incarnation.rawValue, name: advertisement.name,
      session: advertisement.sessionID, info: advertisement.info)
  }

  /// Returns the TXT record; without the info if that breaks the limits, nil if the session id does.
  private static func text(of advertisement: NodeAdvertisement) -> [[UInt8]]? {
    var text = peerText(of: advertisement)
    if PeerText.failure(of: text.info) != nil { text.info = [:] }
    return try? text.strings()
  }
}
