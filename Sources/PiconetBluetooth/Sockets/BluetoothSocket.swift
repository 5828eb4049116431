import CPiconetBluetooth
import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// One end of a Bluetooth socket: a device and a number; 0 lets the system choose.
public struct SocketEnd: Sendable, Hashable {
  public var device: BluetoothAddress
  public var port: UInt16
  /// Matters only for LE.
  public var isRandom: Bool

  public init(device: BluetoothAddress, port: UInt16, isRandom: Bool = false) {
    self.device = device
    self.port = port
    self.isRandom = isRandom
  }

  /// BDADDR_ANY: any adapter.
  public static let anyDevice = BluetoothAddress(rawValue: 0)

  /// The place as in the text of a transport address; without the number if it has none.
  public var place: BluetoothPlace {
    BluetoothPlace(device: device, isRandom: isRandom, port: port == 0 ? nil : port)
  }

  init(_ end: piconet_bluetooth_end) {
    self.init(device: BluetoothAddress(rawValue: end.device), port: end.port, isRandom: end.is_random != 0)
  }

  var system: piconet_bluetooth_end {
    piconet_bluetooth_end(device: device.rawValue, port: port, is_random: isRandom ? 1 : 0)
  }
}

/// The kernel memory of a socket, in bytes including overhead (truesize), by which buffers are limited.
public struct SocketMemory: Sendable, Hashable {
  /// Received, but not read yet.
  public var unread: Int
  /// Written, but not yet taken by the adapter.
  public var unsent: Int
  /// Twice the value of SO_SNDBUF. The socket is writable for poll(2) while `unsent` is less than half of it.
  public var unsentLimit: Int
}

/// The calls on a Bluetooth socket. A plain value around the descriptor: its maker must close it, once.
public struct BluetoothSocket: Sendable {
  public let kind: SocketKind
  public let descriptor: Int32

  /// Wraps a descriptor that is a socket of this kind.
  public init(kind: SocketKind, descriptor: Int32) {
    self.kind = kind
    self.descriptor = descriptor
  }

  /// A new socket, non-blocking and closed on exec.
  public init(_ kind: SocketKind) throws(SystemError) {
    let descriptor = piconet_bluetooth_socket(kind.number)
    if descriptor < 0 { throw SystemError("socket", errno) }
    self.init(kind: kind, descriptor: descriptor)
  }

  public func close() { _ = Glibc.close(descriptor) }

  // MARK: Before the connection

  /// Applies all of `settings`; call it after `bind`, by which the kernel learns whether it is LE.
  public func apply(_ settings: SocketSettings) throws(SystemError) {
    try check("BT_SECURITY", piconet_bluetooth_set_security(descriptor, settings.requiresPairing ? 2 : 1))
    switch kind {
    case .rfcomm: break
    case .le: try check("BT_RCVMTU", piconet_le_set_incoming_mtu(descriptor, settings.incomingLowEnergyMTU))
    case .l2cap:
      let mode = settings.mode == .basic ? piconet_l2cap_basic : piconet_l2cap_ertm
      let options = piconet_l2cap_options(
        incoming_mtu: settings.incomingMTU, outgoing_mtu: 0, mode: UInt8(truncatingIfNeeded: mode))
      try check("L2CAP_OPTIONS", piconet_l2cap_set_options(descriptor, options))
    }
    setReceiveBuffer(settings.receiveBuffer)
  }

  /// Binds to an adapter by its address, or to `SocketEnd.anyDevice`.
  public func bind(to end: SocketEnd) throws(SystemError) {
    try check("bind", piconet_bluetooth_bind(descriptor, kind.number, end.system))
  }

  public func listen(backlog: Int32) throws(SystemError) { try check("listen", Glibc.listen(descriptor, backlog)) }

  /// Begins to connect.
  /// - Returns: whether it is connected already; otherwise the outcome is known when the socket becomes writable: see
  ///   `failure`.
  public func connect(to end: SocketEnd) throws(SystemError) -> Bool {
    if piconet_bluetooth_connect(descriptor, kind.number, end.system) == 0 { return true }
    let error = errno
    if error == EINPROGRESS || error == EINTR { return false }
    throw SystemError("connect", error)
  }

  // MARK: The connection

  /// Why a completed connect failed; nil if it is connected.
  ///
  /// SO_ERROR alone won't do: RFCOMM closes a channel that was refused late without leaving an error there, so the
  /// channel's state is asked for, too.
  public var failure: SystemError? {
    let pending = piconet_socket_error(descriptor)
    if pending != 0 { return SystemError("connect", pending) }
    if piconet_bluetooth_is_connected(descriptor, kind.number) == 0 { return nil }
    let state = errno
    // It failed between the two calls.
    let late = piconet_socket_error(descriptor)
    return SystemError("connect", late != 0 ? late : state == ENOTCONN ? ECONNREFUSED : state)
  }

  public var localEnd: SocketEnd? { end(isRemote: false) }
  public var remoteEnd: SocketEnd? { end(isRemote: true) }

  private func end(isRemote: Bool) -> SocketEnd? {
    var end = piconet_bluetooth_end()
    guard piconet_bluetooth_name(descriptor, kind.number, isRemote ? 1 : 0, &end) == 0 else { return nil }
    return SocketEnd(end)
  }

  /// The largest SDU each way; nil for RFCOMM, which has none.
  public var mtu: (incoming: Int, outgoing: Int)? {
    switch kind {
    case .rfcomm: return nil
    case .l2cap:
      var options = piconet_l2cap_options()
      guard piconet_l2cap_get_options(descriptor, &options) == 0 else { return nil }
      return (Int(options.incoming_mtu), Int(options.outgoing_mtu))
    case .le:
      var (incoming, outgoing) = (UInt16(0), UInt16(0))
      guard piconet_le_mtus(descriptor, &incoming, &outgoing) == 0 else { return nil }
      return (Int(incoming), Int(outgoing))
    }
  }

  /// The mode that both sides agreed on; nil except for L2CAP. If only one of them asks for ERTM it is basic mode.
  public var mode: SocketSettings.Mode? {
    var options = piconet_l2cap_options()
    guard kind == .l2cap, piconet_l2cap_get_options(descriptor, &options) == 0 else { return nil }
    return Int(options.mode) == piconet_l2cap_ertm ? .enhancedRetransmission : .basic
  }

  /// Sets how many of the sent bytes the kernel keeps, including overhead; the system's limit (net.core.wmem_max) caps
  /// it.
  public func setSendBuffer(_ bytes: Int) {
    // The kernel doubles the given value, and counts overhead against the doubled one.
    _ = piconet_set_option(descriptor, SOL_SOCKET, SO_SNDBUF, Int32(clamping: bytes / 2))
  }

  public func setReceiveBuffer(_ bytes: Int32) {
    _ = piconet_set_option(descriptor, SOL_SOCKET, SO_RCVBUF, bytes / 2)
  }

  public var memory: SocketMemory? {
    var memory = piconet_socket_memory()
    guard piconet_socket_memory(descriptor, &memory) == 0 else { return nil }
    return SocketMemory(
      unread: Int(memory.unread), unsent: Int(memory.unsent), unsentLimit: Int(memory.unsent_limit))
  }

  /// How many bytes the kernel is certain to keep until they are read, if it discards any beyond: in L2CAP's basic
  /// mode. Half of the buffer, since it charges up to twice the size of a full SDU.
  public var unreadLimit: Int? {
    var memory = piconet_socket_memory()
    guard mode == .basic, piconet_socket_memory(descriptor, &memory) == 0 else { return nil }
    return Int(memory.unread_limit) / 2
  }

  /// Whether nothing more follows the bytes in the receive buffer.
  public var hasEnded: Bool { piconet_socket_has_ended(descriptor) != 0 }

  private func check(_ call: String, _ result: Int32) throws(SystemError) {
    if result != 0 { throw SystemError(call, errno) }
  }
}
