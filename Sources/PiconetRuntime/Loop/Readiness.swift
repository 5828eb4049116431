/// What a descriptor is wanted for, or ready for.
public struct Readiness: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let read = Readiness(rawValue: 1)
  public static let write = Readiness(rawValue: 2)
}

/// Told that a descriptor is ready. Called on the loop.
public protocol DescriptorHandler: AnyObject {
  /// The descriptor is ready for `readiness`, a part of what is wanted; a descriptor in error or hung up counts as
  /// readable as well. Level-triggered: called again in each round as long as it stays ready and wanted.
  func descriptorIsReady(_ readiness: Readiness)
}
