import Glibc
import PiconetEngine

/// Asks the system for the addresses of a host name. Blocks for as long as resolv.conf allows: call it on a worker
/// thread.
package enum NameLookup {
  typealias Function = @Sendable (HostPort) -> Result<[SocketAddress], LinkFailure>

  /// The most addresses that are kept from one answer.
  static let limit = 16

  /// Returns the addresses in the order of preference of RFC 6724, which is getaddrinfo's.
  @Sendable package static func addresses(of name: HostPort) -> Result<[SocketAddress], LinkFailure> {
    let first = look(up: name, flags: AI_ADDRCONFIG)
    // On a host that has only loopback addresses, AI_ADDRCONFIG hides even the entries of /etc/hosts.
    if case .failure = first, case .success(let addresses) = look(up: name, flags: 0) { return .success(addresses) }
    return first
  }

  private static func look(up name: HostPort, flags: Int32) -> Result<[SocketAddress], LinkFailure> {
    var hints = addrinfo()
    hints.ai_flags = flags
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(name.host, nil, &hints, &list)
    defer { if let list { freeaddrinfo(list) } }
    guard status == 0 else {
      let words = status == EAI_SYSTEM ? String(cString: strerror(errno)) : String(cString: gai_strerror(status))
      return .failure(LinkFailure(.unreachable, words))
    }
    var found: [SocketAddress] = []
    var next = list
    while let entry = next, found.count < limit {
      if let address = entry.pointee.ai_addr.flatMap({ SocketAddress($0) }) {
        let withPort = SocketAddress(address.host, port: name.port)
        if !found.contains(withPort) { found.append(withPort) }
      }
      next = entry.pointee.ai_next
    }
    return found.isEmpty ? .failure(LinkFailure(.unreachable, "the name has no address")) : .success(found)
  }
}
