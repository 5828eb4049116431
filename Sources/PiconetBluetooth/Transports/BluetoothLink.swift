import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// One connection over L2CAP, RFCOMM or an LE channel as a link, confined to its loop.
///
/// To the caller it is a pipe of bytes: a write is cut into SDUs, and a read returns the SDUs that have arrived, whole
/// or in parts. A read that fills less than its buffer has emptied the socket, or leaves it readable; the loop is
/// level-triggered.
public final class BluetoothLink: LinkEndpoint {
  public let traits: LinkTraits
  private let loop: EventLoop
  /// Takes the socket in an orderly close.
  var closes: DrainingCloses
  private let mode: SocketSettings.Mode?
  private let incomingMTU: Int
  private let outgoingMTU: Int
  /// Nil when closed.
  private var socket: BluetoothSocket?
  private var watch: DescriptorWatch?
  private weak var handler: (any LinkEndpointHandler)?
  private var bound: UnsentBound
  private var isStalled = false
  /// The part of an SDU that did not fit into the caller's buffer.
  private var rest: ArraySlice<UInt8> = []
  /// How the link has ended; reported once everything before it has been read.
  private var ending: LinkRead?

  /// The most empty SDUs in a row before others have their turn.
  private static let emptyLimit = 64

  /// Takes over a connected socket, which it closes even if this throws.
  init(
    socket: BluetoothSocket, loop: EventLoop, configuration: BluetoothTransportConfiguration, closes: DrainingCloses
  ) throws(LinkFailure) {
    self.socket = socket
    self.loop = loop
    self.closes = closes
    // Not inherited from the listener.
    socket.setReceiveBuffer(configuration.socket.receiveBuffer)
    let mtu = socket.mtu
    mode = socket.mode
    incomingMTU = max(mtu?.incoming ?? 0, 1)
    outgoingMTU = socket.kind == .rfcomm ? .max : PacketArithmetic.largestWrite(mtu: mtu?.outgoing ?? 0)
    traits = LinkTraits(
      kind: socket.kind.transport, remoteAddress: socket.remoteEnd?.place.description ?? "",
      localAddress: socket.localEnd?.place.description ?? "", isPacket: socket.kind.isPacket,
      largestWrite: outgoingMTU, transmitWindow: configuration.transmitWindow, unreadLimit: socket.unreadLimit)
    bound = UnsentBound(configuration.unsent)
    socket.setSendBuffer(bound.limit)
    do {
      watch = try loop.watch(socket.descriptor, for: [], handler: self)
    } catch {
      // `deinit` closes the socket.
      throw LinkFailure(bluetooth: error)
    }
  }

  deinit { close(abort: true) }

  // MARK: In

  public func read(into buffer: UnsafeMutableRawBufferPointer) -> LinkRead {
    guard let socket else { return .failed(LinkFailure(.cancelled, "the link is closed")) }
    guard buffer.count > 0 else { return .bytes(0) }
    if !rest.isEmpty { return .bytes(takeRest(into: buffer)) }
    var filled = 0
    var emptyLeft = Self.emptyLimit
    while filled < buffer.count, emptyLeft > 0 {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      // If an SDU did not fit, its end would be lost.
      if socket.kind.isPacket, room.count < incomingMTU {
        if filled > 0 { break }
        return readThroughRest(socket, into: buffer)
      }
      let count = piconet_receive(socket.descriptor, room.baseAddress, room.count)
      if count > 0 {
        filled += count
        if !socket.kind.isPacket, count < room.count { break }
      } else if !goesOn(socket, count: count, error: errno) {
        break
      } else {
        emptyLeft -= 1
      }
    }
    return filled > 0 ? .bytes(filled) : ending ?? .wouldBlock
  }

  /// Returns whether to read on after recv(2) returned nothing. It reports an end or an error before data that came
  /// earlier, and nothing at all for an empty SDU. (If the remote side has closed a channel, Linux reports the pending
  /// error as an end, even though SDUs wait in the queue.)
  private func goesOn(_ socket: BluetoothSocket, count: Int, error: Int32) -> Bool {
    if count < 0, error == EAGAIN { return false }
    if count == 0 {
      if !socket.hasEnded { return true }
      if ending == nil { ending = .end }
    } else if ending == nil {
      ending = end(by: "recv", error, socket.kind)
    }
    return (socket.memory?.unread ?? 0) > 0
  }

  /// RFCOMM gives ECONNRESET when the remote side has closed in good order.
  private func end(by call: String, _ error: Int32, _ kind: SocketKind) -> LinkRead {
    kind == .rfcomm && error == ECONNRESET ? .end : .failed(LinkFailure(bluetooth: call, number: error))
  }

  /// Puts bytes that were read back for the next read.
  func putBack(_ bytes: [UInt8]) {
    if !bytes.isEmpty { rest = (bytes + rest)[...] }
  }

  private func takeRest(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(rest.count, buffer.count)
    rest.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
    rest = rest.dropFirst(count)
    return count
  }

  private func readThroughRest(_ socket: BluetoothSocket, into buffer: UnsafeMutableRawBufferPointer) -> LinkRead {
    var left = Self.emptyLimit
    while left > 0 {
      var result = (count: 0, error: Int32(0))
      rest =
        [UInt8](unsafeUninitializedCapacity: incomingMTU) { bytes, count in
          result.count = piconet_receive(socket.descriptor, bytes.baseAddress, incomingMTU)
          result.error = errno
          count = max(result.count, 0)
        }[...]
      if result.count > 0 { return .bytes(takeRest(into: buffer)) }
      if !goesOn(socket, count: result.count, error: result.error) { return ending ?? .wouldBlock }
      left -= 1
    }
    return .wouldBlock
  }

  // MARK: Out

  public func write(_ bytes: UnsafeRawBufferPointer) -> LinkWrite {
    guard let socket else { return .failed(LinkFailure(.cancelled, "the link is closed")) }
    var written = 0
    // For a write that fits into one packet the kernel's own limit, which is the same, is enough: it is not worth two
    // more calls.
    let isBulk = socket.kind.isPacket && bytes.count > PacketArithmetic.largestPacket - PacketArithmetic.basicHeader
    var memory = isBulk ? socket.memory : nil
    while written < bytes.count {
      var count = bytes.count - written
      if let memory {
        count = min(count, bound.largestWrite(outgoingMTU, limit: memory.unsentLimit))
        if !bound.allows(count, unsent: memory.unsent, limit: memory.unsentLimit) {
          stall(unsent: memory.unsent)
          break
        }
      }
      if socket.kind == .rfcomm { count = min(count, Self.rfcommWrite) }
      let piece = UnsafeRawBufferPointer(rebasing: bytes[written..<written + count])
      let result = send(piece, socket)
      if result < 0 {
        let error = errno
        if error != EAGAIN { return written > 0 ? .bytes(written) : failedWrite(socket, error) }
        if let memory { bound.refused(count, unsent: memory.unsent, limit: memory.unsentLimit) }
        stall(unsent: socket.memory?.unsent ?? 0)
        break
      }
      written += result
      if let before = memory, let after = socket.memory {
        bound.wrote(result, cost: after.unsent - before.unsent)
        memory = after
      }
      if result < count {
        stall(unsent: socket.memory?.unsent ?? 0)
        break
      }
    }
    return written > 0 || bytes.isEmpty ? .bytes(written) : .wouldBlock
  }

  /// Sends bytes. Over RFCOMM it makes its own frames: Linux 6.12 forgets L2CAP's header, so its frames are four bytes
  /// too long for one packet and each takes a second one. A frame never holds parts of two writes.
  private func send(_ bytes: UnsafeRawBufferPointer, _ socket: BluetoothSocket) -> Int {
    socket.kind == .rfcomm
      ? piconet_send_pieces(socket.descriptor, bytes.baseAddress, bytes.count, PacketArithmetic.rfcommFrame)
      : piconet_send(socket.descriptor, bytes.baseAddress, bytes.count)
  }

  private static let rfcommWrite = Int(piconet_pieces) * PacketArithmetic.rfcommFrame

  private func stall(unsent: Int) {
    isStalled = true
    bound.stalled(unsent: unsent, at: loop.now)
  }

  /// Reports a failed write. Bytes that the remote side sent before the link ended can still be read, and say more than
  /// the failure.
  private func failedWrite(_ socket: BluetoothSocket, _ error: Int32) -> LinkWrite {
    if ending == nil { ending = end(by: "send", error, socket.kind) }
    if !rest.isEmpty || (socket.memory?.unread ?? 0) > 0 { return .wouldBlock }
    return .failed(LinkFailure(bluetooth: "send", number: error))
  }

  // MARK: Readiness and end

  public func setReadiness(read: Bool, write: Bool) {
    var interest: Readiness = []
    if read { interest.insert(.read) }
    if write { interest.insert(.write) }
    watch?.setInterest(interest)
    // The socket does not know about bytes that were read ahead.
    if read { tellOfRestLater() }
  }

  private func tellOfRestLater() {
    if !rest.isEmpty || ending != nil { loop.executeLater { [weak self] in self?.tellOfRest() } }
  }

  private func tellOfRest() {
    guard !rest.isEmpty || ending != nil, watch?.interest.contains(.read) == true else { return }
    handler?.linkIsReady(read: true, write: false)
    if watch?.interest.contains(.read) == true { tellOfRestLater() }
  }

  public func setHandler(_ handler: any LinkEndpointHandler) { self.handler = handler }

  public func close(abort: Bool) {
    guard let socket else { return }
    watch?.cancel()
    watch = nil
    self.socket = nil
    rest = []
    if abort || ending != nil {
      DrainingCloses.close(socket, mode: mode)
    } else {
      closes.take(socket, mode: mode)
    }
  }
}

extension BluetoothLink: DescriptorHandler {
  public func descriptorIsReady(_ readiness: Readiness) {
    guard let handler, let socket else {
      // There is no handler: a level-triggered loop would call again at once.
      watch?.setInterest([])
      return
    }
    if isStalled, readiness.contains(.write) {
      isStalled = false
      if let memory = socket.memory, bound.resumed(unsent: memory.unsent, at: loop.now) {
        socket.setSendBuffer(bound.limit)
      }
    }
    handler.linkIsReady(read: readiness.contains(.read), write: readiness.contains(.write))
    if watch?.interest.contains(.read) == true { tellOfRestLater() }
  }
}
