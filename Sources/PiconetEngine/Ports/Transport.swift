import PiconetWire

/// Where a peer can be dialled.
public struct TransportAddress: Sendable, Hashable, CustomStringConvertible {
  /// The transport that reaches it.
  public var kind: TransportKind
  /// What the transport of that kind understands, such as `192.168.1.7:49152` or `[fe80::1%eth0]:49152`.
  public var text: String

  public init(kind: TransportKind, text: String) {
    self.kind = kind
    self.text = text
  }

  public var description: String { "\(kind.rawValue) \(text)" }
}

/// The port of one way to reach peers; confined to the loop that made it.
public protocol Transport: AnyObject {
  var kind: TransportKind { get }
  /// Dials all addresses (of this kind), raced as the transport knows best, and calls `completion` exactly once, on the
  /// loop, never from within this call. The failure of every address is in the error's detail.
  /// - Returns: what cancels the dial: the completion then gets `.cancelled`.
  func dial(
    _ addresses: [TransportAddress], completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) -> any DialCancellation
  /// Listens, and hands every accepted link over, until `stopListening`.
  /// - Throws: why it can't listen.
  func listen(_ accepted: @escaping (any LinkEndpoint) -> Void) throws(LinkFailure)
  /// What a dialler names beside the device: TCP's port, L2CAP's PSM, RFCOMM's channel; nil while not listening.
  var listeningPort: UInt16? { get }
  /// The addresses under which we can be dialled while listening.
  var listeningAddresses: [TransportAddress] { get }
  func stopListening()
  /// `changed` is called on the loop when what `listeningPort` says has changed by itself, or listening may work now
  /// where it failed before: an adapter came or went. A transport that knows no such change ignores it.
  func setListeningHandler(_ changed: @escaping () -> Void)
}

extension Transport {
  /// What it listens on never changes by itself.
  public func setListeningHandler(_ changed: @escaping () -> Void) {}
}

/// What ends a dial that is under way; confined to the loop of its transport.
public protocol DialCancellation: AnyObject {
  /// Idempotent; has no effect after completion.
  func cancel()
}
