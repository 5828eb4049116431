import Distributed
import PiconetCalls

/// Takes the arguments of a call from the compiler's code. The types that `Distributed` states are left out, since the
/// table of methods has them.
public struct RemoteCallEncoder: DistributedTargetInvocationEncoder {
  public typealias SerializationRequirement = any Codable

  /// The arguments, one behind the other.
  private(set) var arguments = CBORWriter(reserving: 64)
  private(set) var count = 0

  init() {}

  /// Ignored.
  public mutating func recordGenericSubstitution<Type>(_ type: Type.Type) throws {}

  /// Encodes one argument.
  public mutating func recordArgument<Value: Codable>(_ argument: RemoteCallArgument<Value>) throws {
    count += 1
    do {
      try CBOREncoder().encode(argument.value, into: &arguments)
    } catch {
      throw RemoteCallError(.wrongArguments, detail: "argument \(count) can't be encoded: \(error)")
    }
  }

  /// Ignored.
  public mutating func recordErrorType<Failure: Error>(_ type: Failure.Type) throws {}

  /// Ignored.
  public mutating func recordReturnType<Value: Codable>(_ type: Value.Type) throws {}

  /// Ignored.
  public mutating func doneRecording() throws {}
}

/// Required by `Distributed` beside the encoder. Incoming calls are never made through mangled names, so it decodes
/// nothing.
public struct RemoteCallDecoder: DistributedTargetInvocationDecoder {
  public typealias SerializationRequirement = any Codable

  /// Returns an empty list.
  public mutating func decodeGenericSubstitutions() throws -> [any Any.Type] { [] }

  /// Always throws.
  public mutating func decodeNextArgument<Argument: Codable>() throws -> Argument {
    throw RemoteCallError(.invalidArgument, detail: "calls are made through the table of methods")
  }

  /// Returns nil.
  public mutating func decodeErrorType() throws -> (any Any.Type)? { nil }

  /// Returns nil.
  public mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
}

/// Required by `Distributed` beside the decoder. It is never used.
public struct RemoteResultHandler: DistributedTargetInvocationResultHandler {
  public typealias SerializationRequirement = any Codable

  /// Ignored.
  public func onReturn<Value: Codable>(value: Value) async throws {}
  /// Ignored.
  public func onReturnVoid() async throws {}
  /// Ignored.
  public func onThrow<Failure: Error>(error: Failure) async throws {}
}
