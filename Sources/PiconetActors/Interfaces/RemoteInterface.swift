import Distributed
import PiconetCalls

/// The methods of a protocol that may be called remotely, under names and versions of their own. With it, a service and
/// a client that were built at different times understand one another. It is declared once, beside the protocol.
///
/// A version is a number that grows when methods are added. A client of version 3 calls a service of version 1 as long
/// as it keeps to the methods of version 1; any other call is refused with `wrongVersion`. The parameters and result of
/// a method never change; a method that has to change gets another name. Raise `servesFrom` when you remove methods.
public struct RemoteInterface: Sendable {
  /// Its name on the wire: 1 to 127 bytes of ASCII letters and digits, `.`, `-` and `_`, such as `org.example.lamp`.
  public let name: String
  /// The present version: 1 or more.
  public let version: Int
  /// The oldest version whose clients are served.
  public let oldest: Int
  /// Its methods.
  public let methods: [MethodDescription]
  let errors: [String: any (Error & Codable).Type]
  let bind: @Sendable (any DistributedActor) -> BoundMethods?
  /// What is wrong with the declaration, or what is missing in it; nil if it is correct.
  let fault: RemoteCallError?

  typealias BoundMethods = [String: BoundMethod]

  /// Creates an interface with these methods. Faults, such as a name twice or a distributed method of the protocol that
  /// is not declared, are reported when an object is published and when a client asks for one.
  /// - Parameters:
  ///   - name: its name on the wire.
  ///   - version: the present version. Default 1.
  ///   - oldest: the oldest version whose clients are served. Default 1.
  ///   - object: the protocol, as `(any Concatenating).self`.
  ///   - errors: the errors that clients get as they were thrown, by names on the wire. Of any other error a client
  ///     learns only that one was thrown.
  ///   - methods: each method that may be called.
  public init<Object: Sendable>(
    _ name: String, version: Int = 1, servesFrom oldest: Int = 1, of object: Object.Type,
    errors: [String: any (Error & Codable).Type] = [:], methods: [RemoteMethod<Object>]
  ) {
    self.name = name
    self.version = version
    self.oldest = oldest
    self.methods = methods.map(\.description)
    self.errors = errors
    let byName = Dictionary(methods.map { ($0.description.name, $0) }) { first, _ in first }
    bind = { actor in
      guard let object = actor as? Object else { return nil }
      return byName.mapValues { $0.bind(object) }
    }
    if let text = Self.fault(name, version, oldest, self.methods, errors.keys.sorted()) {
      fault = RemoteCallError(.invalidArgument, detail: text)
    } else {
      let missing = Self.missing(in: self.methods, DistributedMethods.names(of: object))
      fault = missing.map { RemoteCallError(.notDeclared, detail: "\(name) \($0)") }
    }
  }

  /// - Parameter names: the names of the protocol's distributed methods, with their labels.
  private static func missing(in methods: [MethodDescription], _ names: [String]) -> String? {
    var found: [String: String] = [:]
    for name in names {
      guard let method = Self.method(of: name, in: methods) else { return "does not declare \(name)" }
      if let other = found.updateValue(name, forKey: method.name) {
        return "has '\(method.name)' for \(other) and \(name): methods of one name are declared with their labels"
      }
    }
    return nil
  }

  private static func fault(
    _ name: String, _ version: Int, _ oldest: Int, _ methods: [MethodDescription], _ errors: [String]
  ) -> String? {
    let names = [name] + methods.map(\.name) + errors
    if let wrong = names.first(where: { !CallLimits.isName($0) }) {
      return "'\(wrong)' is no name: 1 to \(CallLimits.name) bytes of ASCII letters and digits, '.', '-' and '_'"
    }
    if version < 1 || oldest < 1 || oldest > version { return "\(name) has version \(version), and serves \(oldest)" }
    if let wrong = methods.first(where: { !(1...version).contains($0.since) }) {
      return "\(wrong.name) is of version \(wrong.since), and \(name) has \(version)"
    }
    var seen: Set<String> = []
    if let twice = methods.first(where: { !seen.insert($0.name).inserted }) {
      return "\(name) has \(twice.name) twice: declare both with their labels"
    }
    return nil
  }

  /// Returns the method for a target of the `Distributed` module, such as `Service.concatenate(_:_:)`: declared by its
  /// name with labels; or without, if it has as many parameters.
  /// - Parameter name: the target, without its type.
  func method(of name: String) -> MethodDescription? { Self.method(of: name, in: methods) }

  private static func method(of name: String, in methods: [MethodDescription]) -> MethodDescription? {
    if let method = methods.first(where: { $0.name == name }) { return method }
    let base = name.prefix { $0 != "(" }
    let labels = name.count(where: { $0 == ":" })
    return methods.first { $0.name == base && (base == name || $0.parameters.count == labels) }
  }
}
