import PiconetDNSSD

/// One change of the system's interfaces, as rtnetlink reports it (rtnetlink(7), linux/if_link.h, linux/if_addr.h).
enum RouteMessage: Equatable {
  case link(Link)
  case linkRemoved(index: UInt32)
  case address(index: UInt32, IPAddress, prefix: Int, isUsable: Bool)
  case addressRemoved(index: UInt32, IPAddress)
  /// The end of a dump.
  case done
  /// The dump failed.
  case error

  struct Link: Equatable {
    var index: UInt32
    var name: String
    var flags: UInt32
    /// The driver of a virtual interface, such as `bridge` or `veth`; empty for hardware and loopback.
    var kind = ""
    /// The interface that this one is a port of; 0 for none.
    var master: UInt32 = 0
    /// The kind of the master, from the port's own message, such as `bridge` or `vrf`.
    var portKind = ""
  }

  static let newLink: UInt16 = 16
  static let removeLink: UInt16 = 17
  static let newAddress: UInt16 = 20
  static let removeAddress: UInt16 = 21
  private static let errorType: UInt16 = 2
  private static let doneType: UInt16 = 3
  /// Attributes: IFLA_IFNAME, IFLA_MASTER, IFLA_LINKINFO with IFLA_INFO_KIND and IFLA_INFO_SLAVE_KIND; IFA_ADDRESS,
  /// IFA_LOCAL, IFA_FLAGS.
  private static let interfaceName: UInt16 = 3
  private static let masterAttribute: UInt16 = 10
  private static let linkInfo: UInt16 = 18
  private static let infoKind: UInt16 = 1
  private static let infoPortKind: UInt16 = 4
  private static let addressAttribute: UInt16 = 1
  private static let localAttribute: UInt16 = 2
  private static let flagsAttribute: UInt16 = 8
  /// IFA_F_TENTATIVE and IFA_F_DADFAILED: the address may not be used (yet).
  private static let unusableFlags: UInt32 = 0x40 | 0x08

  /// Reads all messages of one datagram; unknown types are skipped, and reading ends at the first that is malformed.
  static func parse(_ bytes: ArraySlice<UInt8>) -> [RouteMessage] {
    var messages: [RouteMessage] = []
    var rest = bytes
    while rest.count >= 16, let length = rest.native32(at: 0), let type = rest.native16(at: 4) {
      guard length >= 16, length <= rest.count else { break }
      let body = rest.dropFirst(16).prefix(Int(length) - 16)
      if let message = parse(type: type, body: body) { messages.append(message) }
      rest = rest.dropFirst((Int(length) + 3) & ~3)
    }
    return messages
  }

  private static func parse(type: UInt16, body: ArraySlice<UInt8>) -> RouteMessage? {
    switch type {
    case doneType: return .done
    case errorType: return .error
    case newLink, removeLink:
      // struct ifinfomsg: family, pad, type (2), index (4), flags (4), change (4).
      // Those of AF_BRIDGE are about a port: the interface that leaves a bridge is still there.
      guard body.count >= 16, body.first == 0, let index = body.native32(at: 4), let flags = body.native32(at: 8)
      else { return nil }
      if type == removeLink { return .linkRemoved(index: index) }
      let found = attributes(body.dropFirst(16))
      let info = attributes(found[linkInfo] ?? [])
      return .link(
        Link(
          index: index, name: text(found[interfaceName]), flags: flags, kind: text(info[infoKind]),
          master: found[masterAttribute]?.native32(at: 0) ?? 0, portKind: text(info[infoPortKind])))
    case newAddress, removeAddress:
      // struct ifaddrmsg: family, prefix length, flags, scope, index (4).
      guard body.count >= 8, let index = body.native32(at: 4) else { return nil }
      let start = body.startIndex
      let found = attributes(body.dropFirst(8))
      // On point-to-point links IFA_ADDRESS is the other end.
      guard let address = (found[localAttribute] ?? found[addressAttribute]).flatMap({ IPAddress(bytes: $0) }) else {
        return nil
      }
      if type == removeAddress { return .addressRemoved(index: index, address) }
      let flags = found[flagsAttribute]?.native32(at: 0) ?? UInt32(body[start + 2])
      return .address(
        index: index, address, prefix: Int(body[start + 1]), isUsable: flags & unusableFlags == 0)
    default: return nil
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>?) -> String {
    String(decoding: (bytes ?? []).prefix { $0 != 0 }, as: UTF8.self)
  }

  private static func attributes(_ bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
    var found: [UInt16: ArraySlice<UInt8>] = [:]
    var rest = bytes
    while let length = rest.native16(at: 0), let type = rest.native16(at: 2), length >= 4, length <= rest.count {
      found[type & 0x3FFF] = rest.dropFirst(4).prefix(Int(length) - 4)
      rest = rest.dropFirst((Int(length) + 3) & ~3)
    }
    return found
  }
}

extension ArraySlice<UInt8> {
  /// A number in the machine's byte order, as netlink uses it.
  fileprivate func native32(at offset: Int) -> UInt32? {
    guard count >= offset + 4 else { return nil }
    return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
  }

  fileprivate func native16(at offset: Int) -> UInt16? {
    guard count >= offset + 2 else { return nil }
    return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt16.self) }
  }
}
