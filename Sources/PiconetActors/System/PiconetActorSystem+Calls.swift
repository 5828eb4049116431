import Distributed
import Piconet
import PiconetCalls

extension PiconetActorSystem {
  // MARK: Our calls

  /// Makes a call for the compiler's code.
  public func remoteCall<Act, Failure, Value>(
    on actor: Act, target: RemoteCallTarget, invocation: inout RemoteCallEncoder, throwing: Failure.Type,
    returning: Value.Type
  ) async throws -> Value where Act: DistributedActor, Act.ID == RemoteObjectID, Failure: Error, Value: Codable {
    let value = try await call(actor.id, Act.self, target, invocation)
    var decoder = CBORDecoder()
    if !CBORDecoder.isPlain(Value.self) { decoder.userInfo[.actorSystemKey] = self }
    do {
      var reader = CBORReader(value)
      return try decoder.decode(Value.self, from: &reader)
    } catch {
      throw RemoteCallError(
        .wrongArguments, node: actor.id.node,
        detail: "the result is not of its type, \(RemoteType.name(of: Value.self)): \(RemoteArguments.words(error))")
    }
  }

  /// Makes a call without a result.
  public func remoteCallVoid<Act, Failure>(
    on actor: Act, target: RemoteCallTarget, invocation: inout RemoteCallEncoder, throwing: Failure.Type
  ) async throws where Act: DistributedActor, Act.ID == RemoteObjectID, Failure: Error {
    _ = try await call(actor.id, Act.self, target, invocation)
  }

  // Inlined, like the function that it calls, for the same reason as `answer`.
  @inline(__always)
  private func call(
    _ object: RemoteObjectID, _ type: any Any.Type, _ target: RemoteCallTarget, _ invocation: RemoteCallEncoder
  ) async throws -> ArraySlice<UInt8> {
    let target = try targets.target(target, of: type)
    let conversation = try conversation(with: object.node)
    do throws(RemoteCallError) {
      return try await conversation.call(
        path: object.path, interface: target.interface.name, version: target.interface.version,
        method: target.method.name, within: CallDeadline.current ?? configuration.deadline,
        arguments: invocation.arguments, count: invocation.count)
    } catch {
      throw target.interface.error(error)
    }
  }

  // MARK: Calls of members

  /// Serves a call.
  // Inlined: each asynchronous function on the way to the method changes executors when it returns, even to the one
  // that it is on.
  @inline(__always)
  func answer(to call: CallFrame.Call, in conversation: Conversation) async -> PeerCalls.Answer {
    let incoming = IncomingCall(call, in: conversation)
    do {
      let isAllowed: Bool
      switch configuration.policy.answer(
        isIntroduced: conversation.isIntroduced,
        isAllowedByName: { self.isAllowed(conversation.member.id.peer) })
      {
      case .allowed: isAllowed = true
      case .refused: isAllowed = false
      case .asking(let allows): isAllowed = await allows(incoming)
      }
      if !isAllowed { throw CallFailure(.notAllowed, "the device does not allow this call") }
      let served = try objects.served(call)
      var arguments = try RemoteArguments(call.arguments, for: self)
      return await IncomingCall.$current.withValue(incoming) {
        do {
          return .value(try await served.method.call(&arguments)[...])
        } catch {
          let failure = served.interface.failure(error)
          // Any other error came from the method itself.
          if failure.code == .wrongArguments || failure.code == .unusableResult { refused(incoming, failure) }
          return .failed(failure)
        }
      }
    } catch {
      let failure =
        switch error {
        case let failure as CallFailure: failure
        case let error as WrongArguments: CallFailure(.wrongArguments, error.detail)
        default: CallFailure(.refused, "the call can't be served")
        }
      refused(incoming, failure)
      return .failed(failure)
    }
  }

  /// Tells the program that a call was not served.
  func refused(_ call: IncomingCall, _ failure: CallFailure) {
    tell(.refused(call, RemoteCallError(failure, node: call.caller.id)), of: call.caller)
  }
}

extension RemoteInterface {
  /// Returns the failure for the caller: all of a declared error; otherwise nothing that may be private.
  func failure(_ error: any Error) -> CallFailure {
    switch error {
    case let error as WrongArguments: return CallFailure(.wrongArguments, error.detail)
    case is UnusableResult: return CallFailure(.unusableResult, "the result can't be encoded")
    default: break
    }
    let type = Swift.type(of: error) as any Error.Type
    if let (name, _) = errors.first(where: { ObjectIdentifier($0.value) == ObjectIdentifier(type) }),
      let encodable = error as? any (Error & Codable), let item = try? CBOREncoder().value(of: encodable)
    {
      return CallFailure(.thrown, "the method has thrown \(name)", name: name, error: item.encoded)
    }
    if error is CancellationError { return CallFailure(.cancelled, "the method was cancelled") }
    return CallFailure(.thrown, "the method has thrown an error that its interface does not declare")
  }

  /// Returns the declared error that a callee has thrown, or the given one.
  func error(_ error: RemoteCallError) -> any Error {
    guard let thrown = error.thrown, let type = errors[thrown.name],
      let item = try? CBORValue(decoding: thrown.error[...]), let decoded = try? Self.decoded(type, item)
    else { return error }
    return decoded
  }

  private static func decoded<Failure: Error & Codable>(_ type: Failure.Type, _ item: CBORValue) throws -> any Error {
    try CBORDecoder().decode(type, from: item)
  }
}
