/// How one transport failed in an attempt to reach a peer.
public struct TransportFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The transport that was tried.
  public var transport: TransportKind
  /// The failure of the transport. If there were several addresses, the detail has the failure of each.
  public var failure: LinkFailure

  /// Makes the failure of this transport.
  public init(_ transport: TransportKind, _ failure: LinkFailure) {
    self.transport = transport
    self.failure = failure
  }

  public var description: String { "\(transport.rawValue): \(failure)" }
}
