import PiconetBlueZ
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// All Bluetooth parts of a node: its transports, and its discoveries. Confined to the loop.
public final class BluetoothStack {
  /// For listening and dialling, one per kind, in order of preference: L2CAP, RFCOMM, LE.
  public let transports: [any Transport]
  /// The discoveries that find others and make this node known to them; empty if the node has no discovery.
  public let discoveries: [any Discovery]
  private let loop: EventLoop
  private let closing: [BluetoothTransport]
  private let discovery: BluetoothDiscovery?
  private let reader: SessionRecordReader

  /// Creates the stack; it never fails: without Bluetooth, each use reports that.
  /// - Parameter host: shared by all nodes of this process; nil: this is the only one.
  public init(
    loop: EventLoop, configuration: BluetoothConfiguration, discovers: Bool, host: BluetoothHost? = nil
  ) {
    let host = host ?? BluetoothHost(loop: loop)
    self.loop = loop
    let reader = SessionRecordReader(loop: loop, adapter: configuration.adapter, sessionID: configuration.sessionID)
    self.reader = reader
    var settings = BluetoothTransportConfiguration()
    settings.adapter = configuration.adapter
    settings.socket.requiresPairing = configuration.requiresPairing
    let service = try? BluetoothUUID.session(configuration.sessionID)
    closing = SocketKind.allCases.filter { configuration.transports.contains($0.transport) }.map { kind in
      BluetoothTransport(
        kind, loop: loop, configuration: settings, lookUp: service.map(reader.portLookUp), host: host,
        name: service?.description)
    }
    transports = closing
    discovery = discovers ? BluetoothDiscovery(loop: loop, configuration: configuration, host: host) : nil
    discoveries = discovery.map { [$0] } ?? []
    discovery?.setAdapterHandler { [closing] adapter in
      for transport in closing { transport.setPreferredAdapter(adapter) }
      reader.setPreferredAdapter(adapter)
    }
    for transport in closing {
      transport.setDialFailureHandler { [weak discovery] in discovery?.dialFailed($0) }
      guard transport.kind == .le else { continue }
      transport.setAcceptedHandler { [weak discovery] in discovery?.reachedOverLowEnergy() }
    }
  }

  /// Withdraws the advertisement, and closes everything; `completion` is called on the loop when nothing of this node
  /// is left. Takes at most `BlueZDiscovery.shutDownLimit` and the transports' drain time.
  public func shutDown(_ completion: @escaping () -> Void) {
    var waiting = closing.count + 1
    let oneIsDone = { [reader] in
      waiting -= 1
      guard waiting == 0 else { return }
      reader.shutDown(completion)
    }
    for transport in closing { transport.shutDown(oneIsDone) }
    guard let discovery else { return loop.executeLater(oneIsDone) }
    discovery.shutDown(oneIsDone)
  }
}
