/// What an event says, and how it is written: each member stands beside the property that it comes from.
protocol EventMembers: Hashable, Sendable {
  /// Adds the members, in the order of EVENTS.md.
  func add(to object: inout JSONObject)
}

/// An event as one line of JSON, ending with a newline.
enum EventLine {
  static func text(_ event: ProgramEvent) -> String {
    let (name, members) = event.report
    var object = JSONObject()
    object.add("event", name)
    members.add(to: &object)
    return object.line + "\n"
  }
}
