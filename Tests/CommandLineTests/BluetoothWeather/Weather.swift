import Testing

/// What befalls an adapter, and what a person does when it is over.
enum Weather: String, Sendable, CaseIterable, CustomStringConvertible {
  /// Switched off, as by a laptop's switch.
  case off
  /// Switched off in the desktop's settings: bluetoothd's `Powered`.
  case unpowered
  /// Unplugged.
  case gone
  /// Carried away, without a goodbye.
  case mute

  var description: String { rawValue }

  func begin(at adapter: String) async throws {
    let number = adapter.dropFirst(3)
    switch self {
    case .off: try await VirtualMachine.fault("off \(number)")
    case .unpowered:
      // bluetoothd may crash before it answers; the adapter is off even then.
      try await VirtualMachine.setPowered(adapter, false)
      try #require(await VirtualMachine.becomes("hciconfig \(adapter) | grep -q DOWN"))
    case .gone: try await VirtualMachine.fault("gone \(number)")
    case .mute:
      for other in VirtualMachine.adapters where other != adapter {
        try await VirtualMachine.fault("mute \(number) \(other.dropFirst(3))")
      }
    }
  }

  /// Returns once bluetoothd has the adapter, powered.
  func end(at adapter: String) async throws {
    let number = adapter.dropFirst(3)
    switch self {
    case .off: try await VirtualMachine.fault("on \(number)")
    case .unpowered: break
    case .gone: try await VirtualMachine.fault("back \(number)")
    case .mute:
      for other in VirtualMachine.adapters where other != adapter {
        try await VirtualMachine.fault("unmute \(number) \(other.dropFirst(3))")
      }
    }
    try await VirtualMachine.ensureDaemon()
    try await VirtualMachine.powerOn(adapter)
  }
}
