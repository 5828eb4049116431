import PiconetRuntime

/// What the nodes of one process share for Bluetooth: when they scan, and news of adapters. Confined to the loop.
public final class BluetoothHost {
  let circle = ScanCircle()
  let news: AdapterNews

  public init(loop: EventLoop) { news = AdapterNews(loop: loop) }
}
