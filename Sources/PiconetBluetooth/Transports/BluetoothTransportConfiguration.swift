import PiconetEngine

/// The use of one kind of Bluetooth socket as a transport.
public struct BluetoothTransportConfiguration: Sendable, Hashable {
  /// The adapter that we dial from and listen on. With `any` the kernel chooses for a dial, and we listen on all.
  public var adapter = BluetoothConfiguration.Adapter.any
  public var socket = SocketSettings()
  /// The PSM or channel that we listen on; 0: chosen by the system.
  public var listeningPort: UInt16 = 0
  /// The dial over the places of a peer.
  public var dial = DialSequence.Configuration()
  /// The bound on bytes that wait in the kernel.
  public var unsent = UnsentBound.Configuration()
  /// The most bytes that the engine may have on the way into the kernel: see `LinkTraits.transmitWindow`.
  public var transmitWindow = 64 << 10
  /// Connections that the kernel keeps until we accept them.
  public var backlog: Int32 = 16
  /// The most connections accepted in one round of the loop.
  public var acceptBatch = 8
  /// How long accepting pauses when no descriptor is left; doubles up to ten times this.
  public var acceptRetry: Duration = .milliseconds(100)
  /// How long an orderly close waits for bytes that the kernel still has to send.
  public var drainTime: Duration = .seconds(3)
  /// The most closes that wait in this way at a time.
  public var drainLimit = 16

  public init() {}
}
