import CPiconetSystem
import Glibc
import PiconetIP
import PiconetRuntime

/// The TCP sockets of control connections. Non-blocking.
public enum ControlSocket {
  /// Listens at `place`; the system chooses where its port is 0.
  /// - Returns: the socket, which the caller closes, and its port.
  public static func listen(_ place: HostPort) throws(RelayError) -> (descriptor: Int32, port: UInt16) {
    try open(place, passive: true) { descriptor, address, length in
      _ = piconet_set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
      guard bind(descriptor, address, length) == 0, Glibc.listen(descriptor, 16) == 0 else { return nil }
      return port(of: descriptor)
    }
  }

  /// Connects to `place`, waiting for at most `milliseconds` for each of its addresses.
  /// - Returns: the socket, which the caller closes.
  static func connect(_ place: HostPort, milliseconds: Int32) throws(RelayError) -> Int32 {
    try open(place, passive: false) { descriptor, address, length in
      if Glibc.connect(descriptor, address, length) == 0 { return 0 }
      guard errno == EINPROGRESS else { return nil }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard poll(&waiting, 1, milliseconds) == 1 else {
        errno = ETIMEDOUT
        return nil
      }
      errno = piconet_socket_error(descriptor)
      return errno == 0 ? 0 : nil
    }.descriptor
  }

  /// A far machine that is gone is noticed within some fifteen seconds.
  static func prepare(_ descriptor: Int32) {
    for (level, name, value) in [
      (Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1)), (SOL_SOCKET, SO_KEEPALIVE, 1),
      (Int32(IPPROTO_TCP), TCP_KEEPIDLE, 5), (Int32(IPPROTO_TCP), TCP_KEEPINTVL, 3),
      (Int32(IPPROTO_TCP), TCP_KEEPCNT, 3),
      (Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 15_000),
    ] { _ = piconet_set_option(descriptor, level, name, value) }
  }

  private static func port(of descriptor: Int32) -> UInt16 {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard getsockname(descriptor, address, &length) == 0 else { return 0 }
        // The port stands at the same place in both families.
        return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
      }
    }
  }

  /// The first address of `place` that `use` is content with.
  private static func open(
    _ place: HostPort, passive: Bool, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> UInt16?
  ) throws(RelayError) -> (descriptor: Int32, port: UInt16) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0)
    var list: UnsafeMutablePointer<addrinfo>?
    let number = getaddrinfo(place.host, "\(place.port)", &hints, &list)
    guard number == 0 else { throw RelayError("\(place): \(String(cString: gai_strerror(number)))") }
    defer { freeaddrinfo(list) }
    var error = ENOENT
    var next = list
    while let entry = next?.pointee {
      next = entry.ai_next
      let descriptor = piconet_tcp_socket(entry.ai_family)
      if descriptor >= 0, let address = entry.ai_addr, let port = use(descriptor, address, entry.ai_addrlen) {
        return (descriptor, port)
      }
      error = errno
      if descriptor >= 0 { Glibc.close(descriptor) }
    }
    throw RelayError("\(place): \(SystemError.text(error))")
  }
}
