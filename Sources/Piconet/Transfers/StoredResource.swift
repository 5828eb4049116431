/// What the remote side has made of a resource.
struct StoredResource: Sendable {
  /// As the remote side says.
  var name: [UInt8]
  /// It had this very content before.
  var wasThere: Bool
}
