import CPiconetSystem
import Glibc
import PiconetDNSSD
import PiconetEngine
import PiconetRuntime

/// A socket of one family on port 5353, joined to the group on interfaces in use; confined to the loop.
final class MulticastSocket: DescriptorHandler {
  struct Arrival {
    var bytes: [UInt8]
    var source: MessageSource
    var index: UInt32
    var wasMulticast: Bool
  }

  enum Joining {
    case joined
    /// It has as many memberships as the kernel lets a socket have.
    case full
    /// The interface takes no membership.
    case refused
  }

  let isIPv6: Bool
  /// Whether it has another port, since 5353 is not available. It asks questions that are answered by unicast to that
  /// port, and has no memberships (RFC 6762, sections 5.1 and 6.7).
  let isLegacy: Bool
  /// Whether no other process had the port when we opened it, so that unicast packets to it reach us.
  let isSoleOwner: Bool
  private let descriptor: Int32
  private var registration: (any DatagramLoopRegistration)?
  private let readable: () -> Void
  private var buffer = [UInt8](repeating: 0, count: MulticastDNS.largestMessage + 1)
  private var group: IPAddress { isIPv6 ? MulticastDNS.groupIPv6 : MulticastDNS.groupIPv4 }

  /// - Throws: `busy` if the port can't be shared, `notAvailable` if the system lacks the family.
  init(
    isIPv6: Bool, isLegacy: Bool = false, loop: any DatagramLoop, readable: @escaping () -> Void
  ) throws(LinkFailure) {
    self.isIPv6 = isIPv6
    self.isLegacy = isLegacy
    self.readable = readable
    (descriptor, isSoleOwner) =
      isLegacy ? (piconet_multicast_open(isIPv6 ? 1 : 0, 0), false) : Self.open(isIPv6: isIPv6)
    guard descriptor >= 0 else {
      let call = isLegacy ? "a UDP port" : "UDP port \(MulticastDNS.port)"
      throw LinkFailure(call: "\(call) over \(isIPv6 ? "IPv6" : "IPv4")", number: errno)
    }
    registration = try loop.watch(descriptor, for: self)
  }

  /// Opens a socket. It reads the kernel's list instead of trying a socket that shares nothing: while such a socket
  /// exists, however briefly, the kernel refuses the port to another process, which then has no Multicast DNS from then
  /// on.
  /// - Returns: a descriptor, or -1 with `errno`; and whether no other process had the port.
  static func open(isIPv6: Bool) -> (descriptor: Int32, isSoleOwner: Bool) {
    let isSoleOwner = BoundPorts.hasUDP(MulticastDNS.port, isIPv6: isIPv6) == false
    return (piconet_multicast_open(isIPv6 ? 1 : 0, MulticastDNS.port), isSoleOwner)
  }

  deinit {
    registration?.cancel()
    if descriptor >= 0 { close(descriptor) }
  }

  func descriptorIsReady(_ readiness: Readiness) { readable() }

  func join(_ index: UInt32) -> Joining {
    if change(index, isMember: true) { return .joined }
    // The membership of a former interface with this index, which no longer counts.
    if errno == EADDRINUSE {
      leave(index)
      if change(index, isMember: true) { return .joined }
    }
    return errno == ENOBUFS || errno == ENOMEM ? .full : .refused
  }

  /// Leaves an interface, even one that is gone, whose membership would still count.
  func leave(_ index: UInt32) { _ = change(index, isMember: false) }

  private func change(_ index: UInt32, isMember: Bool) -> Bool {
    piconet_multicast_member(descriptor, isIPv6 ? 1 : 0, group.bytes, index, isMember ? 1 : 0) == 0
  }

  /// - Returns: false if the system did not take the packet; Multicast DNS repeats important ones.
  func send(_ transmission: Transmission) -> Bool {
    var message = transmission.message
    if isLegacy {
      guard let query = Self.legacyQuery(message) else { return true }
      message = query
    }
    var (address, port) = (group, MulticastDNS.port)
    if case .unicast(let target) = transmission.destination { (address, port) = (target.address, target.port) }
    guard address.isIPv6 == isIPv6 else { return false }
    var target = piconet_datagram()
    withUnsafeMutableBytes(of: &target.address) { $0.copyBytes(from: address.bytes) }
    target.port = port
    target.index = transmission.interface.index
    return piconet_multicast_send(
      descriptor, isIPv6 ? 1 : 0, message, message.count, &target) >= 0
  }

  /// Returns the questions alone: Avahi ignores a query from another port that has known answers.
  /// - Returns: nil if the message has no questions.
  static func legacyQuery(_ message: [UInt8]) -> [UInt8]? {
    guard let whole = try? DNSMessage(decoding: message), !whole.isResponse, !whole.questions.isEmpty else {
      return nil
    }
    return DNSMessage(questions: whole.questions.map { Question(name: $0.name, type: $0.type) }).encoded()
  }

  /// Returns the next packet; nil if none is waiting.
  func receive() -> Arrival? {
    // A packet that is too long, or an ICMP error that came back, does not mean the end.
    for _ in 0..<16 {
      var from = piconet_datagram()
      let count = piconet_multicast_receive(descriptor, isIPv6 ? 1 : 0, &buffer, buffer.count, &from)
      if count < 0 {
        if errno == EAGAIN { return nil }
        continue
      }
      let length = isIPv6 ? 16 : 4
      let source = withUnsafeBytes(of: from.address) { IPAddress(bytes: $0.prefix(length)) }
      let destination = withUnsafeBytes(of: from.destination) { IPAddress(bytes: $0.prefix(length)) }
      guard let source, let destination else { continue }
      return Arrival(
        bytes: Array(buffer.prefix(count)), source: MessageSource(address: source, port: from.port), index: from.index,
        wasMulticast: destination == group)
    }
    return nil
  }
}
