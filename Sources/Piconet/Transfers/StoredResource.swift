/// How a resource is stored on the remote side.
struct StoredResource: Sendable {
  /// As the remote side reports it.
  var name: [UInt8]
  /// Whether it had this very content before.
  var wasAlreadyPresent: Bool
}
