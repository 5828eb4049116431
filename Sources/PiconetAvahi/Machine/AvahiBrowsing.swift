/// One browser of Avahi, for one family.
struct AvahiBrowsing: Sendable, Hashable {
  var number: Int
  /// Nil until Avahi has answered.
  var path: String?
  /// The interfaces whose instances count; nil: all.
  var interfaces: Set<UInt32>?
}
