import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime

/// A listening socket: accepts in bounded batches, and pauses, instead of spinning, when no descriptor is left.
///
/// It is bound to an address, not to an adapter: it goes on when the adapter was switched off and on again, or
/// unplugged and plugged in again.
final class BluetoothListener: DescriptorHandler {
  private let socket: BluetoothSocket
  private let configuration: BluetoothTransportConfiguration
  private let accepted: (BluetoothSocket) -> Void
  private var watch: DescriptorWatch?
  private var retry: LoopTimer?
  private var retryDelay: Duration
  private var isShortOfDescriptors = false

  /// Takes over a listening socket, which it closes even if this throws.
  /// - Parameter accepted: gets each new socket, and must close it.
  init(
    socket: BluetoothSocket, loop: EventLoop, configuration: BluetoothTransportConfiguration,
    accepted: @escaping (BluetoothSocket) -> Void
  ) throws(LinkFailure) {
    self.socket = socket
    self.configuration = configuration
    self.accepted = accepted
    retryDelay = configuration.acceptRetry
    do {
      watch = try loop.watch(socket.descriptor, for: .read, handler: self)
    } catch {
      socket.close()
      throw LinkFailure(bluetooth: error)
    }
    retry = LoopTimer(loop: loop) { [weak self] in
      self?.isShortOfDescriptors = false
      self?.updateInterest()
    }
  }

  deinit { close() }

  var end: SocketEnd? { watch == nil ? nil : socket.localEnd }

  func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    retry?.set(nil)
    socket.close()
  }

  func descriptorIsReady(_ readiness: Readiness) {
    var left = configuration.acceptBatch
    // `accepted` may close this listener.
    while left > 0, watch != nil {
      left -= 1
      var address = sockaddr_storage()
      let connection = piconet_accept(socket.descriptor, &address)
      if connection >= 0 {
        retryDelay = configuration.acceptRetry
        accepted(BluetoothSocket(kind: socket.kind, descriptor: connection))
        continue
      }
      switch errno {
      case EAGAIN: return
      // The connection failed before it was accepted: on to the next.
      case EINTR, ECONNABORTED, ECONNRESET, EPROTO, EHOSTDOWN, ETIMEDOUT, ENOTCONN: continue
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

  private func updateInterest() { watch?.setInterest(isShortOfDescriptors ? [] : .read) }
}
