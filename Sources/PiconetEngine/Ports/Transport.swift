import PiconetWire

/// An address at which a peer can be dialled.
public struct TransportAddress: Sendable, Hashable, CustomStringConvertible {
  /// The transport that reaches it.
  public var kind: TransportKind
  /// The address in the form of its transport, such as `192.168.1.7:49152` or `[fe80::1%eth0]:49152`.
  public var text: String

  /// Makes the address with this text. Only its transport can say whether the text is an address.
  public init(kind: TransportKind, text: String) {
    self.kind = kind
    self.text = text
  }

  /// Makes the address of a listener at this port of a device.
  /// - Parameter host: the host in the form of `LinkTraits.remoteHost`.
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

/// The port of one transport. It is confined to the loop that made it.
public protocol Transport: AnyObject {
  /// The kind of all its links and addresses.
  var kind: TransportKind { get }
  /// Dials all addresses (of this kind; 16 at most), raced as the transport knows best. Calls `completion` exactly
  /// once, on the loop, never from within this call. The failure of every address is in the error's detail.
  /// - Returns: an object that cancels the dial; the completion then gets `.cancelled`.
  func dial(
    _ addresses: [TransportAddress], completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) -> any DialCancellation
  /// Listens, and hands over every accepted link, until `stopListening`.
  /// - Throws: the reason why it can't listen.
  func listen(_ accepted: @escaping (any LinkEndpoint) -> Void) throws(LinkFailure)
  /// The number that a dialler states besides the device: TCP's port, L2CAP's PSM, RFCOMM's channel. Nil while not
  /// listening.
  var listeningPort: UInt16? { get }
  /// The addresses under which we can be dialled while listening.
  var listeningAddresses: [TransportAddress] { get }
  /// Stops handing over links. Those handed over before stay open.
  func stopListening()
  /// Sets a handler, which is called on the loop in two cases: if `listeningPort` has changed without our call,
  /// and if listening may work now after it failed, because an adapter came or went. A transport without such changes
  /// ignores it.
  func setListeningHandler(_ changed: @escaping () -> Void)
}

extension Transport {
  /// Does nothing, for transports whose port changes only when they are told to listen.
  public func setListeningHandler(_ changed: @escaping () -> Void) {}
}

/// The object that ends a dial under way. It is confined to the loop of its transport.
public protocol DialCancellation: AnyObject {
  /// Ends the dial. Idempotent; has no effect after completion.
  func cancel()
}
