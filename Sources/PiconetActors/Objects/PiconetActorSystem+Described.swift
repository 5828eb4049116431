import Piconet
import PiconetCalls

extension PiconetActorSystem {
  /// Calls a method that is known from its description alone, as an interactive tool does. Ends as any other call.
  /// - Parameters:
  ///   - method: a method of that interface, as `objects(of:under:)` returned it.
  ///   - object: the object that has it.
  ///   - member: the member that serves the object.
  ///   - arguments: as many as the method has parameters. The callee checks whether they have its types.
  ///   - time: how long to wait.
  /// - Returns: its result; null if it has none.
  /// - Throws: `RemoteCallError`; `wrongArguments` for another number of arguments, and then nothing was sent.
  package func call(
    _ method: MethodDescription, of object: ObjectDescription, of member: Member, arguments: [CBORValue],
    within time: Duration
  ) async throws(RemoteCallError) -> CBORValue {
    guard arguments.count == method.parameters.count else {
      throw RemoteCallError(
        .wrongArguments, node: member.id,
        detail: "\(method.name) takes \(method.parameters.count) arguments, and not \(arguments.count)")
    }
    var writer = CBORWriter(reserving: 64)
    for argument in arguments { writer.value(argument) }
    let result = try await conversation(with: member.id).call(
      path: object.path, interface: object.interface.name, version: object.interface.version, method: method.name,
      within: time, arguments: writer, count: arguments.count)
    do throws(CBORError) {
      return try CBORValue(decoding: result)
    } catch {
      throw RemoteCallError(.protocolBroken, node: member.id, detail: "the result is no data item: \(error)")
    }
  }
}
