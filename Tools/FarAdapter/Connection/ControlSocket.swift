import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetIP
import PiconetRuntime

/// The TCP sockets of control connections. Non-blocking.
public enum ControlSocket {
  /// Listens at `place`; the system chooses the port if it is 0.
  /// - Returns: the socket, which the caller closes, and its port.
  public static func listen(_ place: HostPort) throws(RelayError) -> (descriptor: Int32, port: UInt16) {
    let descriptor = try open(place) { address throws(LinkFailure) in
      try TCPSocket.listen(on: address, dualStack: false, backlog: 16)
    }
    return (descriptor, SocketAddress.of(descriptor, remote: false)?.port ?? place.port)
  }

  /// Connects to `place`, waiting for at most `milliseconds` for each of its addresses.
  /// - Returns: the socket, which the caller closes.
  static func connect(_ place: HostPort, milliseconds: Int32) throws(RelayError) -> Int32 {
    try open(place) { address throws(LinkFailure) in
      let descriptor = try TCPSocket.make(address.family)
      let number = connect(descriptor, to: address, milliseconds)
      guard number == 0 else {
        Glibc.close(descriptor)
        throw LinkFailure(.other, SystemError.text(number))
      }
      return descriptor
    }
  }

  /// - Returns: 0, or the error number.
  private static func connect(_ descriptor: Int32, to address: SocketAddress, _ milliseconds: Int32) -> Int32 {
    if address.withSystemAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 { return 0 }
    guard errno == EINPROGRESS else { return errno }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&waiting, 1, milliseconds) == 1 else { return ETIMEDOUT }
    return piconet_socket_error(descriptor)
  }

  /// If the other machine is gone, that is noticed within some fifteen seconds.
  static func prepare(_ descriptor: Int32) {
    var configuration = TCPConfiguration()
    configuration.unsentLimit = nil
    configuration.keepAliveIdle = 5
    configuration.keepAliveInterval = 3
    configuration.keepAliveCount = 3
    configuration.userTimeout = .seconds(15)
    TCPSocket.prepare(descriptor, configuration)
  }

  /// Opens the first address of `place` that `use` accepts.
  private static func open(
    _ place: HostPort, _ use: (SocketAddress) throws(LinkFailure) -> Int32
  ) throws(RelayError) -> Int32 {
    do throws(LinkFailure) {
      var failure = LinkFailure(.unreachable)
      for address in try NameLookup.addresses(of: place).get() {
        do throws(LinkFailure) {
          return try use(address)
        } catch let error {
          failure = error
        }
      }
      throw failure
    } catch {
      throw RelayError("\(place): \(error)")
    }
  }
}
