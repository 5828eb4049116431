import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Serves the record of an advertised node on LE's record channel, for peers that can't ask bluetoothd's SDP server,
/// which is on BR/EDR only. Confined to the loop.
///
/// An adapter has few such channels for all programs: while none is free, this tries again.
final class LowEnergyRecord {
  private struct Told: Equatable {
    var record: NodeRecord
    var service: BluetoothUUID
    var adapter: BluetoothAddress
  }

  /// How long to wait before trying again if others have all channels.
  static let retry = Duration.seconds(5)

  private let loop: EventLoop
  private var server: RecordServer?
  private var told: Told?
  private var timer: LoopTimer?
  /// Why the record is not served; nil while it is, or need not be.
  private(set) var failure: LinkFailure?
  private let reached: () -> Void

  /// - Parameter reached: called on the loop each time a device has connected.
  init(loop: EventLoop, reached: @escaping () -> Void) {
    self.loop = loop
    self.reached = reached
    timer = LoopTimer(loop: loop) { [weak self] in self?.listen() }
  }

  /// The PSM at which it is served; nil: it is not.
  var psm: UInt16? { server?.psm }

  /// Serves this record from now on; nil: none.
  func tell(_ record: NodeRecord?, of service: BluetoothUUID?, on adapter: BluetoothAddress?) {
    guard var record, let service, let adapter else { return close() }
    record.adapter = adapter
    let wanted = Told(record: record, service: service, adapter: adapter)
    if wanted == told { return }
    if let server, told?.adapter == adapter {
      told = wanted
      do {
        return try server.update(record, of: service)
      } catch {
        failure = error
      }
    }
    close()
    told = wanted
    listen()
  }

  /// Idempotent; `tell` opens it again.
  func close() {
    timer?.set(nil)
    server?.close()
    server = nil
    told = nil
    failure = nil
  }

  private func listen() {
    guard let told, server == nil else { return }
    do {
      server = try RecordServer(told.record, of: told.service, kind: .le, adapter: told.adapter, loop: loop)
      server?.setReachedHandler(reached)
      failure = nil
    } catch {
      failure = error
      // Waiting won't help a kernel without Bluetooth.
      if error.code == .busy || error.code == .tooManyDescriptors { timer?.set(after: Self.retry) }
    }
  }
}
