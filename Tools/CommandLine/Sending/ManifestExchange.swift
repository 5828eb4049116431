import Piconet
import Synchronization

/// Asks one receiver which files it has already, and waits for its answers. An older receiver gives none, so nothing is
/// asked before the first, about no files, is answered. Any thread may use it.
final class ManifestExchange: Sendable {
  /// Manifests that are under way at once: while one is answered the files of the next are read.
  static let atOnce = 2

  private struct State {
    var isProbed = false
    var isAnswered = false
    var isOver = false
    var next: UInt64 = 1
    var waiting: [UInt64: CheckedContinuation<ManifestAnswer?, Never>] = [:]
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
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<ManifestAnswer?, Never>) in
        let isOver = state.withLock { state in
          guard !state.isOver, !Task.isCancelled else { return true }
          state.waiting[number] = continuation
          return false
        }
        if isOver { return continuation.resume(returning: nil) }
        Task {
          do throws(PiconetError) {
            try await member.send(manifest.encoded)
          } catch {
            settle(number, nil)
          }
        }
      }
    } onCancel: {
      settle(number, nil)
    }
    return answer?.outcomes.count == manifest.files.count ? answer : nil
  }

  private func settle(_ number: UInt64, _ answer: ManifestAnswer?) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: answer)
  }

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

  private func end() {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      state.isOver = true
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume(returning: nil) }
  }
}
