import PiconetEngine
import PiconetRuntime

/// Everything Bluetooth of one node: its transports and what finds others over them. Confined to the loop.
public final class BluetoothStack {
  /// Listening and dialling, one a kind.
  public private(set) var transports: [any Transport] = []
  /// What finds others and tells them of us.
  public private(set) var discoveries: [any Discovery] = []

  /// Never fails: where there is no Bluetooth, each use says so.
  public init(loop: EventLoop, configuration: BluetoothConfiguration, discovers: Bool) {}

  /// Takes back what others were told, and closes everything; `completion` is called on the loop when nothing of ours is left.
  public func shutDown(_ completion: @escaping () -> Void) { completion() }
}
