import Piconet
import PiconetActors
import PiconetCalls

/// `piconet call`: one call of one method, whose arguments are words.
struct CallProgram: Sendable {
  let arguments: CallArguments
  let environment: ProgramEnvironment
  let console: Console

  func run() async {
    await ObjectLink(arguments: arguments.link, environment: environment, console: console).run { system, member in
      let objects = try await system.objects(of: member, under: arguments.path)
      guard let object = objects.first(where: { $0.path == arguments.path }) else {
        let others = objects.isEmpty ? "" : "; there is \(objects.prefix(3).map(\.path).joined(separator: ", "))"
        throw TransferFailure(
          word: "no-such-object", message: "no object at \(arguments.path)\(others)", exitCode: .refused)
      }
      let method = try Self.method(arguments.method, of: object)
      let values = try CallWords.values(of: arguments.words, for: method)
      let result = try await system.call(
        method, of: object, of: member, arguments: values, within: arguments.link.timeout)
      guard method.result != "nothing" else { return }
      if arguments.isRaw, case .text(let text) = result {
        console.write(peersLine: text)
      } else {
        console.write(peersLine: result.json)
      }
    }
  }

  /// Returns the method that a person means: by its whole name, or by the part before its labels if only one method
  /// begins so.
  static func method(_ name: String, of object: ObjectDescription) throws(TransferFailure) -> MethodDescription {
    let methods = object.interface.methods
    if let method = methods.first(where: { $0.name == name }) { return method }
    let likely = methods.filter { $0.name.prefix { $0 != "(" } == name }
    if likely.count == 1 { return likely[0] }
    let all = (likely.isEmpty ? methods : likely).prefix(20).map(IntrospectProgram.signature).joined(separator: "; ")
    let problem = likely.isEmpty ? "has no method '\(name)'" : "has several methods '\(name)': give one with its labels"
    throw TransferFailure(
      word: "unknown-method", message: "\(object.path) \(problem); it has \(all.isEmpty ? "none" : all)",
      exitCode: .refused)
  }
}
