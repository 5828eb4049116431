import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime

/// A listening socket: accepts in bounded batches, and pauses, instead of spinning, when no descriptor is left.
package final class TCPListener: DescriptorHandler {
  package typealias Accept = (Int32, UnsafeMutablePointer<sockaddr_storage>) -> Int32

  private let socket: Int32
  private let loop: EventLoop
  private let configuration: TCPConfiguration
  private let accept: Accept
  private let accepted: (Int32) -> Void
  private var watch: DescriptorWatch?
  private var retry: LoopTimer?
  private var retryDelay: Duration
  private var isPaused = false
  private(set) var isShortOfDescriptors = false

  /// Takes over a listening socket, which it closes even if this throws.
  /// - Parameters:
  ///   - accept: accept4, or a test's replacement for it.
  ///   - accepted: gets each new socket, and must close it.
  package init(
    socket: Int32, loop: EventLoop, configuration: TCPConfiguration, accept: @escaping Accept = piconet_accept,
    accepted: @escaping (Int32) -> Void
  ) throws(LinkFailure) {
    self.socket = socket
    self.loop = loop
    self.configuration = configuration
    self.accept = accept
    self.accepted = accepted
    retryDelay = configuration.acceptRetry
    do {
      watch = try loop.watch(socket, for: .read, handler: self)
    } catch {
      Glibc.close(socket)
      throw LinkFailure(error)
    }
    retry = LoopTimer(loop: loop) { [weak self] in
      self?.isShortOfDescriptors = false
      self?.updateInterest()
    }
  }

  deinit { close() }

  var address: SocketAddress? { SocketAddress.of(socket, remote: false) }

  /// While paused, connections wait in the kernel's backlog; beyond that the kernel drops their SYNs.
  func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    updateInterest()
  }

  package func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    retry?.set(nil)
    Glibc.close(socket)
  }

  package func descriptorIsReady(_ readiness: Readiness) {
    var left = configuration.acceptBatch
    // `accepted` may pause or close this listener.
    while left > 0, watch != nil, !isPaused {
      left -= 1
      var address = sockaddr_storage()
      let connection = accept(socket, &address)
      if connection >= 0 {
        retryDelay = configuration.acceptRetry
        accepted(connection)
        continue
      }
      switch errno {
      case EAGAIN: return
      // The connection failed before it was accepted (accept(2), "Error handling"): on to the next.
      case EINTR, ECONNABORTED, EPROTO, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ENETDOWN:
        continue
      // EMFILE, ENFILE, ENOBUFS, ENOMEM, and anything else that would come back at once.
      default:
        isShortOfDescriptors = true
        retry?.set(after: retryDelay)
        retryDelay = min(retryDelay * 2, configuration.acceptRetry * 10)
        updateInterest()
        return
      }
    }
  }

  private func updateInterest() { watch?.setInterest(isPaused || isShortOfDescriptors ? [] : .read) }
}
