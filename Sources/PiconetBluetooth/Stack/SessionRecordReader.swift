import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Reads records from the adapter that the configuration means at the moment: adapters come and go.
final class SessionRecordReader: ServiceRecordReader {
  private let loop: EventLoop
  private var adapters: AdapterPicker
  private let makeReader: (BluetoothAddress?) -> any ServiceRecordReader
  private var known: (adapter: BluetoothAddress?, reader: any ServiceRecordReader)?

  convenience init(loop: EventLoop, adapter: BluetoothConfiguration.Adapter, sessionID: String) {
    self.init(loop: loop, adapter: adapter, readAdapters: AdapterTable.read) {
      DeviceRecordReader(loop: loop, adapter: $0, sessionID: sessionID)
    }
  }

  /// - Parameters:
  ///   - readAdapters: the kernel's list, or a test's replacement for it.
  ///   - makeReader: makes a reader that uses the adapter with this address; nil: the one that the kernel chooses for a
  ///     device.
  init(
    loop: EventLoop, adapter: BluetoothConfiguration.Adapter, readAdapters: @escaping AdapterTable.Reading,
    makeReader: @escaping (BluetoothAddress?) -> any ServiceRecordReader
  ) {
    self.loop = loop
    adapters = AdapterPicker(adapter, read: readAdapters)
    self.makeReader = makeReader
  }

  /// Sets the adapter to use from now on if the configuration allows any; nil: the one that the kernel chooses.
  func setPreferredAdapter(_ adapter: BluetoothAddress?) { adapters.preferred = adapter }

  /// Reads records; fails with `notAvailable` while the adapter is absent: no other one is used instead.
  func readRecords(
    of service: BluetoothUUID, on device: BluetoothPlace,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) -> any DialCancellation {
    do {
      return try current().readRecords(of: service, on: device, completion: completion)
    } catch {
      let reading = SessionReading(completion: completion)
      let failure = error
      loop.executeLater { reading.finish(failure) }
      return reading
    }
  }

  private func current() throws(LinkFailure) -> any ServiceRecordReader {
    let device = try adapters.presentDevice()
    let wanted = device == SocketEnd.anyDevice ? nil : device
    if let known, known.adapter == wanted { return known.reader }
    close()
    let reader = makeReader(wanted)
    known = (wanted, reader)
    return reader
  }

  func close() {
    known?.reader.close()
    known = nil
  }

  func shutDown(_ completion: @escaping () -> Void) {
    guard let reader = known?.reader else { return completion() }
    known = nil
    // Holds the reader until the end.
    reader.shutDown { withExtendedLifetime(reader, completion) }
  }
}

/// A reading that fails without having begun.
private final class SessionReading: DialCancellation {
  private var completion: ((Result<[NodeRecord], LinkFailure>) -> Void)?
  private var isCancelled = false

  init(completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void) { self.completion = completion }

  /// The completion is called by `finish`, which is under way.
  func cancel() { isCancelled = true }

  func finish(_ failure: LinkFailure) {
    guard let completion else { return }
    self.completion = nil
    completion(.failure(isCancelled ? LinkFailure(.cancelled) : failure))
  }
}
