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
      purpose: "call this device", counterpart: "a program with objects in the session '\(arguments.session ?? "")'",
      takesAdvertisedNames: true)
  }

  /// Connects to the program, hands it to `body`, and leaves; reports failures.
  func run(_ body: (PiconetActorSystem, Member) async throws -> Void) async {
    // It joins a group, and needs nothing of the group's other members.
    await link.run(capacity: CommandLineLimits.senders + 1) { node in
      guard let member = await link.reach(node) else { return }
      do {
        try await PiconetActorSystem.run(on: node) { system in
          try await CallDeadline.within(arguments.timeout) {
            try await confirmName(of: member, system)
            try await body(system, member)
          }
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

  /// Checks that a program that was found by an advertised name also has that name in its session, where others may
  /// claim it.
  private func confirmName(of member: Member, _ system: PiconetActorSystem) async throws {
    guard case .peer(let recipient) = arguments.target, case .named(let name) = recipient else { return }
    var device = SightedPeer(fingerprint: "\(member.id.peer)", name: member.proven.name, id: "\(member.id)")
    device.otherNames = system.node.peer(member.id)?.otherNames ?? []
    guard recipient.matches(in: [device], known: environment.naming.fingerprints).isEmpty else { return }
    // Its claims come before its answer.
    try await system.ping(member, within: arguments.timeout)
    if system.owner(of: name) == member.id { return }
    throw TransferFailure(
      word: "no-owner",
      message: "\(console.name(member.proven)) advertises the name \(name), and does not have it in its session",
      exitCode: .refused)
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
