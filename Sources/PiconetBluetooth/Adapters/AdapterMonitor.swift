import CPiconetBluetooth
import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime

/// Reports when adapters come, go, or are switched on or off. Confined to the loop; needs no privilege.
///
/// The kernel's management channel (BlueZ, doc/mgmt-api.txt) reports such events to every process. Their content is
/// ignored: after any of them the table is read again, and reported if it has changed.
public final class AdapterMonitor: DescriptorHandler {
  /// The table that was last reported.
  public private(set) var table: AdapterTable
  private let changed: (AdapterTable) -> Void
  private let descriptor: Int32
  private var watch: DescriptorWatch?

  /// - Parameter changed: called on the loop with each new table; not with the first one.
  /// - Throws: `.notAvailable` if the kernel has no Bluetooth.
  public init(loop: EventLoop, changed: @escaping (AdapterTable) -> Void) throws(LinkFailure) {
    self.changed = changed
    descriptor = piconet_adapter_events()
    if descriptor < 0 { throw LinkFailure(bluetooth: "adapter events", number: errno) }
    do throws(LinkFailure) {
      // Read once the socket is open, so that no change is missed.
      table = try AdapterTable.read()
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    do {
      watch = try loop.watch(descriptor, for: .read, handler: self)
    } catch {
      Glibc.close(descriptor)
      throw LinkFailure(bluetooth: error)
    }
  }

  deinit { close() }

  /// Ends the monitor; no function is called afterwards. Idempotent.
  public func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    Glibc.close(descriptor)
  }

  public func descriptorIsReady(_ readiness: Readiness) {
    withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
      var left = 64
      while left > 0, piconet_receive(descriptor, buffer.baseAddress, buffer.count) > 0 { left -= 1 }
    }
    guard let now = try? AdapterTable.read(), now != table else { return }
    table = now
    changed(now)
  }
}
