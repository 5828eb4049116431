import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Reads records by SDP from the adapter that the configuration means at the moment: adapters come and go.
final class SessionRecordReader: ServiceRecordReader {
  private let loop: EventLoop
  private let adapter: BluetoothConfiguration.Adapter
  private let scope: String
  private var client: (adapter: BluetoothAddress?, client: SDPClient)?

  init(loop: EventLoop, adapter: BluetoothConfiguration.Adapter, scope: String) {
    self.loop = loop
    self.adapter = adapter
    self.scope = scope
  }

  func readRecords(
    of service: BluetoothUUID, on device: BluetoothPlace,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) -> any DialCancellation {
    current().readRecords(of: service, on: device, completion: completion)
  }

  private func current() -> SDPClient {
    let address = try? AdapterTable.read().adapter(adapter)?.device
    // Any adapter is whichever the kernel takes for the device.
    let wanted = adapter == .any ? nil : address
    if let client, client.adapter == wanted { return client.client }
    client?.client.close()
    let new = SDPClient(loop: loop, adapter: wanted, scope: scope)
    client = (wanted, new)
    return new
  }

  func close() {
    client?.client.close()
    client = nil
  }
}
