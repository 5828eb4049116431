import PiconetEngine
import PiconetSDP

extension TransportAddress {
  /// Returns what an address as a person writes it can stand for: one address for each transport that may lead there.
  /// It looks up none of them.
  ///
  /// `00:11:22:33:44:55` is a Bluetooth device, which is asked where its node listens, unless a number after a slash
  /// says so. Channels of RFCOMM go from 1 to 30, PSMs of LE from 0x0080 to 0x00FF, those of L2CAP from 0x1001:
  /// `00:11:22:33:44:55/0x1005`. A random address, which only LE has, is marked as one: `C0:11:22:33:44:55(random)`.
  /// Everything else is TCP's.
  public static func candidates(_ text: String) -> [TransportAddress] {
    guard let place = BluetoothPlace(text) else { return [TransportAddress(kind: .tcp, text: text)] }
    let kinds: [TransportKind] =
      switch (place.isRandom, place.port) {
      case (true, _): [.le]
      case (_, nil): TransportKind.bluetooth
      case (_, .some(1...30)): [.rfcomm]
      case (_, .some(0x80...0xFF)): [.le]
      default: [.l2cap]
      }
    return kinds.map { TransportAddress(kind: $0, text: "\(place)") }
  }
}

extension NodeConfiguration {
  /// Returns the addresses to dial for `text`, over the transports that may be used.
  /// - Parameter kinds: the only transports for this time; nil: all of the node's.
  func addresses(of text: String, over kinds: Set<TransportKind>?) throws(PiconetError) -> [TransportAddress] {
    let candidates = TransportAddress.candidates(text)
    #if !Bluetooth
      guard candidates.contains(where: { $0.kind == .tcp }) else {
        throw PiconetError(
          .invalidArgument, blame: .us,
          detail: "\(text) is a Bluetooth address, and this build of Piconet is without Bluetooth")
      }
    #endif
    let allowed = try kinds.map { (kinds) throws(PiconetError) in try self.usable(kinds) } ?? transports
    let usable = candidates.filter { allowed.contains($0.kind) }
    guard !usable.isEmpty else {
      let ways = candidates.map { "\($0.kind)" }.joined(separator: ", ")
      let others = kinds == nil ? "the node's transports" : "the transports of this invitation"
      throw PiconetError(
        .invalidArgument, blame: .us, detail: "\(text) is reached over \(ways), which \(others) leave out")
    }
    return usable
  }

  /// Returns those of these transports that the node has, best first.
  func usable(_ kinds: Set<TransportKind>) throws(PiconetError) -> [TransportKind] {
    let usable = transports.filter { kinds.contains($0) }
    guard !usable.isEmpty else {
      let names = kinds.map(\.rawValue).sorted().joined(separator: ", ")
      throw PiconetError(
        .invalidArgument, blame: .us,
        detail: "none of the transports is one of the node's: \(names.isEmpty ? "none was named" : names)")
    }
    return usable
  }
}
