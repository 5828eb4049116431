/// What came of one transport in an attempt to reach a peer.
public struct TransportFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The transport that was tried.
  public var transport: TransportKind
  /// What it failed with; of several addresses each is in the detail.
  public var failure: LinkFailure

  public init(_ transport: TransportKind, _ failure: LinkFailure) {
    self.transport = transport
    self.failure = failure
  }

  public var description: String { "\(transport.rawValue): \(failure)" }
}
