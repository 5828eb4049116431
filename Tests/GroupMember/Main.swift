import Foundation
import Piconet

/// `group-member NAME ADDRESS [OPTION=VALUE ...]` is a node of a group that listens at this address of TCP, for the
/// second implementation to meet. It accepts every invitation, does what each line on standard input says, and tells
/// what happens as a line of JSON each. Nodes are written as `NodeID.text`. It ends with its input.
///
/// - `session=`: the session's id; `capacity=`: places; `available=no`: it hides, and listens for its members alone.
/// - `invitations=decline`: it accepts no invitation. `timeout=`: for how many seconds it misses a member.
/// - `introductions=refuse`: it follows none; without that it takes members' word. `removals=members`: it follows
///   every member's wish that a member be removed.
/// - `compare=same` and `compare=different` are what its user says of a code; with `compare=wait` nothing. Without the
///   option it compares no codes.
@main enum Main {
  static func main() async {
    var words = CommandLine.arguments.dropFirst()
    guard let name = words.popFirst(), let address = words.popFirst() else { exit(2) }
    var configuration = NodeConfiguration(sessionID: "interoperability", name: name)
    configuration.listen = address
    configuration.interfaces = ["lo"]
    configuration.discovers = false
    configuration.transports = [.tcp]
    configuration.membership = .group
    configuration.introductions = .takeWord
    var (isAvailable, acceptsInvitations) = (true, true)
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      switch (parts.first, parts.last) {
      case ("session", let id?): configuration.sessionID = id
      case ("capacity", let count?): configuration.capacity = Int(count) ?? 0
      case ("available", "no"): isAvailable = false
      case ("timeout", let seconds?): configuration.disconnectTimeout = .seconds(Int(seconds) ?? 0)
      case ("invitations", "decline"): acceptsInvitations = false
      case ("introductions", "refuse"): configuration.introductions = .refuse
      case ("removals", "members"): configuration.removals = .members
      case ("compare", let answer?): configuration.compare = { await isSame($1, as: $0, answer: answer) }
      default: exit(2)
      }
    }
    do {
      try await Node.run(configuration) { node in
        if isAvailable { try await node.setAvailable(true) }
        await GroupMember(node: node, acceptsInvitations: acceptsInvitations).follow()
      }
    } catch {
      say("failed", ["error": "\(error)"])
      exit(1)
    }
  }

  /// What the user says of a code, once it has been told.
  private static func isSame(_ code: String, as member: Member, answer: String) async -> Bool {
    say("code", ["member": member.id.text, "code": code])
    if answer == "wait" { for await _ in AsyncStream<Void>.makeStream().stream {} }
    return answer == "same"
  }
}

/// Writes an event, whole lines at a time, whichever tasks write.
func say(_ event: String, _ fields: [String: any Sendable] = [:]) {
  let object = fields.merging(["event": event]) { field, _ in field }
  guard let line = try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys) else { exit(3) }
  FileHandle.standardOutput.write(line + Data("\n".utf8))
}

/// As above, with why something has ended, or that nothing was wrong.
func say(_ event: String, _ fields: [String: any Sendable], _ error: PiconetError?) {
  var fields = fields
  fields["code"] = error?.code.rawValue ?? "none"
  fields["blame"] = error?.blame.rawValue ?? ""
  fields["detail"] = error?.detail ?? ""
  fields["removedBy"] = error?.removedBy?.text ?? ""
  say(event, fields)
}
