import CPiconetSystem
import Glibc
import PiconetEngine

/// The calls that configure a TCP socket for a link.
package enum TCPSocket {
  /// A new socket, non-blocking and closed on exec.
  package static func make(_ family: Int32) throws(LinkFailure) -> Int32 {
    let socket = piconet_tcp_socket(family)
    if socket < 0 { throw LinkFailure(call: "socket", number: errno) }
    return socket
  }

  /// Sets the options of every link. A link is usable without any of them, so failures don't count.
  package static func prepare(_ socket: Int32, _ configuration: TCPConfiguration) {
    // Messages are already coalesced once a round: written bytes should go now.
    set(socket, piconet_level_tcp, TCP_NODELAY, 1)
    if let limit = configuration.unsentLimit { set(socket, piconet_level_tcp, TCP_NOTSENT_LOWAT, limit) }
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1)
    set(socket, piconet_level_tcp, TCP_KEEPIDLE, configuration.keepAliveIdle)
    set(socket, piconet_level_tcp, TCP_KEEPINTVL, configuration.keepAliveInterval)
    set(socket, piconet_level_tcp, TCP_KEEPCNT, configuration.keepAliveCount)
    if let timeout = configuration.userTimeout {
      let milliseconds = Int32(clamping: timeout.wholeNanoseconds / 1_000_000)
      set(socket, piconet_level_tcp, TCP_USER_TIMEOUT, milliseconds)
    }
  }

  /// Binds a socket to one interface (SO_BINDTODEVICE; without privileges since Linux 5.7).
  static func restrict(_ socket: Int32, toInterface index: UInt32) -> Bool {
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    guard if_indextoname(index, &name) != nil else { return false }
    return setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.count)) == 0
  }

  /// A listening socket. `dualStack`: an IPv6 socket that takes IPv4 too.
  package static func listen(
    on address: SocketAddress, dualStack: Bool, backlog: Int32
  ) throws(LinkFailure) -> Int32 {
    let socket = try make(address.family)
    // A restart must not have to wait for connections of the previous run; a second listener is still refused.
    set(socket, SOL_SOCKET, SO_REUSEADDR, 1)
    if address.isIPv6 { set(socket, piconet_level_ipv6, IPV6_V6ONLY, dualStack ? 0 : 1) }
    var failed = "bind \(address)"
    var result = address.withSystemAddress { bind(socket, $0, $1) }
    if result == 0 {
      failed = "listen"
      result = Glibc.listen(socket, backlog)
    }
    if result != 0 {
      let error = errno
      close(socket)
      throw LinkFailure(call: failed, number: error)
    }
    return socket
  }

  private static func set(_ socket: Int32, _ level: some BinaryInteger, _ name: Int32, _ value: Int32) {
    _ = piconet_set_option(socket, Int32(level), name, value)
  }
}
