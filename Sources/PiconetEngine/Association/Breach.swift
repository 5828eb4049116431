import PiconetWire

/// A rule of the wire format that the remote side has broken: this ends its link and the association.
struct Breach: Error, Equatable {
  var reason: Reason
  /// The rule, for people.
  var detail: String

  init(_ detail: String, _ reason: Reason = .protocolBroken) {
    self.detail = detail
    self.reason = reason
  }
}
