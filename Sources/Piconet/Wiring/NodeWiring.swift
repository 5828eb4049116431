import PiconetEngine
import PiconetIP
import PiconetRuntime
import PiconetWire

#if Bluetooth
  import PiconetBluetooth
#endif

/// The transports and discoveries of one node, as its configuration wants them. Confined to the loop.
final class NodeWiring {
  private(set) var transports: [any Transport] = []
  /// The transport over relays, if members may be reached that way.
  private(set) var tunnels: TunnelTransport?
  private(set) var discoveries: [any Discovery] = []
  private var tcp: TCPTransport?
  private var services: DNSServiceDiscovery?
  private var shutDownAdditional: ((@escaping () -> Void) -> Void)?
  #if Bluetooth
    private var bluetooth: BluetoothStack?
  #endif

  init(
    host: HostShell, configuration: NodeConfiguration, listen: HostPort?, veiled: @escaping () -> [(PeerID, String)]
  ) throws(PiconetError) {
    let loop = host.threads.loop
    if configuration.transports.contains(.tcp) {
      addIP(host: host, configuration: configuration, listen: listen, veiled: veiled)
    }
    if configuration.transports.contains(.relay) { tunnels = TunnelTransport(loop: loop) }
    if let additional = configuration.additional {
      let parts = additional(loop)
      transports += parts.transports
      discoveries += parts.discoveries
      shutDownAdditional = parts.shutDown
    }
    #if Bluetooth
      let kinds = Set(configuration.transports.filter(\.usesBluetooth)).subtracting(transports.map(\.kind))
      if !kinds.isEmpty {
        var settings = try BluetoothConfiguration(configuration.bluetooth, sessionID: configuration.sessionID)
        settings.transports = kinds
        let stack = BluetoothStack(
          loop: loop, configuration: settings, discovers: configuration.discovers, host: host.bluetooth)
        bluetooth = stack
        transports += stack.transports
        discoveries += stack.discoveries
      }
    #endif
  }

  private func addIP(
    host: HostShell, configuration: NodeConfiguration, listen: HostPort?, veiled: @escaping () -> [(PeerID, String)]
  ) {
    var settings = TCPConfiguration()
    settings.listen = listen
    // Many peers that connect at once must not make the kernel drop an honest peer's SYN, which it sends again only
    // after a second.
    settings.backlog = 1024
    let tcp = TCPTransport(
      loop: host.threads.loop, configuration: settings, resolver: host.threads.resolver)
    self.tcp = tcp
    transports.append(tcp)
    guard configuration.discovers else { return }
    let services = DNSServiceDiscovery(sharing: host.multicast)
    self.services = services
    discoveries.append(
      VeiledDiscovery(
        services, isVeiled: configuration.visibility == .knownPeers, candidates: veiled, loop: host.threads.loop))
  }

  /// Sets the handler for obstacles to discovery over a network.
  func setObstacleHandler(_ handler: @escaping ([DiscoveryObstacle]) -> Void) {
    services?.setObstacleHandler(handler)
  }

  /// Ends everything; orderly closes may take a moment.
  func shutDown(_ completion: @escaping () -> Void) {
    let closeAdditional = { [self] in
      guard let shutDownAdditional else { return completion() }
      shutDownAdditional(completion)
    }
    let closeTCP = { [self] in
      guard let tcp else { return closeAdditional() }
      tcp.shutDown { closeAdditional() }
    }
    #if Bluetooth
      if let bluetooth { return bluetooth.shutDown(closeTCP) }
    #endif
    closeTCP()
  }
}

#if Bluetooth
  extension BluetoothConfiguration {
    init(_ settings: BluetoothSettings, sessionID: String) throws(PiconetError) {
      self.init(sessionID: sessionID)
      requiresPairing = settings.requiresPairing
      finder =
        switch settings.finder {
        case .automatic: .automatic
        case .daemon: .daemon
        case .headless: .headless
        }
      guard let text = settings.adapter else { return }
      guard let adapter = Adapter(text) else {
        throw PiconetError(
          .invalidArgument, blame: .us,
          detail: "an adapter is named like hci0 or by its address like 00:11:22:33:44:55; '\(text)' is neither")
      }
      self.adapter = adapter
    }
  }
#endif
