/// How a resource is stored on the remote side.
struct StoredResource: Sendable {
  /// The name, as the remote side reports it.
  var name: [UInt8]
  /// Whether the remote side had the same content before.
  var wasAlreadyPresent: Bool
}
