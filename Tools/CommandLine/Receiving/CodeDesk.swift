import Piconet

/// A listening program's code for unknown peers: shows it, reports wrong tries, and makes another when one is spent.
struct CodeDesk: Sendable {
  let node: Node
  let console: Console
  let option: CodeOption
  /// The command on the other device.
  let typedInto: String

  /// Begins. Call it before this device can be found: peers that came earlier would be let in, or turned away, without
  /// the code.
  /// - Returns: false if that fails, which has been reported.
  func begin() async -> Bool {
    do throws(TransferFailure) {
      try await set()
      return true
    } catch {
      console.fail(error.word, console.safe(error.message), error.exitCode)
      return false
    }
  }

  /// Runs until the task is cancelled, or a code that was given is spent.
  func run() async {
    for await failed in node.failedCodes {
      tell(failed)
      guard failed.triesLeft == 0 else { continue }
      guard case .open = option else {
        return console.fail(
          "wrong-code", "the code is over after three wrong tries; start again with another one", .identity)
      }
      console.problem(
        "the code is over after three wrong tries; the device that typed them has to pause before the next code; "
          + "'piconet trust forgive \(failed.fingerprint.shortDescription)' ends the pause")
      guard await begin() else { return }
    }
  }

  private func set() async throws(TransferFailure) {
    let code = try code()
    do throws(PiconetError) {
      try await node.setCode(code)
    } catch {
      throw TransferFailure(error, on: .receiver)
    }
    guard case .open = option else { return }
    console.tell(.codeSet(ProgramEvent.CodeSet(code: code.digits)))
    console.note("Code: \(code.grouped)   Type it on the other device: \(typedInto)", isQuestion: true)
  }

  private func code() throws(TransferFailure) -> TypedCode {
    switch option {
    case .given(let code): return code
    case .file(let path): return try CodeOption.code(in: path)
    case .open:
      do throws(PiconetError) {
        return try TypedCode.made()
      } catch {
        throw TransferFailure(error, on: .receiver)
      }
    }
  }

  private func tell(_ failed: FailedCode) {
    let failure = TransferFailure(failed.error, on: .receiver)
    console.tell(
      .codeFailed(
        ProgramEvent.CodeFailed(
          peer: failed.fingerprint.description, name: failed.name, reason: failure.word, message: failure.message,
          left: Int64(failed.triesLeft))))
    console.problem(
      "\(console.ownWords(failed.name)) (\(failed.fingerprint.shortDescription)) \(console.origin(failed.transport, failed.remoteAddress)): "
        + "\(console.safe(failure.message)); \(Self.words(failed.triesLeft))")
  }

  private static func words(_ left: Int) -> String {
    switch left {
    case 0: "no try is left"
    case 1: "one try is left"
    default: "\(left) tries are left"
    }
  }
}
