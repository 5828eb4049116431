import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime

/// One TCP connection as a link: a byte stream, confined to its loop.
///
/// A read that fills less than its buffer has emptied the socket: the caller need not read again to see `.wouldBlock`.
/// Nothing is missed, since the loop is level-triggered: later bytes make the link ready again.
public final class TCPLink: LinkEndpoint {
  public let traits: LinkTraits
  private let lingering: LingeringCloses
  /// -1 when closed.
  private var socket: Int32
  private var watch: DescriptorWatch?
  /// A strong reference, until the link is closed: a weak one would make every use of a reference to the object slower.
  private var handler: (any LinkEndpointHandler)?
  /// Whether the end of the stream has been read: nothing more comes.
  private var hasReadEnd = false
  private let loop: EventLoop
  // Not checked for overlapping accesses: a value that calls nothing, used only on the loop's thread.
  @exclusivity(unchecked) private var flight: PathFlight
  /// Looks again while much is in flight: the kernel says when it can take more, not when the path can.
  private var timer: LoopTimer?

  /// Takes over a connected socket, which it closes even if this throws.
  init(
    socket: Int32, loop: EventLoop, configuration: TCPConfiguration, lingering: LingeringCloses
  ) throws(LinkFailure) {
    self.socket = socket
    self.lingering = lingering
    self.loop = loop
    flight = PathFlight(configuration.flight, toldBy: .kernel)
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
    guard count >= 0 else {
      let error = errno
      return error == EAGAIN ? .wouldBlock : .failed(LinkFailure(call: "send", number: error))
    }
    if flight.wrote(count, at: loop.now) { _ = lookAtFlight() }
    return .bytes(count)
  }

  /// The remote side's acknowledgements decide how much more may go, and they cause no wake-up.
  public var bulkPace: BulkPace? { flight.pace }

  /// - Returns: whether more bulk may go than before.
  private func lookAtFlight() -> Bool {
    var kept: Int32 = 0
    var roundTrip: UInt32 = 0
    guard socket >= 0, piconet_tcp_flight(socket, &kept, &roundTrip) == 0 else { return false }
    let hasMoreRoom = flight.acknowledged(
      inFlight: Int(kept), roundTrip: .microseconds(Int64(roundTrip)), at: loop.now)
    guard flight.isWorthALook || timer?.deadline != nil else { return hasMoreRoom }
    let timer = timer ?? LoopTimer(loop: loop) { [weak self] in self?.lookAgain() }
    self.timer = timer
    timer.set(flight.isWorthALook ? loop.now + flight.patience : nil)
    return hasMoreRoom
  }

  private func lookAgain() {
    if lookAtFlight(), socket >= 0 { handler?.linkIsReady(read: false, write: true) }
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
    timer?.set(nil)
    handler = nil
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
      // There is no handler: a level-triggered loop would call again at once.
      watch?.setInterest([])
    }
  }
}
