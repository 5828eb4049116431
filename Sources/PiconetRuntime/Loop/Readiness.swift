/// The kinds of events that are wanted of a descriptor, or for which it is ready.
public struct Readiness: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let read = Readiness(rawValue: 1)
  public static let write = Readiness(rawValue: 2)
}

/// Receives the readiness of a descriptor. Called on the loop.
public protocol DescriptorHandler: AnyObject {
  /// The descriptor is ready for `readiness`, a subset of the wanted kinds; a descriptor in error or hung up counts as
  /// readable as well. Level-triggered: called again in each round as long as it stays ready and wanted.
  func descriptorIsReady(_ readiness: Readiness)
}
