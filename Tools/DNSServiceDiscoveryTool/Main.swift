import Glibc
import PiconetEngine
import PiconetIP
import PiconetWire

/// Publishes or looks for peers by DNS-SD, by hand or from a test; one line of output per event.
@main struct Main {
  static let usage = """
    usage: dnssd-tool [-i INTERFACE]... advertise NAME PORT SESSION [KEY=VALUE]...
           dnssd-tool [-i INTERFACE]... browse SESSION SECONDS
    advertise runs until SIGINT or SIGTERM, and then says goodbye.
    """

  static func main() {
    var arguments = Array(CommandLine.arguments.dropFirst())
    var interfaces: Set<String>?
    while arguments.count >= 2, arguments[0] == "-i" {
      interfaces = (interfaces ?? []).union([arguments[1]])
      arguments.removeFirst(2)
    }
    // The signals are blocked and polled between turns: no handler, no global state.
    var stops = sigset_t()
    sigemptyset(&stops)
    sigaddset(&stops, SIGINT)
    sigaddset(&stops, SIGTERM)
    sigprocmask(SIG_BLOCK, &stops, nil)
    let loop = PollLoop()
    let endpoint = MulticastDNSEndpoint(
      loop: loop, options: .init(interfaces: interfaces, seed: .random(in: .min ... .max)))
    let discovery = DNSServiceDiscovery(sharing: endpoint)
    discovery.setObstacleHandler { obstacles in
      if !obstacles.isEmpty { print("obstacles \(obstacles.map(\.description).joined(separator: "; "))") }
    }
    if arguments.count >= 4, arguments[0] == "advertise", let port = UInt16(arguments[2]) {
      advertise(arguments, port: port, discovery: discovery, endpoint: endpoint, loop: loop)
    } else if arguments.count == 3, arguments[0] == "browse", let seconds = Int64(arguments[2]) {
      browse(sessionID: arguments[1], seconds: seconds, discovery: discovery, loop: loop)
    } else {
      print(usage, to: 2)
      exit(2)
    }
    discovery.close()
    let counts = endpoint.statistics
    print(
      "statistics sent=\(counts.packetsSent) received=\(counts.packetsReceived) refused=\(counts.packetsRefused)"
        + " failed=\(counts.sendFailures)")
  }

  private static func advertise(
    _ arguments: [String], port: UInt16, discovery: DNSServiceDiscovery, endpoint: MulticastDNSEndpoint,
    loop: PollLoop
  ) {
    var info: [String: String] = [:]
    for pair in arguments.dropFirst(4) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      info[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
    }
    guard let peer = PeerID(bytes: (0..<PeerID.byteCount).map { _ in UInt8.random(in: 0...255) }) else { return }
    let start = loop.now
    discovery.advertise(
      NodeAdvertisement(
        peer: peer, incarnation: Incarnation(rawValue: .random(in: .min ... .max)), name: arguments[1], info: info,
        sessionID: arguments[3], ports: [.tcp: port]))
    var isAnnounced = false
    while !isStopped {
      loop.turn()
      if discovery.isAnnounced != isAnnounced {
        isAnnounced = discovery.isAnnounced
        let word = isAnnounced ? "announced" : "probing"
        print(
          "\(word) +\(milliseconds(loop.now - start)) \(peer) on \(endpoint.interfaceNames.sorted()):"
            + " \(discovery.instanceLabel ?? "")")
      }
    }
  }

  private static func browse(sessionID: String, seconds: Int64, discovery: DNSServiceDiscovery, loop: PollLoop) {
    let start = loop.now
    discovery.setHandler { report in
      let time = milliseconds(loop.now - start)
      switch report {
      case .seen(let sighting):
        let addresses = sighting.addresses.map(\.text).joined(separator: ",")
        let info = sighting.info.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        print("seen +\(time) \(sighting.peer) \(sighting.incarnation) \(addresses) \(sighting.name)\(info)")
      case .gone(let peer, let incarnation): print("gone +\(time) \(peer) \(incarnation)")
      }
    }
    discovery.search(sessionID: sessionID)
    while !isStopped, loop.now - start < .seconds(seconds) { loop.turn() }
  }

  /// SIGINT or SIGTERM has come.
  private static var isStopped: Bool {
    var pending = sigset_t()
    sigpending(&pending)
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1
  }

  private static func milliseconds(_ duration: Duration) -> String {
    let tenths = duration.wholeNanoseconds / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static func print(_ line: String, to descriptor: Int32 = 1) {
    let bytes = Array((line + "\n").utf8)
    _ = write(descriptor, bytes, bytes.count)
  }
}
