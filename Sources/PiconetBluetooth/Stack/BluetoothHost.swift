import PiconetEngine
import PiconetRuntime

/// What the nodes of one host share for Bluetooth: when they scan, news of adapters, and listening sockets. Confined
/// to the loop.
public final class BluetoothHost {
  let circle = ScanCircle()
  let news: AdapterNews
  let listeners: SharedListeners

  /// - Parameter readName: finds in the first bytes of an incoming link which session it is for.
  public init(loop: EventLoop, readName: @escaping ([UInt8]) -> ServerNameFinding = { _ in .none }) {
    news = AdapterNews(loop: loop)
    listeners = SharedListeners(loop: loop, readName: readName)
  }
}
