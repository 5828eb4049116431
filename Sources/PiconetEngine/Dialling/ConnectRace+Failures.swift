import PiconetWire

extension ConnectRace {
  /// One failure for each transport, in the order in which they failed first: with the most telling code, and the
  /// reason of each of its addresses.
  static func merged(_ losses: [TransportFailure]) -> [TransportFailure] {
    var merged: [TransportFailure] = []
    for kind in losses.map(\.transport) where !merged.contains(where: { $0.transport == kind }) {
      let failures = losses.filter { $0.transport == kind }.map(\.failure)
      merged.append(TransportFailure(kind, failures.count == 1 ? failures[0] : combined(failures)))
    }
    return merged
  }

  private static func combined(_ failures: [LinkFailure]) -> LinkFailure {
    var codes = Set(failures.map(\.code))
    // A refusal says that nobody listens there any more, so it counts only if no address was silent: the peer may be at
    // a silent one.
    if !codes.isDisjoint(with: [.timedOut, .hostDown]) { codes.remove(.refused) }
    let byWeight: [LinkFailure.Code] = [
      .tooManyDescriptors, .authentication, .refused, .reset, .permission, .busy, .timedOut, .hostDown, .unreachable,
      .notAvailable,
    ]
    let code = byWeight.first(where: codes.contains) ?? failures[0].code
    return LinkFailure(code, told(failures.map(\.description)))
  }

  /// Each reason once, and no more of them than a person reads.
  private static func told(_ reasons: [String]) -> String {
    var each: [String] = []
    for reason in reasons where !each.contains(reason) { each.append(reason) }
    let shown = each.prefix(reasonLimit)
    return shown.joined(separator: "; ") + (each.count > shown.count ? "; and \(each.count - shown.count) more" : "")
  }

  private static let reasonLimit = 16

  /// The failures as a human-readable message. Transports that failed for the same reason are listed together.
  static func describe(_ failures: [TransportFailure]) -> String {
    var told: [(kinds: [String], reason: String)] = []
    for failure in failures {
      let reason = failure.failure.description
      if let index = told.firstIndex(where: { $0.reason == reason }) {
        told[index].kinds.append(failure.transport.rawValue)
      } else {
        told.append(([failure.transport.rawValue], reason))
      }
    }
    return told.map { "\($0.kinds.joined(separator: ", ")): \($0.reason)" }.joined(separator: "; ")
  }
}

extension TransportAddress {
  /// Whether a link to `remoteAddress` leads to this address; without a number an address means the whole device.
  func leads(to remoteAddress: String) -> Bool { remoteAddress == text || remoteAddress.hasPrefix(text + "/") }

  /// The device in it: all but the port, PSM or channel.
  var host: Substring { text.lastIndex(of: kind.portSeparator).map { text[..<$0] } ?? text[...] }
}
