import Piconet
import PiconetActors
import PiconetCalls

/// `piconet introspect`: what a program's objects can be asked.
struct IntrospectProgram: Sendable {
  let arguments: IntrospectArguments
  let environment: ProgramEnvironment
  let console: Console

  func run() async {
    await ObjectLink(arguments: arguments.link, environment: environment, console: console).run { system, member in
      let objects = try await system.objects(of: member, under: arguments.prefix)
      if objects.isEmpty {
        throw TransferFailure(
          word: "no-such-object", message: "no object whose path begins with \(arguments.prefix)", exitCode: .refused)
      }
      for object in objects {
        if arguments.json {
          // Any value of this type can be encoded.
          console.write(peersLine: try CBOREncoder().value(of: object).json)
        } else {
          for line in Self.lines(object) { console.result(console.safe(line), evenIfQuiet: true) }
        }
      }
    }
  }

  /// A readable description of an object, in the peer's own words.
  static func lines(_ object: ObjectDescription) -> [String] {
    let interface = object.interface
    let versions = interface.oldest < interface.version ? ", serves clients from \(interface.oldest) on" : ""
    return ["\(object.path)  \(interface.name), version \(interface.version)\(versions)"]
      + interface.methods.map { method in
        "  \(signature(method))" + (method.since > 1 ? "   since version \(method.since)" : "")
      }
  }

  /// As `brighten(by: integer) -> number`.
  static func signature(_ method: MethodDescription) -> String {
    let base = method.name.prefix { $0 != "(" }
    let parameters = method.parameters.map { $0.name.isEmpty ? $0.type : "\($0.name): \($0.type)" }
    let result = method.result == "nothing" ? "" : " -> \(method.result)"
    return "\(base)(\(parameters.joined(separator: ", ")))\(result)"
  }
}
