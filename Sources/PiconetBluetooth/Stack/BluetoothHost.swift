import PiconetRuntime

/// What the nodes of one process share of Bluetooth: when they scan, and the news of adapters. Confined to the loop.
public final class BluetoothHost {
  let circle = ScanCircle()
  let news: AdapterNews

  public init(loop: EventLoop) { news = AdapterNews(loop: loop) }
}
