#if Bluetooth
  import PiconetBluetooth
  import PiconetEngine
  import PiconetRuntime
  import PiconetSDP

  extension AdapterParts {
    /// The real parts at an adapter of this machine.
    public static func bluetooth(
      _ adapter: BluetoothConfiguration.Adapter, loop: EventLoop, opening: AdapterOpening
    ) throws(RelayError) -> AdapterParts {
      guard !opening.kinds.isEmpty, opening.kinds.isSubset(of: TransportKind.bluetooth) else {
        throw RelayError("over Bluetooth there are l2cap, rfcomm and le")
      }
      var configuration = BluetoothConfiguration(sessionID: opening.sessionID)
      configuration.adapter = adapter
      configuration.transports = opening.kinds
      let stack = BluetoothStack(loop: loop, configuration: configuration, discovers: opening.discovers)
      return AdapterParts(
        transports: stack.transports, discovery: stack.discoveries.first,
        answersPaging: {
          guard let device = try? AdapterTable.read().adapter(adapter)?.device else { return false }
          return PageScan.isOn(adapter: device)
        },
        shutDown: stack.shutDown)
    }
  }
#endif
