import CPiconetBluetooth
import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// One question to an SDP server.
final class SDPExchange: RecordExchange {
  private enum State { case connecting, reading }

  private let loop: EventLoop
  private let adapter: BluetoothAddress?
  private let closes: DrainingCloses
  private var device: BluetoothAddress?
  private weak var reading: RecordReading?
  private var session: UnsafeMutableRawPointer?
  private var watch: DescriptorWatch?
  private var state = State.connecting
  private var collection = RecordCollection()
  /// More than the 672 bytes that L2CAP accepts by default, which libbluetooth does not change.
  private static let packetLimit = 4096

  init(loop: EventLoop, adapter: BluetoothAddress?, closes: DrainingCloses) {
    self.loop = loop
    self.adapter = adapter
    self.closes = closes
  }

  deinit { close() }

  func start(_ reading: RecordReading) throws(LinkFailure) {
    self.reading = reading
    if reading.device.isRandom {
      throw LinkFailure(.notAvailable, "\(reading.device): SDP is of BR/EDR, and a random address of LE")
    }
    guard let session = piconet_sdp_open(adapter?.rawValue ?? 0, reading.device.device.rawValue) else {
      throw LinkFailure(recordAtOnce: SystemError("connect", errno), device: reading.device)
    }
    self.session = session
    device = reading.device.device
    do {
      watch = try loop.watch(piconet_sdp_socket(session), for: .write, handler: self)
    } catch {
      throw LinkFailure(record: error, device: reading.device)
    }
  }

  func close() {
    let isConnecting = watch != nil && state == .connecting
    watch?.cancel()
    watch = nil
    guard let session else { return }
    self.session = nil
    // libbluetooth closes its own descriptor for the socket, so a duplicate is kept.
    let kept = isConnecting ? fcntl(piconet_sdp_socket(session), F_DUPFD_CLOEXEC, 0) : -1
    piconet_sdp_close(session)
    if kept >= 0, let device { closes.takeConnecting(BluetoothSocket(kind: .l2cap, descriptor: kept), to: device) }
  }

  func descriptorIsReady(_ readiness: Readiness) {
    guard let session, let reading else { return close() }
    switch state {
    case .connecting:
      if let error = BluetoothSocket(kind: .l2cap, descriptor: piconet_sdp_socket(session)).failure {
        return reading.finish(.failure(LinkFailure(record: error, device: reading.device)))
      }
      let error = piconet_sdp_ask(session, reading.service.bytes)
      if error != 0 {
        return reading.finish(.failure(LinkFailure(record: SystemError("send", error), device: reading.device)))
      }
      state = .reading
      watch?.setInterest(.read)
    case .reading: read(session, reading)
    }
  }

  private func read(_ session: UnsafeMutableRawPointer, _ reading: RecordReading) {
    var packet = [UInt8](repeating: 0, count: Self.packetLimit)
    let count = piconet_socket_peek(piconet_sdp_socket(session), &packet, packet.count)
    if count < 0 {
      if errno == EAGAIN || errno == EINTR { return }
      return reading.finish(.failure(LinkFailure(record: SystemError("recv", errno), device: reading.device)))
    }
    if count == 0 {
      return reading.finish(.failure(LinkFailure(.reset, "\(reading.device) closed before it had answered")))
    }
    guard count <= packet.count else {
      return reading.finish(.failure(LinkFailure(.other, "\(reading.device): a packet of \(count) bytes")))
    }
    packet.removeLast(packet.count - count)
    switch collection.received(packet, transaction: piconet_sdp_transaction(session)) {
    case .askOn:
      let error = piconet_sdp_continue(session)
      if error != 0 {
        reading.finish(.failure(LinkFailure(record: SystemError("SDP", error), device: reading.device)))
      }
    case .done(let lists): reading.received(lists)
    case .failed(let failure):
      reading.finish(.failure(LinkFailure(.other, "\(reading.device): \(failure)")))
    }
  }
}

extension LinkFailure {
  /// Translates an error on a connection for a device's records: `refused` means that nothing on the device can answer
  /// in this way.
  init(record error: SystemError, device: BluetoothPlace) {
    let failure = LinkFailure(bluetooth: error)
    self.init(failure.code, "\(device): \(failure.detail)")
  }

  /// Translates an error of a call that fails before anything goes on air, as it also does if the adapter may not use
  /// this kind of link.
  init(recordAtOnce error: SystemError, device: BluetoothPlace) {
    let failure = LinkFailure(record: error, device: device)
    self.init(failure.code == .refused ? .notAvailable : failure.code, failure.detail)
  }
}
