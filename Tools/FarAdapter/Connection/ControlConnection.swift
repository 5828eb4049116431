import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime

/// The frames between a test and an agent, over one TCP connection. Confined to the loop.
final class ControlConnection<Incoming: RelayCoded, Outgoing: RelayCoded>: DescriptorHandler {
  private let loop: EventLoop
  private let descriptor: Int32
  private var watch: DescriptorWatch?
  private var decoder = RelayFrameDecoder<Incoming>()
  /// Frames that have come and were not delivered yet.
  private var inbox: [Incoming] = []
  private var output: [UInt8] = []
  private var isTelling = false
  /// Set to nil at the end, after which nothing is delivered.
  private var received: ((Incoming) -> Void)?
  private var ended: ((String) -> Void)?

  /// How much may wait for the other machine if it does not read. Links' bytes have windows of their own; this is above
  /// all of them.
  static var outputLimit: Int { 16 << 20 }

  /// Takes over a connected socket.
  /// - Parameters:
  ///   - received: called with each frame, on the loop.
  ///   - ended: called once, on the loop, with the reason why nothing comes any more; not after `close`.
  init(
    _ descriptor: Int32, loop: EventLoop, received: @escaping (Incoming) -> Void, ended: @escaping (String) -> Void
  ) throws(RelayError) {
    self.loop = loop
    self.descriptor = descriptor
    self.received = received
    self.ended = ended
    ControlSocket.prepare(descriptor)
    do {
      watch = try loop.watch(descriptor, for: .read, handler: self)
    } catch {
      Glibc.close(descriptor)
      throw RelayError("\(error)")
    }
  }

  deinit { close() }

  var isOpen: Bool { watch != nil }

  /// Sends a frame, after those before.
  func send(_ frame: Outgoing) {
    guard isOpen else { return }
    let bytes = RelayFrameDecoder<Outgoing>.bytes(of: frame)
    guard bytes.count <= RelayLimits.frame + 4 else { return fail("a frame of \(bytes.count) bytes was to be sent") }
    output += bytes
    guard output.count <= Self.outputLimit else { return fail("the far machine reads nothing") }
    // What could not go waits for the socket.
    if output.count == bytes.count { flush() }
  }

  /// Waits for the first frame for which `match` gives a value, and blocks the loop meanwhile. Other frames are
  /// delivered later.
  /// - Throws: if there is none within `duration`, or the connection has ended.
  func awaitFrame<Value>(for duration: Duration, _ match: (Incoming) throws(RelayError) -> Value?) throws(RelayError)
    -> Value
  {
    let deadline = loop.now + duration
    while true {
      for (index, frame) in inbox.enumerated() {
        guard let value = try match(frame) else { continue }
        inbox.remove(at: index)
        tellLater()
        return value
      }
      guard isOpen, reason == nil else { throw RelayError(reason ?? "the connection is closed") }
      let left = deadline - loop.now
      guard left > .zero else {
        tellLater()
        throw RelayError("no answer came in \(duration)")
      }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN | (output.isEmpty ? 0 : POLLOUT)), revents: 0)
      _ = poll(&waiting, 1, Int32(clamping: left.components.seconds * 1000 + 100))
      flush()
      readAll()
    }
  }

  /// Nothing is delivered any more.
  func close() {
    received = nil
    ended = nil
    end()
  }

  /// As `close`, but once what waits has gone to the kernel, or can't go any more.
  func closeWhenSent() {
    flush()
    guard isOpen, !output.isEmpty else { return close() }
    received = nil
    // Held until then.
    ended = { [self] _ in close() }
  }

  // MARK: The socket

  private var reason: String?

  private func end() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    Glibc.close(descriptor)
    output = []
  }

  /// Reported later, so that no caller is called back from within its own call.
  /// - Parameter canWrite: whether the other end can still be told why.
  private func fail(_ reason: String, canWrite: Bool = false) {
    guard isOpen else { return }
    // It was open only to tell the other end why.
    guard self.reason == nil else { return close() }
    self.reason = reason
    if canWrite { watch?.setInterest([]) } else { end() }
    loop.executeLater { [self] in
      tell()
      let ended = ended
      self.ended = nil
      ended?(reason)
    }
  }

  func descriptorIsReady(_ readiness: Readiness) {
    if readiness.contains(.write) { flush() }
    if readiness.contains(.read) { readAll() }
    tell()
  }

  private func flush() {
    guard isOpen else { return }
    var sent = 0
    while sent < output.count {
      let count = output.withUnsafeBytes { piconet_send(descriptor, $0.baseAddress.map { $0 + sent }, $0.count - sent) }
      if count < 0 {
        let error = errno
        if error != EAGAIN { return fail(SystemError("send", error).description) }
        break
      }
      sent += count
    }
    output.removeFirst(sent)
    var interest: Readiness = reason == nil ? .read : []
    if !output.isEmpty { interest.insert(.write) }
    watch?.setInterest(interest)
    if output.isEmpty, received == nil { close() }
  }

  private func readAll() {
    guard isOpen, reason == nil else { return }
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
      // Others have their turn after some.
      for _ in 0..<4 {
        let count = piconet_receive(descriptor, buffer.baseAddress, buffer.count)
        if count < 0, errno == EAGAIN { return }
        if count < 0 { return fail(SystemError("recv", errno).description) }
        if count == 0 { return fail("the far machine has ended the connection") }
        decoder.push(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        do {
          while let frame = try decoder.next() { inbox.append(frame) }
        } catch {
          return fail("what came is no frame: \(error)", canWrite: true)
        }
        if count < buffer.count { return }
      }
    }
  }

  private func tellLater() {
    if !inbox.isEmpty { loop.executeLater { [weak self] in self?.tell() } }
  }

  /// Delivers one after the other, even if one of them leads to another call of this function.
  private func tell() {
    guard !isTelling else { return }
    isTelling = true
    defer { isTelling = false }
    while !inbox.isEmpty, let received { received(inbox.removeFirst()) }
    if received == nil { inbox = [] }
  }
}
