import PiconetCalls

/// One method of an interface: its name on the wire, and how it is called.
public struct RemoteMethod<Object: Sendable>: Sendable {
  /// Its description for programs that ask.
  public let description: MethodDescription
  /// Returns the method of one object.
  let bind: @Sendable (Object) -> BoundMethod

  /// Declares a method with a result.
  /// - Parameters:
  ///   - name: the method's name in Swift, without its labels. If two methods of the protocol have one name, with the
  ///     labels, such as `add(_:to:)`.
  ///   - parameters: the names of its parameters for people, in their order.
  ///   - since: the version of the interface that added it. Default 1.
  ///   - call: calls it. It gets the object and the arguments.
  public static func method<each Argument: Codable & Sendable, Result: Codable & Sendable>(
    _ name: String, _ parameters: String..., since: Int = 1,
    call: @escaping @Sendable (Object, repeat each Argument) async throws -> Result
  ) -> RemoteMethod {
    let types = names(of: repeat (each Argument).self)
    return RemoteMethod(
      description: MethodDescription(name, parameters, types, result: RemoteType.name(of: Result.self), since: since)
    ) { object in
      BoundMethod { arguments in
        let values = try (repeat arguments.next((each Argument).self))
        try arguments.finish()
        return try RemoteArguments.encoded(try await call(object, repeat each values))
      }
    }
  }

  /// Declares a method without a result.
  /// - Parameters:
  ///   - name: see above; the remaining parameters mean the same.
  ///   - parameters: the names of its parameters.
  ///   - since: the version of the interface that added it.
  ///   - call: calls it.
  public static func method<each Argument: Codable & Sendable>(
    _ name: String, _ parameters: String..., since: Int = 1,
    call: @escaping @Sendable (Object, repeat each Argument) async throws -> Void
  ) -> RemoteMethod {
    let types = names(of: repeat (each Argument).self)
    return RemoteMethod(description: MethodDescription(name, parameters, types, result: "nothing", since: since)) {
      object in
      BoundMethod { arguments in
        let values = try (repeat arguments.next((each Argument).self))
        try arguments.finish()
        try await call(object, repeat each values)
        return RemoteArguments.nothing
      }
    }
  }

  private static func names<each Argument>(of types: repeat (each Argument).Type) -> [String] {
    var names: [String] = []
    for type in repeat each types { names.append(RemoteType.name(of: type)) }
    return names
  }
}

/// A method of one object. A structure, not the closure alone: a dictionary keeps closures wrapped, and each call would
/// go through two more asynchronous functions.
struct BoundMethod: Sendable {
  /// Reads its arguments, calls the object, and gives its result, encoded.
  let call: @Sendable (inout RemoteArguments) async throws -> [UInt8]
}

/// The description of a method for programs that ask.
public struct MethodDescription: Codable, Hashable, Sendable {
  /// Its name on the wire.
  public var name: String
  /// Its parameters, in their order.
  public var parameters: [Parameter]
  /// The type of its result; `nothing` if it has none.
  public var result: String
  /// The version of the interface that added it.
  public var since: Int

  /// A parameter's name, which is documentation only, and its type.
  public struct Parameter: Codable, Hashable, Sendable {
    /// Empty if it has no name.
    public var name: String
    /// The type's name as `RemoteType` gives it: only for reading, no type is made from it.
    public var type: String
  }

  init(_ name: String, _ parameters: [String], _ types: [String], result: String, since: Int) {
    self.name = name
    self.parameters = types.enumerated().map { index, type in
      Parameter(name: index < parameters.count ? parameters[index] : "", type: type)
    }
    self.result = result
    self.since = since
  }
}

/// The names of types in descriptions of methods.
enum RemoteType {
  static func name(of type: Any.Type) -> String {
    if let named = type as? any NamedRemoteType.Type { return named.remoteName }
    // The name alone: without its module and its generic arguments.
    return "\(type)"
  }
}

private protocol NamedRemoteType { static var remoteName: String { get } }

extension String: NamedRemoteType { static var remoteName: String { "text" } }
extension Bool: NamedRemoteType { static var remoteName: String { "truth" } }
extension Int: NamedRemoteType { static var remoteName: String { "integer" } }
extension Int8: NamedRemoteType { static var remoteName: String { "integer" } }
extension Int16: NamedRemoteType { static var remoteName: String { "integer" } }
extension Int32: NamedRemoteType { static var remoteName: String { "integer" } }
extension Int64: NamedRemoteType { static var remoteName: String { "integer" } }
extension UInt: NamedRemoteType { static var remoteName: String { "integer" } }
extension UInt8: NamedRemoteType { static var remoteName: String { "integer" } }
extension UInt16: NamedRemoteType { static var remoteName: String { "integer" } }
extension UInt32: NamedRemoteType { static var remoteName: String { "integer" } }
extension UInt64: NamedRemoteType { static var remoteName: String { "integer" } }
extension Double: NamedRemoteType { static var remoteName: String { "number" } }
extension Float: NamedRemoteType { static var remoteName: String { "number" } }
extension CBORValue: NamedRemoteType { static var remoteName: String { "anything" } }

extension Optional: NamedRemoteType { static var remoteName: String { RemoteType.name(of: Wrapped.self) + "?" } }
extension Array: NamedRemoteType {
  static var remoteName: String {
    Element.self == UInt8.self ? "bytes" : "[" + RemoteType.name(of: Element.self) + "]"
  }
}
extension Dictionary: NamedRemoteType {
  static var remoteName: String { "[\(RemoteType.name(of: Key.self)): \(RemoteType.name(of: Value.self))]" }
}
