import PiconetDBusValues

/// A call of an Avahi method.
struct AvahiCall: Sendable, Hashable {
  /// The purpose of the answer.
  enum Purpose: Sendable, Hashable {
    case state
    /// An entry group for the publication with this number.
    case group(Int)
    /// The entries of a publication, as they were filled in this time.
    case entries(Int, filling: Int)
    /// Whether a publication can be found over a family.
    case proof(Int, filling: Int, isIPv6: Bool)
    case browser(isIPv6: Bool, number: Int)
    case resolver(AvahiInstance.Key, number: Int)
    /// No further step depends on the answer.
    case none
  }

  /// The run of Avahi that the call is for: an answer of a former run no longer counts.
  var life: Int
  var purpose: Purpose
  var path: String
  var interface: String
  var member: String
  var arguments: [DBusValue] = []
}
