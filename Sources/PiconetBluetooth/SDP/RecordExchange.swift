import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// One connection on which records are read; confined to the loop.
protocol RecordExchange: DescriptorHandler {
  /// Begins. The outcome is reported by `RecordReading.finish`, never from within this call.
  func start(_ reading: RecordReading) throws(LinkFailure)
  /// Ends the exchange, whatever its state. Idempotent.
  func close()
}

/// One reading of a device's records: waits for its turn, is bounded in time, and completes exactly once.
final class RecordReading: DialCancellation {
  let service: BluetoothUUID
  let device: BluetoothPlace
  private let exchange: any RecordExchange
  private let queue: RecordReadingQueue
  private var completion: ((Result<[NodeRecord], LinkFailure>) -> Void)?
  private var timer: LoopTimer?

  fileprivate init(
    of service: BluetoothUUID, on device: BluetoothPlace, exchange: any RecordExchange, queue: RecordReadingQueue,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) {
    self.service = service
    self.device = device
    self.exchange = exchange
    self.queue = queue
    self.completion = completion
  }

  func cancel() { finish(.failure(LinkFailure(.cancelled))) }

  fileprivate func begin() {
    let timer = LoopTimer(loop: queue.loop) { [weak self] in
      guard let self else { return }
      finish(.failure(LinkFailure(.timedOut, "\(device) did not tell its records within \(queue.timeLimit.inWords)")))
    }
    timer.set(after: queue.timeLimit)
    self.timer = timer
    do {
      try exchange.start(self)
    } catch {
      finish(.failure(error))
    }
  }

  /// Returns whether one of these records matches.
  func isAnswered(by lists: [AttributeList]) -> Bool {
    !RecordSelection(from: lists, service: service, sessionID: queue.sessionID, device: device).records.isEmpty
  }

  /// Takes the device's answer.
  func received(_ lists: [AttributeList]) {
    let selection = RecordSelection(from: lists, service: service, sessionID: queue.sessionID, device: device)
    if !selection.records.isEmpty {
      finish(.success(selection.records))
    } else if let reason = selection.passedOver.first {
      finish(.failure(LinkFailure(.noService, "\(device): \(lists.count) records, none for us; the first: \(reason)")))
    } else {
      finish(.failure(LinkFailure(.noService, "\(device) has no record of this session")))
    }
  }

  /// Ends the reading with the first result; later results have no effect.
  func finish(_ result: Result<[NodeRecord], LinkFailure>) {
    guard let completion else { return }
    self.completion = nil
    timer?.set(nil)
    exchange.close()
    queue.loop.executeLater { completion(result) }
    queue.ended(self)
  }
}

/// Lets a few readings run at a time and some more wait: each needs a connection, and a radio makes only one at a time.
final class RecordReadingQueue {
  /// The most readings that run.
  static let runningLimit = 8
  /// The most readings that wait.
  static let waitingLimit = 64

  let loop: EventLoop
  let sessionID: String?
  let timeLimit: Duration
  /// Takes over connects whose readings have ended.
  let closes: DrainingCloses
  private var running: [RecordReading] = []
  private var waiting: [RecordReading] = []

  init(loop: EventLoop, sessionID: String?, timeLimit: Duration) {
    self.loop = loop
    self.sessionID = sessionID
    self.timeLimit = timeLimit
    closes = DrainingCloses(loop: loop, time: .zero, limit: 2 * Self.runningLimit)
  }

  func add(
    of service: BluetoothUUID, on device: BluetoothPlace, exchange: any RecordExchange,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) -> any DialCancellation {
    let reading = RecordReading(of: service, on: device, exchange: exchange, queue: self, completion: completion)
    if waiting.count >= Self.waitingLimit {
      reading.finish(.failure(LinkFailure(.busy, "\(Self.waitingLimit) devices wait already to be asked for records")))
      return reading
    }
    waiting.append(reading)
    startNext()
    return reading
  }

  /// Cancels all readings.
  func cancelAll() { for reading in waiting + running { reading.cancel() } }

  /// Cancels all readings; `completion` is called, perhaps at once, when no connect is waited for any more.
  func shutDown(_ completion: @escaping () -> Void) {
    cancelAll()
    closes.onceEmpty(completion)
  }

  fileprivate func ended(_ reading: RecordReading) {
    running.removeAll { $0 === reading }
    waiting.removeAll { $0 === reading }
    startNext()
  }

  private func startNext() {
    while running.count < Self.runningLimit, !waiting.isEmpty {
      let reading = waiting.removeFirst()
      running.append(reading)
      // Not right now: a connect that fails at once would end the reading, and start the next one, within this call.
      loop.executeLater { reading.beginUnlessEnded() }
    }
  }
}

extension RecordReading {
  fileprivate func beginUnlessEnded() { if !isEnded { begin() } }
  private var isEnded: Bool { completion == nil }
}
