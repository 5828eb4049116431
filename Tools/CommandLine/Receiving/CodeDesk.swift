import Piconet

/// The code of a program that listens, for peers that are not known: shows it, tells of wrong tries, and makes another
/// when one is over.
struct CodeDesk: Sendable {
  let node: Node
  let console: Console
  let option: CodeOption
  /// The command of the other device.
  let typedInto: String

  /// Before anybody can find us: who came earlier would be let in, or turned away, without it.
  /// - Returns: false if it can't be, which was told.
  func begin() async -> Bool {
    do throws(TransferFailure) {
      try await set()
      return true
    } catch {
      console.fail(error.word, console.safe(error.message), error.exitCode)
      return false
    }
  }

  /// Until the task is cancelled, or a code that was given is over.
  func run() async {
    for await failed in node.failedCodes {
      tell(failed)
      guard failed.triesLeft == 0 else { continue }
      guard case .open = option else {
        return console.fail(
          "wrong-code", "the code is over after three wrong tries; start again with another one", .identity)
      }
      console.problem("the code is over after three wrong tries")
      guard await begin() else { return }
    }
  }

  private func set() async throws(TransferFailure) {
    let code: TypedCode
    do throws(PiconetError) {
      switch option {
      case .open: code = try TypedCode.made()
      case .given(let given): code = given
      case .file(let path): code = try Self.read(path)
      }
      try await node.setCode(code)
    } catch {
      throw TransferFailure(error, on: .receiver)
    }
    guard case .open = option else { return }
    console.tell(.codeSet(Event.CodeSet(code: code.digits)))
    console.note("Code: \(code.grouped)   Type it on the other device: \(typedInto)", isQuestion: true)
  }

  private static func read(_ path: LocalPath) throws(PiconetError) -> TypedCode {
    do throws(TransferFailure) {
      return try CodeOption.code(in: path)
    } catch {
      throw PiconetError(.invalidArgument, blame: .us, detail: error.message)
    }
  }

  private func tell(_ failed: FailedCode) {
    let failure = TransferFailure(failed.error, on: .receiver)
    console.tell(
      .codeFailed(
        Event.CodeFailed(
          peer: failed.fingerprint.description, name: failed.name, reason: failure.word, message: failure.message,
          left: Int64(failed.triesLeft))))
    console.problem(
      "\(console.ownWords(failed.name)) (\(failed.fingerprint.shortDescription)) at \(console.safe(failed.remoteAddress)): "
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
