import PiconetDNSSD
import PiconetEngine
import PiconetWire

/// Finds peers on the links of this host by DNS-SD over Multicast DNS (RFC 6762 and 6763), service `_piconet._tcp`.
///
/// Needs no daemon, and shares the port with one. Loopback is always included, so peers on one host find each other
/// with no network at all. Confined to the loop that it was made on.
public final class DNSServiceDiscovery: Discovery {
  public struct Options: Sendable {
    /// Names of the interfaces to use, such as `lo`; nil uses all that carry multicast.
    public var interfaces: Set<String>?
    /// Of the random delays that RFC 6762 asks for; any value.
    public var seed: UInt64

    public init(interfaces: Set<String>? = nil, seed: UInt64) {
      self.interfaces = interfaces
      self.seed = seed
    }
  }

  /// What went over the sockets.
  public struct Statistics: Sendable, Hashable {
    public var packetsSent = 0
    public var packetsReceived = 0
    public var sendFailures = 0
    /// Not from the link, or no DNS message.
    public var packetsRefused = 0
  }

  public let sourceName = "dns-sd"
  public private(set) var statistics = Statistics()
  /// The names of the interfaces in use.
  public var interfaceNames: Set<String> { Set(interfaces.keys.compactMap { monitor?.table.name(of: $0.index) }) }
  /// The label under which we are visible to other DNS-SD browsers, after conflicts; nil while we advertise nothing.
  public var instanceLabel: String? { responder.map { String(decoding: $0.label, as: UTF8.self) } }
  /// True once the names are ours and announced on every interface.
  public var isAnnounced: Bool { responder?.isPublished ?? false }

  private let loop: any DatagramLoop
  private let options: Options
  private var monitor: InterfaceMonitor?
  private var sockets: [MulticastSocket] = []
  private var interfaces: [InterfaceID: InterfaceTraits] = [:]
  private var responder: Responder?
  private var advertisement: Advertisement?
  private var browser: Browser?
  private var sightings = SightingTable(scope: "")
  private var handler: ((DiscoveryReport) -> Void)?
  private var timer: (due: Duration, registration: any DatagramLoopRegistration)?
  private var seed: UInt64
  /// Packets read in one turn of the loop; the rest waits for the next.
  private static let packetsPerTurn = 64

  /// Opens the sockets; nothing is sent before `advertise` or `search`.
  /// - Throws: neither family has a socket for us, or the system's interfaces can't be watched.
  public init(loop: any DatagramLoop, options: Options) throws(LinkFailure) {
    self.loop = loop
    self.options = options
    seed = options.seed
    var failures: [String] = []
    for isIPv6 in [false, true] {
      do throws(LinkFailure) {
        sockets.append(
          try MulticastSocket(isIPv6: isIPv6, loop: loop) { [weak self] in self?.receive(isIPv6: isIPv6) })
      } catch {
        failures.append(error.description)
      }
    }
    if sockets.isEmpty { throw LinkFailure(.notAvailable, failures.joined(separator: "; ")) }
    monitor = try InterfaceMonitor(loop: loop) { [weak self] in self?.interfacesChanged() }
    interfacesChanged()
  }

  public func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) { self.handler = handler }

  /// Why an advertisement can't be published as it is; nil if it can. The caller asks first: `advertise` has nobody to
  /// tell.
  public static func failure(of advertisement: Advertisement) -> LinkFailure? {
    if advertisement.ports[.tcp] ?? 0 == 0 { return LinkFailure(.notAvailable, "TCP does not listen, or on port 0") }
    do throws(PeerText.Failure) {
      _ = try peerText(of: advertisement).strings()
      return nil
    } catch {
      return LinkFailure(.notAvailable, "the TXT record can't hold it: \(error)")
    }
  }

  /// Info that breaks the limits is left out; no TCP port or a scope that is too long is not advertised at all: see
  /// `failure(of:)`.
  public func advertise(_ advertisement: Advertisement?) {
    guard advertisement != self.advertisement else { return }
    let old = self.advertisement
    self.advertisement = advertisement
    guard let advertisement, let port = advertisement.ports[.tcp], let text = Self.text(of: advertisement) else {
      stopAdvertising()
      return
    }
    if let old, old.peer == advertisement.peer, old.incarnation == advertisement.incarnation,
      old.name == advertisement.name, let output = responder?.update(port: port, text: text, at: now)
    {
      send(output)
    } else {
      stopAdvertising()
      let incarnation = advertisement.incarnation.description
      responder = Responder(
        ServiceRegistration(
          label: InstanceLabel.make(
            name: advertisement.name.isEmpty ? "Piconet" : advertisement.name,
            identifier: advertisement.peer.description),
          // The incarnation keeps two nodes of one device apart.
          host: Array("piconet-\(advertisement.peer.shortDescription)-\(incarnation.prefix(8))".utf8),
          port: port, text: text), seed: nextSeed())
      for (id, traits) in interfaces.sorted(by: { $0.key < $1.key }) {
        send(responder?.interfaceAppeared(id, traits, at: now) ?? [])
      }
    }
    report(sightings.setOwn(peer: advertisement.peer, incarnation: advertisement.incarnation))
    setTimer()
  }

  /// Starting again, or for another scope, reports everything anew; stopping reports nothing.
  public func search(scope: String?) {
    browser = nil
    sightings = SightingTable(scope: scope ?? "")
    if let advertisement {
      _ = sightings.setOwn(peer: advertisement.peer, incarnation: advertisement.incarnation)
    }
    if scope != nil {
      browser = Browser(seed: nextSeed())
      for (id, traits) in interfaces.sorted(by: { $0.key < $1.key }) {
        perform(browser?.interfaceAppeared(id, traits, at: now))
      }
    }
    setTimer()
  }

  public func close() {
    handler = nil
    stopAdvertising()
    advertisement = nil
    browser = nil
    timer?.registration.cancel()
    timer = nil
    sockets = []
    monitor = nil
    interfaces = [:]
  }

  // MARK: facts

  private func interfacesChanged() {
    guard let monitor else { return }
    var usable = monitor.table.usable(names: options.interfaces) { isIPv6 in
      sockets.contains { $0.isIPv6 == isIPv6 && $0.isSoleOwner }
    }
    for id in usable.keys.sorted() where interfaces[id] == nil {
      if !sockets.contains(where: { $0.isIPv6 == id.isIPv6 && $0.join(id.index) }) { usable[id] = nil }
    }
    for id in interfaces.keys.sorted() where usable[id] == nil {
      for socket in sockets where socket.isIPv6 == id.isIPv6 { socket.leave(id.index) }
      interfaces[id] = nil
      responder?.interfaceDisappeared(id, at: now)
      perform(browser?.interfaceDisappeared(id, at: now))
    }
    for (id, traits) in usable.sorted(by: { $0.key < $1.key }) where interfaces[id] != traits {
      interfaces[id] = traits
      send(responder?.interfaceAppeared(id, traits, at: now) ?? [])
      perform(browser?.interfaceAppeared(id, traits, at: now))
    }
    setTimer()
  }

  private func receive(isIPv6: Bool) {
    for _ in 0..<Self.packetsPerTurn {
      // Looked up each time: a handler may have closed us.
      guard let socket = sockets.first(where: { $0.isIPv6 == isIPv6 }), let arrival = socket.receive() else { break }
      statistics.packetsReceived += 1
      let id = InterfaceID(index: arrival.index, isIPv6: isIPv6)
      guard interfaces[id] != nil else { continue }
      guard arrival.wasMulticast || monitor?.table.isOnLink(arrival.source.address, index: arrival.index) ?? false,
        let message = try? Message(decoding: arrival.bytes)
      else {
        statistics.packetsRefused += 1
        continue
      }
      send(responder?.received(message, from: arrival.source, on: id, at: now) ?? [])
      perform(browser?.received(message, from: arrival.source, on: id, at: now))
    }
    setTimer()
  }

  private func deadlineReached() {
    timer = nil
    send(responder?.deadlineReached(at: now) ?? [])
    perform(browser?.deadlineReached(at: now))
    setTimer()
  }

  // MARK: effects

  private func perform(_ output: BrowserOutput?) {
    guard let output else { return }
    send(output.transmissions)
    for change in output.reports {
      report(
        sightings.apply(change) { [monitor] in
          monitor?.table.name(of: $0)
        } isLoopback: { [monitor] in
          monitor?.table.interfaces[$0]?.isLoopback ?? false
        })
    }
  }

  private func report(_ reports: [DiscoveryReport]) {
    for report in reports { handler?(report) }
  }

  private func send(_ transmissions: [Transmission]) {
    for transmission in transmissions {
      guard let socket = sockets.first(where: { $0.isIPv6 == transmission.interface.isIPv6 }) else { continue }
      if socket.send(transmission) { statistics.packetsSent += 1 } else { statistics.sendFailures += 1 }
    }
  }

  private func stopAdvertising() {
    send(responder?.stop() ?? [])
    responder = nil
  }

  private func setTimer() {
    let due = [responder?.nextDeadline, browser?.nextDeadline].compactMap { $0 }.min()
    if due == timer?.due { return }
    timer?.registration.cancel()
    timer = due.map { due in
      let deadline = Instant(nanoseconds: UInt64(clamping: max(0, due.wholeNanoseconds)))
      return (due, loop.setTimer(at: deadline) { [weak self] in self?.deadlineReached() })
    }
  }

  /// The machines' clock: the loop's, since its origin.
  private var now: Duration { .nanoseconds(Int64(clamping: loop.now.nanoseconds)) }

  private func nextSeed() -> UInt64 {
    seed &+= 0x9E37_79B9_7F4A_7C15
    return seed
  }

  private static func peerText(of advertisement: Advertisement) -> PeerText {
    PeerText(
      peer: advertisement.peer.bytes, incarnation: advertisement.incarnation.rawValue, name: advertisement.name,
      session: advertisement.scope, info: advertisement.info)
  }

  /// The TXT record; without the info if that breaks the limits, nil if the scope does.
  private static func text(of advertisement: Advertisement) -> [[UInt8]]? {
    var text = peerText(of: advertisement)
    if PeerText.failure(of: text.info) != nil { text.info = [:] }
    return try? text.strings()
  }
}
