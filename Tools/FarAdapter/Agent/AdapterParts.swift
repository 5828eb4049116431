import PiconetEngine
import PiconetRuntime

/// What an agent serves: the transports and the discovery of one node. Confined to the loop that they are made for.
public struct AdapterParts {
  public var transports: [any Transport]
  public var discovery: (any Discovery)?
  /// Whether the adapter answers dials at this moment.
  public var answersPaging: () -> Bool
  /// Ends everything, and calls its argument on the loop when nothing is left.
  public var shutDown: (@escaping () -> Void) -> Void

  public init(
    transports: [any Transport], discovery: (any Discovery)?, answersPaging: @escaping () -> Bool = { true },
    shutDown: @escaping (@escaping () -> Void) -> Void
  ) {
    self.transports = transports
    self.discovery = discovery
    self.answersPaging = answersPaging
    self.shutDown = shutDown
  }

  /// Makes the parts that a node wants, on this loop.
  public typealias Making = @Sendable (EventLoop, AdapterOpening) throws(RelayError) -> AdapterParts
}
