import PiconetWire

/// Where a peer can be dialled.
public struct TransportAddress: Sendable, Hashable, CustomStringConvertible {
  /// The transport that reaches it.
  public var kind: TransportKind
  /// What the transport of that kind understands, such as `192.168.1.7:49152` or `[fe80::1%eth0]:49152`.
  public var text: String

  /// The address of this text, of which only its transport can say whether it is one.
  public init(kind: TransportKind, text: String) {
    self.kind = kind
    self.text = text
  }

  /// The address of a listener at this port of a device.
  /// - Parameter host: as `LinkTraits.remoteHost` has it.
  /// - Returns: nil for a kind without ports.
  init?(_ kind: TransportKind, host: String, port: UInt16) {
    switch kind {
    case .tcp: self.init(kind: kind, text: "\(host):\(port)")
    case .rfcomm: self.init(kind: kind, text: "\(host)/\(port)")
    case .l2cap, .le:
      let digits = String(port, radix: 16)
      self.init(kind: kind, text: "\(host)/0x" + String(repeating: "0", count: 4 - digits.count) + digits)
    case .relay, .simulated: return nil
    }
  }

  public var description: String { "\(kind.rawValue) \(text)" }
}

/// The port of one way to reach peers; confined to the loop that made it.
public protocol Transport: AnyObject {
  /// The kind of all its links and addresses.
  var kind: TransportKind { get }
  /// Dials all addresses (of this kind; 16 at most), raced as the transport knows best, and calls `completion` exactly
  /// once, on the loop, never from within this call. The failure of every address is in the error's detail.
  /// - Returns: an object that cancels the dial: the completion then gets `.cancelled`.
  func dial(
    _ addresses: [TransportAddress], completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) -> any DialCancellation
  /// Listens, and hands every accepted link over, until `stopListening`.
  /// - Throws: why it can't listen.
  func listen(_ accepted: @escaping (any LinkEndpoint) -> Void) throws(LinkFailure)
  /// What a dialler names besides the device: TCP's port, L2CAP's PSM, RFCOMM's channel; nil while not listening.
  var listeningPort: UInt16? { get }
  /// The addresses under which we can be dialled while listening.
  var listeningAddresses: [TransportAddress] { get }
  /// Hands no more links over; those that were handed over stay open.
  func stopListening()
  /// Sets a handler, which is called on the loop when `listeningPort` has changed without a call of ours, or when
  /// listening may work now after it failed: an adapter came or went. A transport without such changes ignores it.
  func setListeningHandler(_ changed: @escaping () -> Void)
}

extension Transport {
  /// Does nothing, for transports whose port changes only when they are told to listen.
  public func setListeningHandler(_ changed: @escaping () -> Void) {}
}

/// What ends a dial that is under way; confined to the loop of its transport.
public protocol DialCancellation: AnyObject {
  /// Idempotent; has no effect after completion.
  func cancel()
}
