/// What the tool was told to do.
enum Errand: Sendable {
  case advertise(name: String, port: UInt16, session: String, info: [String: String])
  case browse(session: String, seconds: Int64)

  /// - Returns: nil for anything that is not in the usage.
  init?(_ arguments: [String]) {
    if arguments.count >= 4, arguments[0] == "advertise", let port = UInt16(arguments[2]) {
      var info: [String: String] = [:]
      for pair in arguments.dropFirst(4) {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        info[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
      }
      self = .advertise(name: arguments[1], port: port, session: arguments[3], info: info)
    } else if arguments.count == 3, arguments[0] == "browse", let seconds = Int64(arguments[2]) {
      self = .browse(session: arguments[1], seconds: seconds)
    } else {
      return nil
    }
  }

  var duration: Duration { if case .browse(_, let seconds) = self { .seconds(seconds) } else { .seconds(86_400) } }
}
