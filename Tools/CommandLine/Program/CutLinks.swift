import Glibc
import Piconet

/// The peers that nothing can reach at the moment: those that have no link, and those whose link leaves by an interface
/// of this machine that is down. TCP itself reports the latter only after many seconds.
enum CutLinks {
  static func peers(of session: Session) async -> Set<TransferPeer> {
    var links: [(TransferPeer, TransportKind?, String?)] = []
    for member in session.members {
      let statistics = await session.statistics(for: member)
      links.append((TransferPeer(member.proven), statistics?.transport, statistics?.localAddress))
    }
    guard !links.isEmpty else { return [] }
    return cut(links, running: runningHosts())
  }

  /// - Parameters:
  ///   - links: each peer with the transport of its link, nil if it has none, and the near end of it.
  ///   - running: the addresses of interfaces that are up and have a carrier; nil: they can't be told.
  static func cut(
    _ links: [(peer: TransferPeer, transport: TransportKind?, localAddress: String?)], running: Set<String>?
  ) -> Set<TransferPeer> {
    let cut = links.filter { link in
      guard let transport = link.transport else { return true }
      guard transport == .tcp, let running, let address = link.localAddress else { return false }
      return !running.contains(host(of: address))
    }
    return Set(cut.map(\.peer))
  }

  /// `192.168.1.7` of `192.168.1.7:4000`, `fe80::1` of `[fe80::1%eth0]:4000`.
  static func host(of address: String) -> String {
    let host = address.lastIndex(of: ":").map { address[..<$0] } ?? address[...]
    return String(host.drop { $0 == "[" }.prefix { $0 != "]" && $0 != "%" })
  }

  private static func runningHosts() -> Set<String>? {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    var hosts: Set<String> = []
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var entry = list
    while let item = entry?.pointee {
      entry = item.ifa_next
      // net/if.h: IFF_UP 1, IFF_RUNNING 0x40.
      guard item.ifa_flags & 0x41 == 0x41, let address = item.ifa_addr else { continue }
      let length: Int
      switch Int32(address.pointee.sa_family) {
      case AF_INET: length = MemoryLayout<sockaddr_in>.size
      case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
      default: continue
      }
      if getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 {
        let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        hosts.insert(String(name.prefix { $0 != "%" }))
      }
    }
    return hosts
  }
}
