import PiconetWire

/// A rule of the wire format that the remote side has broken. The breach ends its link and the association.
struct Breach: Error, Equatable {
  var reason: Reason
  /// The broken rule, as a human-readable message.
  var detail: String

  init(_ detail: String, _ reason: Reason = .protocolBroken) {
    self.detail = detail
    self.reason = reason
  }
}
