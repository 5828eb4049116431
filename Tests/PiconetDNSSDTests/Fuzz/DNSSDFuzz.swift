import PiconetDNSSD
import PiconetEngine

/// Gives packets from a network, as many as the bytes hold, to a browser and a responder.
enum DNSSDFuzz {
  private static let id = InterfaceID(index: 2, isIPv6: false)

  /// - Returns: what was not as it should be, or nil.
  static func run(_ bytes: some Collection<UInt8>) -> String? {
    var browser = Browser(random: SeededRandom(seed: 2))
    let text = Array("v=1".utf8)
    guard
      var responder = Responder(
        ServiceRegistration(label: [0x41], host: [0x68], port: 4000, text: [text]), random: SeededRandom(seed: 3))
    else { return "no responder" }
    let traits = InterfaceTraits(isLoopback: false, receivesUnicast: true, addresses: [.v4(0x0A00_0001)])
    var now = Duration.zero
    _ = browser.interfaceAppeared(id, traits, at: now)
    _ = responder.interfaceAppeared(id, traits, at: now)
    var rest = Array(bytes)[...]
    // Four bytes before each packet: where it comes from, how much later, and its length.
    while rest.count >= 4 {
      let head = Array(rest.prefix(4))
      let count = Int(head[2]) << 8 | Int(head[3])
      let packet = Array(rest.dropFirst(4).prefix(count))
      rest = rest.dropFirst(4 + packet.count)
      now += .milliseconds(1 << Int(head[1] % 16))
      let port: UInt16 = head[0] & 0x80 == 0 ? 5353 : 40_000
      let source = MessageSource(address: .v4(0x0A00_0002 + UInt32(head[0] & 0x0F)), port: port)
      var sent: [[UInt8]] = []
      if let message = try? DNSMessage(decoding: packet) {
        if let wrong = roundTrip(message) { return wrong }
        sent += browser.received(message, from: source, on: id, at: now).transmissions.map(\.message)
        sent += responder.received(message, from: source, on: id, at: now).map(\.message)
      }
      sent += browser.deadlineReached(at: now).transmissions.map(\.message)
      sent += responder.deadlineReached(at: now).map(\.message)
      if sent.contains(where: { $0.count > MulticastDNS.largestMessage }) { return "a message too long" }
      if sent.contains(where: { (try? DNSMessage(decoding: $0)) == nil }) { return "a message that nobody can read" }
      if sent.count > 64 { return "\(sent.count) messages after one" }
      if browser.instances.count > MulticastDNS.instancesPerInterface { return "too many instances" }
      for instance in browser.instances { _ = PeerText(strings: instance.text) }
      if let next = browser.nextDeadline, next <= now { return "the browser's deadline stays due" }
      if let next = responder.nextDeadline, next <= now { return "the responder's deadline stays due" }
    }
    return nil
  }

  /// What is written can be read, and is the same again.
  private static func roundTrip(_ message: DNSMessage) -> String? {
    guard let bytes = message.encoded() else { return nil }
    guard let again = try? DNSMessage(decoding: bytes) else { return "\(message) can't be read again" }
    guard let once = again.encoded(), once == bytes else { return "\(message) is written in two ways" }
    return nil
  }
}
