import PiconetWire

extension ConnectRace {
  /// Returns one failure for each transport, in the order in which the transports first failed. It has the most telling
  /// code, and the reason of each address.
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
    // A refusal means that no process listens there any more. It counts only if no address was silent, since the peer
    // may be at a silent one.
    if !codes.isDisjoint(with: [.timedOut, .hostDown]) { codes.remove(.refused) }
    let byWeight: [LinkFailure.Code] = [
      .tooManyDescriptors, .authentication, .refused, .reset, .permission, .busy, .timedOut, .hostDown, .unreachable,
      .notAvailable,
    ]
    let code = byWeight.first(where: codes.contains) ?? failures[0].code
    return LinkFailure(code, told(failures.map(\.description)))
  }

  /// Returns each reason once, and no more reasons than a person reads.
  private static func told(_ reasons: [String]) -> String {
    var each: [String] = []
    for reason in reasons where !each.contains(reason) { each.append(reason) }
    let shown = each.prefix(reasonLimit)
    return shown.joined(separator: "; ") + (each.count > shown.count ? "; and \(each.count - shown.count) more" : "")
  }

  private static let reasonLimit = 16

  /// Returns the failures as a human-readable message. Transports that failed for the same reason are listed together.
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
  /// Returns whether a link to `remoteAddress` leads to this address. Without a number an address means the whole
  /// device.
  func leads(to remoteAddress: String) -> Bool { remoteAddress == text || remoteAddress.hasPrefix(text + "/") }

  /// The device in the address: all but the port, PSM or channel.
  var host: Substring { text.lastIndex(of: kind.portSeparator).map { text[..<$0] } ?? text[...] }
}
