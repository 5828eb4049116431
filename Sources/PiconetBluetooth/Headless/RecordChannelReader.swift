import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Reads records over the record channel; confined to the loop.
public final class RecordChannelReader: ServiceRecordReader {
  private let queue: RecordReadingQueue
  private let kind: SocketKind
  private let adapter: BluetoothAddress

  /// - Parameters:
  ///   - kind: l2cap, or le.
  ///   - adapter: the adapter from which devices are asked.
  ///   - session id: only records with this session id count; nil: all records of the service.
  ///   - timeLimit: for one device, including the connection. Nil: 6 s over BR/EDR, longer than Linux pages (5.12 s); 5
  ///     s over LE, for which a scan pauses.
  public init(
    kind: SocketKind, adapter: BluetoothAddress, sessionID: String?, loop: EventLoop, timeLimit: Duration? = nil
  ) {
    queue = RecordReadingQueue(
      loop: loop, sessionID: sessionID, timeLimit: timeLimit ?? (kind == .le ? .seconds(5) : .seconds(6)))
    self.kind = kind
    self.adapter = adapter
  }

  /// Reads records. The place's number is the channel's PSM; without one, the fixed PSMs are tried. See `SDPClient` for
  /// the limits; a device without a record channel fails with `refused`.
  public func readRecords(
    of service: BluetoothUUID, on device: BluetoothPlace,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) -> any DialCancellation {
    let exchange = RecordChannelExchange(
      kind: kind, adapter: adapter, device: device.device, loop: queue.loop, closes: queue.closes)
    return queue.add(of: service, on: device, exchange: exchange, completion: completion)
  }

  /// Cancels readings under way: each completion gets `.cancelled`.
  public func close() { queue.cancelAll() }

  public func shutDown(_ completion: @escaping () -> Void) { queue.shutDown(completion) }
}

/// Connections to a device's record channels, one after the other, until one yields a matching record.
private final class RecordChannelExchange: RecordExchange {
  private let kind: SocketKind
  private let adapter: BluetoothAddress
  private let loop: EventLoop
  private let closes: DrainingCloses
  private weak var reading: RecordReading?
  private let device: BluetoothAddress
  private var socket: BluetoothSocket?
  private var watch: DescriptorWatch?
  private var isConnected = false
  /// The PSMs still to ask.
  private var psms: [UInt16] = []
  /// The records so far, none of them matching.
  private var lists: [AttributeList] = []

  init(
    kind: SocketKind, adapter: BluetoothAddress, device: BluetoothAddress, loop: EventLoop, closes: DrainingCloses
  ) {
    self.kind = kind
    self.device = device
    self.adapter = adapter
    self.loop = loop
    self.closes = closes
  }

  deinit { close() }

  func start(_ reading: RecordReading) throws(LinkFailure) {
    self.reading = reading
    guard kind.isPacket else { throw LinkFailure(.notAvailable, "the record channel is one of L2CAP") }
    psms = reading.device.port.map { [$0] } ?? RecordChannel.psms(of: kind)
    try connect(to: psms.removeFirst(), of: reading.device)
  }

  private func connect(to psm: UInt16, of device: BluetoothPlace) throws(LinkFailure) {
    do {
      let socket = try BluetoothSocket(kind)
      self.socket = socket
      try socket.bind(to: SocketEnd(device: adapter, port: 0))
      var settings = SocketSettings()
      settings.incomingMTU = UInt16(RecordChannel.largest)
      try socket.apply(settings)
      isConnected = try socket.connect(to: SocketEnd(device: device.device, port: psm, isRandom: device.isRandom))
      watch = try loop.watch(socket.descriptor, for: isConnected ? .read : .write, handler: self)
    } catch {
      throw LinkFailure(recordAtOnce: error, device: device)
    }
  }

  func close() {
    let isConnecting = watch != nil && !isConnected
    watch?.cancel()
    watch = nil
    guard let socket else { return }
    self.socket = nil
    if isConnecting { closes.takeConnecting(socket, to: device) } else { socket.close() }
  }

  func descriptorIsReady(_ readiness: Readiness) {
    guard let socket, let reading else { return close() }
    if !isConnected {
      if let error = socket.failure { return goOn(reading, after: LinkFailure(record: error, device: reading.device)) }
      isConnected = true
      watch?.setInterest(.read)
      return
    }
    var bytes = [UInt8](repeating: 0, count: RecordChannel.largest)
    let count = recv(socket.descriptor, &bytes, bytes.count, 0)
    if count < 0 {
      if errno == EAGAIN || errno == EINTR { return }
      return goOn(reading, after: LinkFailure(record: SystemError("recv", errno), device: reading.device))
    }
    if count == 0 {
      return goOn(reading, after: LinkFailure(.reset, "\(reading.device) closed before it told its record"))
    }
    do {
      let told = try AttributeList.lists(decoding: Array(bytes.prefix(count)))
      if reading.isAnswered(by: told) { return reading.received(told) }
      lists += told
      goOn(reading, after: nil)
    } catch {
      goOn(reading, after: LinkFailure(.other, "\(reading.device): \(error)"))
    }
  }

  /// Continues with the next PSM, provided that the device is present at all.
  private func goOn(_ reading: RecordReading, after failure: LinkFailure?) {
    close()
    if failure == nil || failure?.code == .refused, !psms.isEmpty {
      do {
        return try connect(to: psms.removeFirst(), of: reading.device)
      } catch {
        return reading.finish(.failure(error))
      }
    }
    if !lists.isEmpty { return reading.received(lists) }
    reading.finish(.failure(failure ?? LinkFailure(.noService, "\(reading.device) told nothing")))
  }
}
