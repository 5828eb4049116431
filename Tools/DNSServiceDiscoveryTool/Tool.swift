import Glibc
import PiconetEngine
import PiconetIP
import PiconetRuntime
import PiconetWire

#if Bluetooth
  import PiconetAvahi
#endif

/// One discovery with a loop of its own.
final class Tool: @unchecked Sendable {
  // Sendable is right: what is no constant is made, used and closed on the loop.
  private let loop: EventLoop
  private let beginning: Instant
  private var endpoint: MulticastDNSEndpoint?
  private var discovery: DNSServiceDiscovery?
  private var advertisement: NodeAdvertisement?
  private let digit: UInt8?
  private var isAnnounced = false
  private var timer: LoopTimer?

  init(loop: EventLoop, digit: UInt8?) {
    self.loop = loop
    self.digit = digit
    beginning = loop.now
  }

  /// On the loop.
  func start(_ errand: Errand, interfaces: Set<String>?) {
    let options = MulticastDNSEndpoint.Options(interfaces: interfaces, seed: .random(in: .min ... .max))
    #if Bluetooth
      let endpoint = MulticastDNSEndpoint(loop: loop, options: options, daemon: AvahiDaemon(loop: loop))
    #else
      let endpoint = MulticastDNSEndpoint(loop: loop, options: options)
    #endif
    self.endpoint = endpoint
    let discovery = DNSServiceDiscovery(sharing: endpoint)
    self.discovery = discovery
    discovery.setObstacleHandler { obstacles in
      if !obstacles.isEmpty { Self.print("obstacles \(obstacles.map(\.description).joined(separator: "; "))") }
    }
    switch errand {
    case .advertise(let name, let port, let session, let info): advertise(name, port, session, info)
    case .browse(let session, _): browse(session)
    }
  }

  func close() {
    timer?.set(nil)
    discovery?.close()
    guard let counts = endpoint?.statistics else { return }
    Self.print(
      "statistics sent=\(counts.packetsSent) received=\(counts.packetsReceived) refused=\(counts.packetsRefused)"
        + " failed=\(counts.sendFailures)")
  }

  func changeInfo() {
    advertisement?.info["changed"] = "yes"
    discovery?.advertise(advertisement)
  }

  private func advertise(_ name: String, _ port: UInt16, _ session: String, _ info: [String: String]) {
    let bytes = (0..<PeerID.byteCount).map { _ in digit.map { ($0 & 15) * 17 } ?? UInt8.random(in: 0...255) }
    guard let peer = PeerID(bytes: bytes) else { return }
    advertisement = NodeAdvertisement(
      peer: peer, incarnation: Incarnation(rawValue: .random(in: .min ... .max)), name: name, info: info,
      sessionID: session, ports: [.tcp: port])
    discovery?.advertise(advertisement)
    timer = LoopTimer(loop: loop) { [weak self] in self?.look() }
    look()
  }

  /// The library tells no program that its names are announced.
  private func look() {
    timer?.set(after: .milliseconds(20))
    guard let endpoint, let discovery, let advertisement, discovery.isAnnounced != isAnnounced else { return }
    isAnnounced = discovery.isAnnounced
    Self.print(
      "\(isAnnounced ? "announced" : "probing") +\(elapsed) \(advertisement.peer)"
        + " on \(endpoint.interfaceNames.sorted()): \(discovery.instanceLabel ?? "")")
  }

  private func browse(_ session: String) {
    discovery?.setHandler { [unowned self] report in
      switch report {
      case .seen(let sighting):
        let addresses = sighting.addresses.map(\.text).joined(separator: ",")
        let info = sighting.info.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        Self.print("seen +\(elapsed) \(sighting.peer) \(sighting.incarnation) \(addresses) \(sighting.name)\(info)")
      case .gone(let peer, let incarnation): Self.print("gone +\(elapsed) \(peer) \(incarnation)")
      }
    }
    discovery?.search(sessionID: session)
  }

  private var elapsed: String {
    let tenths = (loop.now - beginning).wholeNanoseconds / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static func print(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(1, bytes, bytes.count)
  }
}
