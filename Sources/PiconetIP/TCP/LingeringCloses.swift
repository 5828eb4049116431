import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime

/// Sockets whose orderly close is under way.
///
/// A socket that is closed while the remote side's bytes lie in it unread, or still come, sends a reset. A reset
/// discards the bytes that the remote side has not read yet, including our reason for leaving. So (RFC 9112, section
/// 9.6) we end our direction, read and discard until the remote side ends its own, and only then close. Bounded in
/// time, bytes and number; beyond the number a socket is closed at once.
final class LingeringCloses {
  /// The most bytes that are discarded from one socket.
  static let byteLimit = 16 << 20

  private let loop: EventLoop
  private let time: Duration
  private let limit: Int
  private var lingering: [ObjectIdentifier: LingeringClose] = [:]
  private var whenEmpty: (() -> Void)?
  fileprivate let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  init(loop: EventLoop, time: Duration, limit: Int) {
    self.loop = loop
    self.time = time
    self.limit = limit
  }

  deinit { buffer.deallocate() }

  var count: Int { lingering.count }

  /// Takes over a socket that is no longer watched.
  func take(_ socket: Int32) {
    guard lingering.count < limit, shutdown(socket, Int32(SHUT_WR)) == 0 else {
      close(socket)
      return
    }
    let entry = LingeringClose(socket, owner: self)
    // If it can't be watched, `entry` is released here, which closes it.
    guard let watch = try? loop.watch(socket, for: .read, handler: entry) else { return }
    entry.watch = watch
    let timer = LoopTimer(loop: loop) { [weak self, unowned entry] in self?.finish(entry) }
    entry.timer = timer
    timer.set(after: time)
    lingering[ObjectIdentifier(entry)] = entry
  }

  fileprivate func finish(_ entry: LingeringClose) {
    guard lingering.removeValue(forKey: ObjectIdentifier(entry)) != nil else { return }
    entry.end()
    if lingering.isEmpty {
      let body = whenEmpty
      whenEmpty = nil
      body?()
    }
  }

  /// Calls `body` as soon as no socket lingers, perhaps at once.
  func onceEmpty(_ body: @escaping () -> Void) {
    if lingering.isEmpty { body() } else { whenEmpty = body }
  }

  /// Closes all now.
  func closeAll() {
    for entry in Array(lingering.values) { finish(entry) }
  }
}

private final class LingeringClose: DescriptorHandler {
  private var socket: Int32
  private unowned let owner: LingeringCloses
  private var left = LingeringCloses.byteLimit
  var watch: DescriptorWatch?
  var timer: LoopTimer?

  init(_ socket: Int32, owner: LingeringCloses) {
    self.socket = socket
    self.owner = owner
  }

  func descriptorIsReady(_ readiness: Readiness) {
    let count = piconet_receive(socket, owner.buffer.baseAddress, owner.buffer.count)
    if count < 0 && errno == EAGAIN { return }
    left -= max(count, 0)
    if count <= 0 || left <= 0 { owner.finish(self) }
  }

  deinit { end() }

  func end() {
    if socket < 0 { return }
    watch?.cancel()
    timer?.set(nil)
    close(socket)
    socket = -1
  }
}
