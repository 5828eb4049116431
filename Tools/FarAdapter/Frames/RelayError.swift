/// Why the control connection between two machines can't go on, in words for a person.
public struct RelayError: Error, Sendable, Hashable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
