/// A line of this device's memory of others that says nothing that can be read. It counts for nothing and stays in the file as it is.
public struct DamagedLine: Sendable, Hashable {
  /// The file.
  public let path: String
  /// Counted from 1.
  public let line: Int
  /// What is wrong with it, for a person; nothing of the line itself.
  public let reason: String
}
