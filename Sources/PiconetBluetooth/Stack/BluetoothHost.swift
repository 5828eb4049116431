import PiconetEngine
import PiconetRuntime

/// The Bluetooth parts that the nodes of one host share: the schedule of scans, turns at advertising, records over LE,
/// news of adapters, and listening sockets. Confined to the loop.
public final class BluetoothHost {
  let circle = ScanCircle()
  let adapters = AdapterCircle()
  let records: LowEnergyRecords
  let news: AdapterNews
  let listeners: SharedListeners

  /// - Parameter readName: reads from the first bytes of an incoming link which session it is for.
  public init(loop: EventLoop, readName: @escaping ([UInt8]) -> ServerNameFinding = { _ in .none }) {
    news = AdapterNews(loop: loop)
    records = LowEnergyRecords(loop: loop)
    listeners = SharedListeners(loop: loop, readName: readName)
  }
}
