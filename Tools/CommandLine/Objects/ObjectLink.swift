import Piconet
import PiconetActors

/// A node, and an actor system on it, for one conversation with a program that has objects.
struct ObjectLink: Sendable {
  let arguments: LinkArguments
  let environment: ProgramEnvironment
  let console: Console

  /// The name of rights of known peers.
  static let program = "call"

  private var link: PeerLink {
    PeerLink(
      arguments: arguments, environment: environment, console: console, usualSession: "", program: Self.program,
      purpose: "call this device", counterpart: "a program with objects in the session '\(arguments.session ?? "")'")
  }

  /// Connects to the program, hands it to `body`, and leaves; says what went wrong.
  func run(_ body: (PiconetActorSystem, Member) async throws -> Void) async {
    // It joins a group, of whose other members it wants nothing.
    await link.run(capacity: CommandLineLimits.senders + 1) { node in
      guard let member = await link.reach(node) else { return }
      do {
        try await PiconetActorSystem.run(on: node) { system in
          try await CallDeadline.within(arguments.timeout) { try await body(system, member) }
        }
      } catch let error as RemoteCallError {
        fail(Task.isCancelled ? Delivery.interrupted : TransferFailure(error))
      } catch let failure as TransferFailure {
        fail(failure)
      } catch {
        fail(TransferFailure(word: "internal-error", message: "\(error)", exitCode: .internalError))
      }
      await member.disconnect()
    }
  }

  private func fail(_ failure: TransferFailure) {
    console.fail(failure.word, console.safe(failure.message), failure.exitCode, event: false)
  }

  /// Of options, once all are read.
  static func check(_ link: LinkArguments) throws(UsageError) {
    guard link.target != nil else { throw UsageError("missing PEER operand") }
    guard link.session != nil else {
      throw UsageError("missing --session ID: the session that the program with the objects is in")
    }
    try link.check()
  }
}

extension TransferFailure {
  /// Of a call.
  init(_ error: RemoteCallError) {
    let code: ExitCode =
      switch error.code.known {
      case .left, .restarted, .shuttingDown, .timedOut, .notConnected, .protocolBroken: .linkLost
      case .noSuchObject, .unknownInterface, .wrongVersion, .unknownMethod, .wrongArguments, .notAllowed, .tooManyCalls,
        .tooLarge, .cancelled, .thrown, .notDeclared, .invalidArgument, .refused, .noOwner, nil:
        .refused
      }
    self.init(word: Self.hyphenated(error.code.rawValue), message: "\(error)", exitCode: code)
  }
}
