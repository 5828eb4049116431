import PiconetDBusValues

/// A notification for the desktop, by the Desktop Notifications Specification (1.2).
package struct DesktopNotification: Hashable, Sendable {
  package struct Action: Hashable, Sendable {
    /// The key that the desktop returns when a person chooses the action.
    package var key: String
    package var label: String

    package init(key: String, label: String) { (self.key, self.label) = (key, label) }
  }

  package var program: String
  package var summary: String
  /// Plain text: markup in it is shown as it is.
  package var body: String
  package var actions: [Action]
  /// Whether it stays until it is answered, dismissed or withdrawn; otherwise as long as the desktop likes.
  package var isQuestion = true

  package init(program: String, summary: String, body: String, actions: [Action] = []) {
    (self.program, self.summary, self.body, self.actions) = (program, summary, body, actions)
  }

  /// Returns the arguments of the method Notify.
  /// - Parameter markup: whether this desktop interprets the body as markup.
  func arguments(markup: Bool) -> [DBusValue] {
    // Strangers ask too, so a question must not get past "do not disturb".
    let normal = DBusValue.properties(["urgency": .byte(1)])
    return [
      .string(program), .uint32(0), .string(""), .string(summary), .string(markup ? Self.escaped(body) : body),
      .strings(actions.flatMap { [$0.key, $0.label] }), normal, .int32(isQuestion ? 0 : -1),
    ]
  }

  static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
