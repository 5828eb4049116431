import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Reads service records by the Service Discovery Protocol, as libbluetooth's client speaks it; confined to the loop.
///
/// A server's answer is checked by our own decoder before libbluetooth sees it, because libbluetooth trusts the lengths
/// in a packet and follows nested sequences without a limit. An answer costs at most `RecordCollection.Limits`.
public final class SDPClient: ServiceRecordReader {
  private let queue: RecordReadingQueue
  private let adapter: BluetoothAddress?

  /// - Parameters:
  ///   - adapter: the adapter from which devices are asked; nil: whichever the system chooses.
  ///   - session id: only records with this session id count; nil: all records of the service.
  ///   - timeLimit: for one device, including the connection. Default: 6 s, longer than Linux pages (5.12 s), so that a
  ///     device that is not there gives `hostDown`.
  public init(
    loop: EventLoop, adapter: BluetoothAddress?, sessionID: String?, timeLimit: Duration = .seconds(6)
  ) {
    queue = RecordReadingQueue(loop: loop, sessionID: sessionID, timeLimit: timeLimit)
    self.adapter = adapter
  }

  /// At most eight devices are asked at a time; at most 64 more wait, and any beyond that fail with `busy`. The place's
  /// number is ignored; a device with a random address, which is LE only, fails with `notAvailable`, and one without an
  /// SDP server with `refused`.
  public func readRecords(
    of service: BluetoothUUID, on device: BluetoothPlace,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) -> any DialCancellation {
    let exchange = SDPExchange(loop: queue.loop, adapter: adapter, closes: queue.closes)
    return queue.add(of: service, on: device, exchange: exchange, completion: completion)
  }

  /// Cancels readings under way: each completion gets `.cancelled`.
  public func close() { queue.cancelAll() }

  public func shutDown(_ completion: @escaping () -> Void) { queue.shutDown(completion) }
}
