import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime

/// One TCP connection as a link: a byte stream, confined to its loop.
///
/// A read that fills less than its buffer has emptied the socket: the caller need not read again to see `.wouldBlock`.
/// Nothing is missed by that, since the loop is level-triggered: what comes later makes the link ready again.
public final class TCPLink: LinkEndpoint {
  public let traits: LinkTraits
  private let lingering: LingeringCloses
  /// -1 when closed.
  private var socket: Int32
  private var watch: DescriptorWatch?
  private weak var handler: (any LinkEndpointHandler)?
  /// The far side's end has been read: nothing more comes.
  private var hasReadEnd = false

  /// Takes over a connected socket, which it closes even if this throws.
  init(
    socket: Int32, loop: EventLoop, configuration: TCPConfiguration, lingering: LingeringCloses
  ) throws(LinkFailure) {
    self.socket = socket
    self.lingering = lingering
    TCPSocket.prepare(socket, configuration)
    traits = LinkTraits(
      kind: .tcp, remoteAddress: SocketAddress.of(socket, remote: true)?.description ?? "",
      localAddress: SocketAddress.of(socket, remote: false)?.description ?? "")
    do {
      watch = try loop.watch(socket, for: [], handler: self)
    } catch {
      // `deinit` closes the socket.
      throw LinkFailure(error)
    }
  }

  deinit { close(abort: true) }

  public func read(into buffer: UnsafeMutableRawBufferPointer) -> LinkRead {
    guard socket >= 0 else { return .failed(LinkFailure(.cancelled, "the link is closed")) }
    guard let base = buffer.baseAddress, buffer.count > 0 else { return .bytes(0) }
    let count = piconet_receive(socket, base, buffer.count)
    if count > 0 { return .bytes(count) }
    if count == 0 {
      hasReadEnd = true
      return .end
    }
    let error = errno
    return error == EAGAIN ? .wouldBlock : .failed(LinkFailure(call: "recv", number: error))
  }

  public func write(_ bytes: UnsafeRawBufferPointer) -> LinkWrite {
    guard socket >= 0 else { return .failed(LinkFailure(.cancelled, "the link is closed")) }
    guard let base = bytes.baseAddress, bytes.count > 0 else { return .bytes(0) }
    let count = piconet_send(socket, base, bytes.count)
    if count >= 0 { return .bytes(count) }
    let error = errno
    return error == EAGAIN ? .wouldBlock : .failed(LinkFailure(call: "send", number: error))
  }

  public func setReadiness(read: Bool, write: Bool) {
    var interest: Readiness = []
    if read { interest.insert(.read) }
    if write { interest.insert(.write) }
    watch?.setInterest(interest)
  }

  public func setHandler(_ handler: any LinkEndpointHandler) { self.handler = handler }

  public func close(abort: Bool) {
    guard socket >= 0 else { return }
    watch?.cancel()
    watch = nil
    if abort {
      _ = piconet_set_abortive_close(socket)
      _ = Glibc.close(socket)
    } else if hasReadEnd {
      _ = Glibc.close(socket)
    } else {
      lingering.take(socket)
    }
    socket = -1
  }
}

extension TCPLink: DescriptorHandler {
  public func descriptorIsReady(_ readiness: Readiness) {
    if let handler {
      handler.linkIsReady(read: readiness.contains(.read), write: readiness.contains(.write))
    } else {
      // Nobody listens: a level-triggered loop would call again at once.
      watch?.setInterest([])
    }
  }
}
