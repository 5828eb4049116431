import PiconetDBusValues

/// A method of Avahi's to call.
struct AvahiCall: Sendable, Hashable {
  /// What the answer is for.
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
    /// Nothing depends on it.
    case none
  }

  /// Which of Avahi's lives on the bus it is for: an answer of a former one no longer counts.
  var life: Int
  var purpose: Purpose
  var path: String
  var interface: String
  var member: String
  var arguments: [DBusValue] = []
}
