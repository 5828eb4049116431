import Foundation

/// The administrator's description of this machine (machine-info(5)).
enum MachineInfo {
  static var text: String { (try? String(contentsOfFile: "/etc/machine-info", encoding: .utf8)) ?? "" }

  /// Returns the value of PRETTY_HOSTNAME, if it is set and not empty: quoted as a shell would, or not.
  static func prettyName(in text: String) -> String? {
    let key = "PRETTY_HOSTNAME="
    guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix(key) }) else { return nil }
    var value = line.dropFirst(key.count)
    var isEscaping = true
    if let quote = value.first, quote == "\"" || quote == "'", value.count > 1, value.last == quote {
      value = value.dropFirst().dropLast()
      isEscaping = quote == "\""
    }
    // What hostnamectl writes: a backslash takes the next one as it is.
    let name = isEscaping ? value.replacing(/\\(.)/) { $0.1 } : value
    return name.isEmpty ? nil : String(name)
  }
}
