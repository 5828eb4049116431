import CPiconetSystem
import Glibc
import PiconetDNSSD
import PiconetEngine
import PiconetRuntime

/// The socket of one family on port 5353, joined to the group on the interfaces in use; confined to the loop.
final class MulticastSocket: DescriptorHandler {
  struct Arrival {
    var bytes: [UInt8]
    var source: MessageSource
    var index: UInt32
    var wasMulticast: Bool
  }

  let isIPv6: Bool
  /// Whether no other process had the port when we opened it, so that what is sent to it by unicast reaches us.
  let isSoleOwner: Bool
  private let descriptor: Int32
  private var registration: (any DatagramLoopRegistration)?
  private let readable: () -> Void
  private var buffer = [UInt8](repeating: 0, count: MulticastDNS.largestMessage + 1)
  private var group: IPAddress { isIPv6 ? MulticastDNS.groupIPv6 : MulticastDNS.groupIPv4 }

  /// - Throws: if the port can't be shared, or the system lacks the family.
  init(isIPv6: Bool, loop: any DatagramLoop, readable: @escaping () -> Void) throws(LinkFailure) {
    self.isIPv6 = isIPv6
    self.readable = readable
    (descriptor, isSoleOwner) = Self.open(isIPv6: isIPv6)
    guard descriptor >= 0 else {
      throw LinkFailure(
        .notAvailable, "UDP port \(MulticastDNS.port), \(isIPv6 ? "IPv6" : "IPv4"): \(SystemError.text(errno))")
    }
    registration = try loop.watch(descriptor, for: self)
  }

  /// Asks the kernel's list instead of trying a socket that shares nothing: while there is such a socket, however
  /// briefly, another process that wants the port is refused it, and has no Multicast DNS from then on.
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

  /// - Returns: false if the system refused; the interface is then of no use for this family.
  func join(_ index: UInt32) -> Bool {
    piconet_multicast_member(descriptor, isIPv6 ? 1 : 0, group.bytes, index, 1) == 0 || errno == EADDRINUSE
  }

  func leave(_ index: UInt32) { _ = piconet_multicast_member(descriptor, isIPv6 ? 1 : 0, group.bytes, index, 0) }

  /// - Returns: false if the system did not take the packet; Multicast DNS repeats what matters.
  func send(_ transmission: Transmission) -> Bool {
    var (address, port) = (group, MulticastDNS.port)
    if case .unicast(let target) = transmission.destination { (address, port) = (target.address, target.port) }
    guard address.isIPv6 == isIPv6 else { return false }
    var target = piconet_datagram()
    withUnsafeMutableBytes(of: &target.address) { $0.copyBytes(from: address.bytes) }
    target.port = port
    target.index = transmission.interface.index
    return piconet_multicast_send(
      descriptor, isIPv6 ? 1 : 0, transmission.message, transmission.message.count, &target) >= 0
  }

  /// The next packet; nil if there is none.
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
