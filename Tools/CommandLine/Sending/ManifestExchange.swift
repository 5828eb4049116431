import Piconet
import Synchronization

/// Asks one receiver which files it has already, and waits for its answers. An older receiver does not answer, so
/// nothing else is asked before the first question, about no files, is answered. Any thread may use it.
final class ManifestExchange: Sendable {
  /// Manifests that are under way at once: while one is answered the files of the next are read.
  static let atOnce = 2

  /// The state of a manifest for which a task waits.
  private enum Question {
    case open
    /// Nil: there will be no answer.
    case answered(ManifestAnswer?)
  }

  private struct State: AwaitedState {
    static let servesInTurns = false

    var isProbed = false
    var isAnswered = false
    var isOver = false
    var next: UInt64 = 1
    var asked: [UInt64: Question] = [:]
    var waiters = Waiters<UInt64, ManifestAnswer?>()

    func answer(to number: UInt64) -> ManifestAnswer?? {
      if case .answered(let answer) = asked[number] { return .some(answer) }
      return isOver ? .some(nil) : nil
    }

    /// Settles a question. An answer for which no task waits any more is dropped.
    mutating func settle(_ number: UInt64, _ answer: ManifestAnswer?) {
      if asked[number] != nil { asked[number] = .answered(answer) }
    }
  }

  private let member: Member
  private let state = Mutex(State())

  init(_ member: Member) { self.member = member }

  /// Whether the receiver answers.
  var isPossible: Bool { state.withLock { $0.isAnswered && !$0.isOver } }

  /// Finds out, once, whether it does; does not wait for it.
  func probe() async {
    let isFirst = state.withLock { state in
      defer { state.isProbed = true }
      return !state.isProbed
    }
    if isFirst { try? await member.send(FileManifest(number: 0).encoded) }
  }

  /// A manifest to be filled and asked.
  func begin() -> FileManifest {
    state.withLock { state in
      defer { state.next += 1 }
      return FileManifest(number: state.next)
    }
  }

  /// - Returns: a line for each file; nil: there will be no answer, or the task was cancelled.
  func ask(_ manifest: FileManifest) async -> ManifestAnswer? {
    let number = manifest.number
    let isAsked = state.withLock { state in
      if state.isOver || Task.isCancelled { return false }
      state.asked[number] = .open
      return true
    }
    guard isAsked else { return nil }
    defer { state.withLock { $0.asked[number] = nil } }
    Task {
      do throws(PiconetError) {
        try await member.send(manifest.encoded)
      } catch {
        settle(number, nil)
      }
    }
    let answer = await state.wait(for: number, ifCancelled: .some(nil))
    return answer?.outcomes.count == manifest.files.count ? answer : nil
  }

  private func settle(_ number: UInt64, _ answer: ManifestAnswer?) { state.change { $0.settle(number, answer) } }

  /// Reads the answers, until the receiver has left or the task is cancelled.
  func follow(_ session: Session) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [member] in
        for await message in session.messages where message.member == member {
          guard let answer = ManifestAnswer(message.bytes) else { continue }
          if answer.number == 0 {
            self.state.withLock { $0.isAnswered = true }
          } else {
            self.settle(answer.number, answer)
          }
        }
      }
      group.addTask { [member] in
        var changes = session.membership.makeAsyncIterator()
        // It may have left before.
        guard session[member.id] == member else { return }
        while let change = await changes.next() { if case .left(member, _) = change { return } }
      }
      await group.next()
      group.cancelAll()
    }
    end()
  }

  private func end() { state.change { $0.isOver = true } }
}
