/// How one transport failed in an attempt to reach a peer.
public struct TransportFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The transport that was tried.
  public var transport: TransportKind
  /// What it failed with; if there were several addresses, the detail has each.
  public var failure: LinkFailure

  /// The way over this transport has failed.
  public init(_ transport: TransportKind, _ failure: LinkFailure) {
    self.transport = transport
    self.failure = failure
  }

  public var description: String { "\(transport.rawValue): \(failure)" }
}
