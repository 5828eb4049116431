import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Reads records over any way that leads to a device: first SDP over BR/EDR, where bluetoothd serves them; then the
/// record channel over BR/EDR, where nodes without bluetoothd serve them; then the record channel over LE. Confined to
/// the loop.
///
/// A device with a random address is asked only over LE. Each way has its own time limit: six seconds over BR/EDR, five
/// over LE.
public final class DeviceRecordReader: ServiceRecordReader {
  /// How long a reading over LE waits for a scan to pause.
  static let pauseLimit = Duration.seconds(20)

  private let loop: EventLoop
  private let readers: [RecordRoutes.Route: any ServiceRecordReader]
  private let pause: ScanPause?
  private let isLinkedOverLowEnergy: (BluetoothAddress) -> Bool
  private var memory = RouteMemory()

  /// - Parameters:
  ///   - adapter: the adapter from which devices are asked; nil: whichever the system chooses.
  ///   - session id: only records with this session id count; nil: all records of the service.
  ///   - pause: makes scans pause for connections over LE; nil: there are no scans.
  public convenience init(loop: EventLoop, adapter: BluetoothAddress?, sessionID: String?, pause: ScanPause? = nil) {
    let own = adapter ?? SocketEnd.anyDevice
    let readers: [RecordRoutes.Route: any ServiceRecordReader] = [
      .serviceDiscovery: SDPClient(loop: loop, adapter: adapter, sessionID: sessionID),
      .recordChannel: RecordChannelReader(kind: .l2cap, adapter: own, sessionID: sessionID, loop: loop),
      .lowEnergy: RecordChannelReader(kind: .le, adapter: own, sessionID: sessionID, loop: loop),
    ]
    self.init(readers, loop: loop, pause: pause) { device in
      guard let adapter else { return false }
      let links = LinkKinds(from: adapter, to: device)
      return links.contains(.le) && !links.contains(.bredr)
    }
  }

  /// - Parameters:
  ///   - readers: one for each way.
  ///   - isLinkedOverLowEnergy: returns whether a device has a link over LE, and none over BR/EDR.
  init(
    _ readers: [RecordRoutes.Route: any ServiceRecordReader], loop: EventLoop, pause: ScanPause? = nil,
    isLinkedOverLowEnergy: @escaping (BluetoothAddress) -> Bool = { _ in false }
  ) {
    self.readers = readers
    self.loop = loop
    self.pause = pause
    self.isLinkedOverLowEnergy = isLinkedOverLowEnergy
  }

  /// A place with a number means a record channel over BR/EDR. See `SDPClient` for the limits.
  public func readRecords(
    of service: BluetoothUUID, on device: BluetoothPlace,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) -> any DialCancellation {
    let isLinked = isLinkedOverLowEnergy(device.device)
    let routes = RecordRoutes(to: device, last: memory.way(to: device.device), isLinkedOverLowEnergy: isLinked)
    let reading = RoutedReading(service: service, device: device, routes: routes, reader: self, completion: completion)
    reading.tryNext(loop, pause)
    return reading
  }

  /// Cancels readings under way: each completion gets `.cancelled`.
  public func close() { for reader in readers.values { reader.close() } }

  public func shutDown(_ completion: @escaping () -> Void) {
    var waiting = readers.count
    for reader in readers.values {
      reader.shutDown {
        waiting -= 1
        if waiting == 0 { completion() }
      }
    }
    if readers.isEmpty { completion() }
  }

  fileprivate func read(
    _ route: RecordRoutes.Route, of service: BluetoothUUID, on device: BluetoothPlace,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) -> (any DialCancellation)? {
    readers[route]?.readRecords(of: service, on: device, completion: completion)
  }

  fileprivate func ended(_ routes: RecordRoutes, _ device: BluetoothPlace, isSuccess: Bool) {
    guard !device.isRandom, device.port == nil else { return }
    if isSuccess { memory.succeeded(routes, to: device.device) } else { memory.failed(device.device) }
  }
}

/// One reading, over one way after the other.
private final class RoutedReading: DialCancellation {
  private let service: BluetoothUUID
  private let device: BluetoothPlace
  private var routes: RecordRoutes
  private let reader: DeviceRecordReader
  private var completion: ((Result<[NodeRecord], LinkFailure>) -> Void)?
  private var underWay: (any DialCancellation)?
  private var turn: ScanPause.Turn?
  private var timer: LoopTimer?
  private var isCancelled = false

  init(
    service: BluetoothUUID, device: BluetoothPlace, routes: RecordRoutes, reader: DeviceRecordReader,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) {
    self.service = service
    self.device = device
    self.routes = routes
    self.reader = reader
    self.completion = completion
  }

  /// The readers complete later, never from within this call.
  func tryNext(_ loop: EventLoop, _ pause: ScanPause?) {
    guard let route = routes.current else { return }
    guard route == .lowEnergy, let pause else { return read(route, loop, pause) }
    let timer = LoopTimer(loop: loop) { [self] in
      ended(.failure(LinkFailure(.busy, "\(device): the scan did not pause for LE")), loop, pause)
    }
    self.timer = timer
    timer.set(after: DeviceRecordReader.pauseLimit)
    turn = pause.take { [self] in
      timer.set(nil)
      self.timer = nil
      read(route, loop, pause)
    }
  }

  private func read(_ route: RecordRoutes.Route, _ loop: EventLoop, _ pause: ScanPause?) {
    underWay = reader.read(route, of: service, on: device) { [self] result in ended(result, loop, pause) }
  }

  /// Cancels: the attempt under way ends with `.cancelled`, after which no other way is tried.
  func cancel() {
    if let underWay { return underWay.cancel() }
    // It waits for the scan to pause: that wait ends now, and the outcome is reported later.
    isCancelled = true
    timer?.set(after: .zero)
  }

  private func ended(_ result: Result<[NodeRecord], LinkFailure>, _ loop: EventLoop, _ pause: ScanPause?) {
    guard let completion else { return }
    underWay = nil
    timer?.set(nil)
    timer = nil
    if let turn { pause?.end(turn) }
    turn = nil
    let result = isCancelled ? .failure(LinkFailure(.cancelled)) : result
    switch result {
    case .success(let records):
      self.completion = nil
      reader.ended(routes, device, isSuccess: true)
      completion(.success(routes.usable(records)))
    case .failure(let failure):
      routes.failed(failure)
      if routes.current != nil { return tryNext(loop, pause) }
      self.completion = nil
      if failure.code == .cancelled { return completion(.failure(failure)) }
      reader.ended(routes, device, isSuccess: false)
      completion(.failure(routes.failure))
    }
  }
}
